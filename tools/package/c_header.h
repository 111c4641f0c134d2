// A header for C and old C++ around a unit's C ABI: one function with typed pointers, and its sizes as macros.
#pragma once
#include <string>

#include "codegen/interface.h"
#include "compiler/ir/program.h"

namespace onnxc {

/// How C code declares the arrays that a run needs, and what it passes.
struct CUse {
  std::string arrays;     ///< `static float x[KWS_X_COUNT];` and the arena
  std::string arguments;  ///< `x, y, arena`
  std::string print;      ///< statements that print the first elements of each output
};

/// NAME_c.h, for C11 and C++11, of a unit without dimensions to choose and without heap. `name`: its namespace.
std::string c_header(const std::string& name, const Interface& interface, const Program& program);
CUse c_use(const std::string& name, const Interface& interface, const Program& program);

std::string upper_case(std::string text);

}  // namespace onnxc
