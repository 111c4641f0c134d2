// The result of a case.
#pragma once
#include <map>
#include <set>
#include <string>

namespace onnxc {

enum class Verdict { Passed, Failed, Unsupported };

struct CaseResult {
  std::string suite, name;
  Verdict verdict = Verdict::Failed;
  std::string reason;  ///< empty when passed
  std::set<std::string> operators;
  std::map<std::string, int64_t> opsets;  ///< by domain, "" for ai.onnx
  std::set<std::string> elements;         ///< types of the model's inputs and outputs
  std::set<std::string> kernels;          ///< rows of the catalogue that the program uses
  /// With a target that is a GPU: why steps stay on the host. Empty: every step is on the GPU.
  std::set<std::string> host_reasons;
  double compile_seconds = 0;  ///< onnxc alone
};

}  // namespace onnxc
