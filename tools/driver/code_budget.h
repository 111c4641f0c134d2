// The amount of machine code in a built unit, and the steps it belongs to: the gate of --max-code.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/program.h"

namespace onnxc {

struct CodeSize {
  struct Function {
    std::string name;  ///< demangled
    int64_t bytes;
  };
  int64_t bytes = 0;                ///< of all executable sections
  std::vector<Function> functions;  ///< that the file names, largest first; bodies with several names count once
};

/// Demangles a name, without anonymous namespaces, whose parentheses look like parameters.
std::string demangled(const std::string& name);

/// The code size of an ELF file: an object, or a library with symbols. Throws Error{Unsupported} for anything else.
CodeSize code_size(std::string_view file);

/// The numbers, from 0, of the steps that call a kernel whose instance has this demangled name.
std::vector<int> steps_of_function(const Program& program, const std::string& function);

/// Throws Error{Budget}, with the largest functions and their steps, if the file has more than `max_code` bytes of
/// code.
void check_code_budget(std::string_view file, const Program& program, int64_t max_code);

}  // namespace onnxc
