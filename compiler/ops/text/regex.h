// Regular expressions in RE2's syntax as programs for runtime_stub/onnxc/scalar/text/regex.hpp.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

struct RegexProgram {
  std::vector<int32_t> code, ranges;
};

/// Errors of the pattern are errors of the node. Of RE2's syntax only \C, a byte of a character, is missing.
RegexProgram compile_regex(const Node& node, std::string_view pattern);

}  // namespace onnxc
