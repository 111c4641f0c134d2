// Where a status ended a run: the step, and the nodes of the model that it computes.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tools/driver/compile_unit.h"
#include "tools/driver/data_set.h"

namespace onnxc {

/// The error of a run with these inputs that a status has ended: its message, and the step it comes from. A unit does
/// not report the step. So the model is compiled again, with counters around its steps, and run again; the step whose
/// counter was touched last has ended the run.
Error ended_run(const std::string& message, const std::filesystem::path& model, const CompileOptions& options,
                const std::vector<const HostValue*>& inputs);

}  // namespace onnxc
