// From buffers to places in the arena.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Lets a step's result take the memory of an operand that dies in the step (Step::may_share).
void alias_buffers(Program& program);

/// Gives every arena buffer its lifetime and its offset; states arena_bytes, lower_bound and unshared_bytes.
/// Static sizes: interval colouring, with a search of about a second at most. Symbolic sizes: each buffer lies above others by an expression that holds for all sizes.
void plan_memory(Program& program);

/// Of a planned program; with symbolic sizes, at what a run is likely to have.
int64_t likely_arena_bytes(const Program& program);

/// Independent check: no two buffers that are live in one step overlap, all lie inside the arena, all are aligned. Symbolic programs are checked at
/// sample sizes. Throws Error{Internal}.
void check_plan(const Program& program);

}  // namespace onnxc
