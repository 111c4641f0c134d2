// Where a run was ended by a status: the step, and the nodes of the model that it computes.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tools/driver/compile_unit.h"
#include "tools/driver/data_set.h"

namespace onnxc {

/// The error of a run with these inputs that a status has ended: its message, and the step that gave it. A unit does not tell that, so the model is compiled once more,
/// with counters around its steps, and runs again; whose counter was touched last has ended the run.
Error ended_run(const std::string& message, const std::filesystem::path& model, const CompileOptions& options,
                const std::vector<const HostValue*>& inputs);

}  // namespace onnxc
