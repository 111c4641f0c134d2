// What a unit's header declares: the sizes of its inputs and outputs, and `run`.
#pragma once
#include <string>

#include "codegen/emit.h"
#include "codegen/interface.h"
#include "codegen/size_limits.h"

namespace onnxc {

/// The text of the header after its includes. `weights`: what it declares of them. `of_gpu`: what a unit for a GPU has beside.
std::string declarations(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options,
                         const std::string& weights, const std::string& of_gpu);

/// The parameter of `run` for the caller's allocator, where the program needs one.
std::string memory_parameter(const Program& program);

}  // namespace onnxc
