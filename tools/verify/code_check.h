// Runs tools/check_emitted, which is a program of its own since it needs clang's libraries, on the unit of a compilation.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compile.h"

namespace onnxc {

struct CodeCheck {
  std::string why_not;             ///< why it was not run; empty if it was
  std::string summary{};           ///< `3 entries, 120 functions, 4 leaves, 1 excused, 0 violations`
  std::vector<std::string> found;  ///< violations, a line each
};

/// The program: beside this one, else on PATH. Empty if it is at neither place.
std::optional<std::filesystem::path> find_check_emitted();

/// Writes the unit to a folder of its own and checks it. Throws Error{Io} if the program fails.
CodeCheck check_code(const Compilation& compilation, const CompileOptions& options);

}  // namespace onnxc
