// What only the target's compiler and an emulator of it can tell of a unit, as a part of its description.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "codegen/compile.h"

namespace onnxc {

/// Adds to a description (see describe):
///
///   footprint: {flash, ram, code, constants, weights, data, zeroed, arena, copied_constants, stack, stack_path, compiler}: in bytes; arena and stack are null if they
///              have no bound, and ram then, too; stack_why says why
///   emulated:  {emulator, data, passed}, or {why} if the steps could not be counted. Only for targets without an operating system
///   steps:     in each that ran, instructions and cycles of all calls in a run; cycles are null where no table of the core is known
///
/// Throws Error{Budget} for what exceeds a limit of the options, and Error where there is no compiler for the target.
void add_measurements(nlohmann::ordered_json& description, const std::filesystem::path& model, const Compilation& compilation,
                      const CompileOptions& options);

}  // namespace onnxc
