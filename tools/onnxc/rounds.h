// Builds of one model that are measured in turn, so that a temporary disturbance of the machine affects all of them.
#pragma once
#include <memory>
#include <vector>

#include "tools/driver/session.h"
#include "tools/tune/kinds.h"
#include "tools/tune/tune_cache.h"

namespace onnxc {

class Rounds {
 public:
  /// `feed`: for the first build, and so for all of them.
  Rounds(const std::filesystem::path& model, const std::optional<std::filesystem::path>& data, const CompileOptions& options)
      : model_(model), data_(data), options_(options), team_(options.threads) {}

  /// Compiles and builds the model with these times and picks, however large that makes its weights.
  void add_profiled(const Tuning& tuning);
  /// The best time of each choice in each build, since disturbances only add time; `seconds` are spent on each build.
  /// Steps are assigned to a choice by the value that they compute, including copies of its inputs. Choices for the
  /// same value (in two branches) cannot be told apart and are left out.
  Timings measure(double seconds);

  /// Compares whole runs of two compilations, block by block in turn.
  TunedRun compare(const Compilation& by_default, const Compilation& tuned, double seconds);

 private:
  struct Build {
    CompiledModel compiled;
    std::vector<Choice> choices;
    std::vector<std::string> values;  ///< of the steps, by number
    std::unique_ptr<ModelCall> call;
    std::map<std::string, double> best;  ///< nanoseconds of a run in the best turn, by value
  };
  Build load(const Compilation& compilation, const CompileOptions& options);

  const std::filesystem::path& model_;
  const std::optional<std::filesystem::path>& data_;
  const CompileOptions& options_;
  const ThreadTeam team_;
  std::vector<Build> builds_;
};

}  // namespace onnxc
