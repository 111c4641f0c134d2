// The C interface of a unit: NAMESPACE_model(), which describes it to any language and runs it.
#pragma once
#include "codegen/emit.h"
#include "codegen/interface.h"
#include "codegen/size_limits.h"

namespace onnxc {

/// The text at the end of the unit. `weights_bytes`: what onnxc_model states.
std::string abi_text(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options,
                     std::size_t weights_bytes);

/// `constexpr char NAME[] = {…, 0};`, for texts that are too long for a literal.
std::string character_array(const std::string& name, const std::string& value);

}  // namespace onnxc
