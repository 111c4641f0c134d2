// What a unit's header declares: the sizes of its inputs and outputs, and `run`.
#pragma once
#include <string>

#include "codegen/emit.h"
#include "codegen/interface.h"
#include "codegen/size_limits.h"

namespace onnxc {

/// The text of the header after its includes. `weights`: what it declares of them.
std::string declarations(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options,
                         const std::string& weights, std::size_t device_weights_bytes);

/// The parameter of `run` for the caller's allocator, where the program needs one.
std::string memory_parameter(const Program& program);

}  // namespace onnxc
