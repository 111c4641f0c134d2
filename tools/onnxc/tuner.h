// --tune: chooses what to measure of a model, measures it, and passes the result to the compiler.
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
  double seconds = 2;                         ///< the duration of the measurement of each build
  bool fresh = false;                         ///< measure again what is known already
};

/// What tuning found out about a model.
struct TunedModel {
  std::vector<Choice> choices, tuned_choices;  ///< by predicted costs, and by measured times
  Tuning nodes;                                ///< everything known in the setting
  /// The kinds of nodes with several candidates, and the number of them that were measured now.
  std::size_t kinds = 0, measured = 0;
  /// Empty if both choose the same, or an edited pick was not compared.
  std::optional<TunedRun> comparison;
  bool is_tuned() const { return !comparison || !comparison->keeps_default(); }
};

/// Measures what the cache does not know, with as many builds in turn as the longest list of finalists has; then
/// compares the tuned model with the default one. Adds the results to the cache, and reports its progress on standard
/// error. Throws Error{Usage} for a target that this machine cannot run.
TunedModel tune(const TuneOptions& options);

/// The modes of --tune.
enum class TuneMode {
  Off,
  Measure,  ///< first measures what the cache does not know
  Cached,   ///< predicts what the cache does not know
};

/// `options` with the measured times, as CompilerOptions::tuning; without them if the model was found to be no faster
/// with them. `data`, `cache`: as in TuneOptions.
CompileOptions tuned_options(const std::filesystem::path& model, const CompileOptions& options, TuneMode mode,
                             const std::optional<std::filesystem::path>& data, const std::filesystem::path& cache);

}  // namespace onnxc
