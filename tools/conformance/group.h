// Cases that share a translation unit: compiled one by one, built together, run one by one.
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
  bool keeps_subnormals = false;                   ///< as --subnormals=keep has it
  double compile_limit = 60, run_limit = 60;       ///< seconds a case
  std::filesystem::path keep;                      ///< where to leave sources, or empty
  std::vector<std::string> runner;                 ///< the command that runs units of another machine, or empty
};

/// Splits cases, neighbours together since they use the same kernels: into about 40 groups for the whole node suite, at least one for each job, and no
/// group with more than a few megabytes of models.
std::vector<std::vector<Case>> make_groups(const std::vector<Case>& cases, int jobs);

/// Reports each case once through `done`, from this thread. The two workers may be one.
void run_group(const std::vector<Case>& cases, const std::string& group_name, const GroupOptions& options, Worker& compiler, Worker& runner,
               const std::function<void(CaseResult)>& done);

}  // namespace onnxc
