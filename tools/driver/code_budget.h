// How much machine code a built unit has, and what of it belongs to which step: the gate of --max-code.
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

/// Of an ELF64 file of this machine's byte order: an object, or a library that has its symbols. Throws Error{Unsupported} for anything else.
CodeSize code_size(std::string_view file);

/// The steps that call a kernel whose instance has this demangled name, by their numbers, counted from 0.
std::vector<int> steps_of_function(const Program& program, const std::string& function);

/// Throws Error{Budget}, with the largest functions and their steps, where the file has more than `max_code` bytes of code.
void check_code_budget(std::string_view file, const Program& program, int64_t max_code);

}  // namespace onnxc
