// From buffers to places in the arena.
#pragma once
#include "compiler/ir/program.h"
#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// Lets a step's result take the memory of an operand that dies in the step (Step::may_share).
void alias_buffers(Program& program);

/// Gives every arena buffer its lifetime and its offset; states arena_bytes, lower_bound and unshared_bytes.
/// Static sizes: interval colouring, with a search of about a second at most. Symbolic sizes: each buffer lies above others by an expression that holds for all sizes.
void plan_memory(Program& program);

/// Arena buffers that are not views and are used at all: what has a place of its own.
std::vector<BufferId> planned_buffers(const Program& program);

/// Of a planned program; with symbolic sizes, at what a run is likely to have.
struct LikelyArena {
  Sizes sizes{};  ///< of the dimensions that the arena depends on
  int64_t bytes = 0;
  int64_t lower_bound = 0;  ///< no plan for these sizes takes less
};
LikelyArena likely_arena(const Program& program);

/// The arena that a run with these dimensions needs: what the emitted arena_bytes(dims) tells.
int64_t arena_bytes_at(const Program& program, const Sizes& sizes);
/// What arena_bytes(dims) never exceeds within the bounds of the dimensions. A size without a bound counts as kEndless.
int64_t most_arena_bytes(const Program& program);
inline constexpr int64_t kEndless = int64_t{1} << 44;  // bytes: more than any machine has, and many of them can be added
/// What planning for these dimensions alone gives.
Coloring plan_at(const Program& program, const Sizes& sizes, const ColoringOptions& options = {});

/// Independent check: no two buffers that are live in one step overlap, all lie inside the arena, all are aligned. Symbolic programs are checked at
/// sample sizes. Throws Error{Internal}.
void check_plan(const Program& program);

}  // namespace onnxc
