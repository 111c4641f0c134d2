// What the head of a unit says of its program: the arena, with the offset of each buffer, and the steps.
#pragma once
#include <string>

#include "compiler/ir/program.h"

namespace onnxc {

/// Lines of comments.
std::string outline(const Program& program);

}  // namespace onnxc
