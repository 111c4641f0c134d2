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

  /// Builds it. `watched`: values of the main graph that are given besides the outputs. Values of these that are no tensors are left out.
  ModelRunner(const std::filesystem::path& model, const CompileOptions& options, const std::set<std::string>& watched = {});

  /// Runs each sample once and shows what came out. `what` names the work for progress. Throws Error for a run that fails.
  void run(const Samples& samples, const std::string& what, const std::function<void(std::size_t sample, const Values& values)>& see) const;
  /// The same for the first `most` samples.
  void run(const Samples& samples, std::size_t most, const std::string& what, const std::function<void(std::size_t sample, const Values& values)>& see) const;

  /// The name of the model's first output.
  std::string first_output() const;

 private:
  std::filesystem::path model_;
  CompileOptions options_;
  CompiledModel compiled_;
  ModelSummary summary_;
  ThreadTeam team_;
};

}  // namespace onnxc
