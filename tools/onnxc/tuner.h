// --tune: what to measure of a model, the measuring, and what compiling takes from it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "codegen/compile.h"
#include "tools/tune/tune_cache.h"

namespace onnxc {

struct TuneOptions {
  std::filesystem::path model;
  CompileOptions compile;
  std::optional<std::filesystem::path> data;  ///< as for run; the first data set is used
  std::filesystem::path cache;                ///< empty: default_tune_cache()
  double seconds = 2;                         ///< of measuring each build
  bool fresh = false;                         ///< measure what is known as well
};

/// What tuning found out about a model.
struct TunedModel {
  std::vector<Choice> choices, tuned_choices;  ///< by predicted costs, by what was measured
  Tuning nodes;                                ///< all that is known in the setting
  std::size_t kinds = 0, measured = 0;         ///< of nodes that have several candidates; of them those that were measured now
  std::optional<TunedRun> comparison;          ///< nothing where both choose the same, or an edited pick was not compared
  bool is_tuned() const { return !comparison || !comparison->keeps_default(); }
};

/// Measures what the cache does not know, in as many builds as the longest list of finalists has, in turn; then the model as it would become against as it is. Adds to the cache. Says
/// on standard error what it does. Throws Error{Usage} for a target that this machine does not run.
TunedModel tune(const TuneOptions& options);

/// As --tune has it.
enum class TuneMode {
  Off,
  Measure,  ///< what the cache does not know is measured first
  Cached,   ///< what it does not know is predicted
};

/// `options` with what was measured: CompilerOptions::tuning. Without it where the model was found to be no faster by it. `data`, `cache`: as in TuneOptions.
CompileOptions tuned_options(const std::filesystem::path& model, const CompileOptions& options, TuneMode mode,
                             const std::optional<std::filesystem::path>& data, const std::filesystem::path& cache);

}  // namespace onnxc
