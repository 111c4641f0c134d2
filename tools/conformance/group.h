// Cases that share a translation unit: compiled one by one, built together, and run one by one.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/conformance/result.h"
#include "tools/conformance/suite.h"
#include "tools/conformance/worker.h"

namespace onnxc {

struct GroupOptions {
  std::string target = "native";
  int threads = 1;                                 ///< of compilation and run
  std::vector<std::string> flags = {"-O1", "-w"};  ///< of the system's compiler
  bool keeps_subnormals = false;                   ///< as with --subnormals=keep
  double compile_limit = 60, run_limit = 60;       ///< seconds for each case
  bool compile_only = false;                       ///< by onnxc
  std::filesystem::path keep;                      ///< where to leave sources, or empty
  std::vector<std::string> runner;                 ///< the command that runs units for another machine, or empty
};

/// Splits cases into about 40 groups for the whole node suite, at least one for each job. Neighbours stay together,
/// since they use the same kernels. No group has more than a few megabytes of models.
std::vector<std::vector<Case>> make_groups(const std::vector<Case>& cases, int jobs);

/// Reports each case once through `done`, from this thread. Both workers may be the same.
void run_group(const std::vector<Case>& cases, const std::string& group_name, const GroupOptions& options, Worker& compiler, Worker& runner,
               const std::function<void(CaseResult)>& done);

}  // namespace onnxc
