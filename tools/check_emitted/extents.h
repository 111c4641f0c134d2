// What calls of kernels state of their operands, against the room that these have.
#pragma once
#include <set>

#include "tools/check_emitted/facts.h"
#include "tools/check_emitted/operands.h"
#include "tools/check_emitted/rooms.h"

namespace onnxc::check_emitted {

/// Where kernels are given pointers into the arena, inputs and outputs, and those of them whose extents were compared with their room.
struct ComparedOperands {
  std::set<const clang::Expr*> all, compared;
};

/// Of all calls in a `steps` function. Branches that are not taken with these values are left out, and what stands behind a condition that only a
/// run knows and that makes it return.
void check_extents(const clang::FunctionDecl& steps, const Rooms& rooms, const ExtentRules& rules, const SizeValues& values,
                   const clang::ASTContext& context, std::vector<Finding>& findings, ComparedOperands& operands);

/// Whether a function returns an error before it does anything with these values: a condition of its `if`s that only compares sizes holds.
bool refuses(const clang::FunctionDecl& function, const SizeValues& values, const clang::ASTContext& context);

}  // namespace onnxc::check_emitted
