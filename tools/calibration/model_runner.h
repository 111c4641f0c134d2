// A model, compiled and built once, that runs over samples; values inside of it can be watched.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/calibration/samples.h"
#include "tools/driver/session.h"

namespace onnxc {

class ModelRunner {
 public:
  /// Outputs of the model and watched values, by name.
  using Values = std::map<std::string, TensorData>;

  /// Builds it. `watched`: values of the main graph, inputs among them, that are given besides the outputs. What is no tensor is left out.
  ModelRunner(const std::filesystem::path& model, const CompileOptions& options, const std::set<std::string>& watched = {});

  /// What one sample gives. Throws Error for a run that fails; it names the sample.
  Values run(const Samples& samples, std::size_t sample) const;
  /// Runs each sample once and shows what came out. `what` names the work for progress.
  void run(const Samples& samples, const std::string& what, const std::function<void(std::size_t sample, const Values& values)>& see) const;

  /// How long a call on one sample takes, in nanoseconds: the least of `calls`, since disturbances only add time.
  double nanoseconds(const Samples& samples, std::size_t sample, int calls) const;

  /// The name of the model's first output.
  std::string first_output() const;

 private:
  std::filesystem::path model_;
  ModelSummary summary_;
  std::set<std::string> watched_inputs_;
  CompileOptions options_;
  CompiledModel compiled_;
  ThreadTeam team_;
};

}  // namespace onnxc
