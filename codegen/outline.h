// What the head of a unit says of its program: the arena, with the offset of each buffer, and the steps.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/ir/program.h"

namespace onnxc {

/// `12,544`
std::string thousands(int64_t n);

/// Lines of comments.
std::string outline(const Program& program);

}  // namespace onnxc
