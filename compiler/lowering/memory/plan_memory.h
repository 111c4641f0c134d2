// Memory planning: the offsets of buffers in the arena.
#pragma once
#include "compiler/ir/program.h"
#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// Lets a step's result take the memory of an operand that dies in the step (Step::may_share).
void alias_buffers(Program& program);

/// Gives every arena buffer its lifetime and its offset in the arena of its device, and fills in the arenas. Static
/// sizes: interval colouring, with a search of bounded effort. Symbolic sizes: each buffer lies above some others, by
/// a formula that holds for all sizes.
void plan_memory(Program& program);

/// The buffers of a device's arena that get an offset of their own: those that are used and are not views.
std::vector<BufferId> planned_buffers(const Program& program, Device device = Device::Cpu);

/// An arena of a planned program; with symbolic sizes, at sizes that are likely.
struct LikelyArena {
  Sizes sizes{};  ///< of the dimensions that the arena depends on
  int64_t bytes = 0;
  int64_t lower_bound = 0;  ///< no plan for these sizes takes less
};
LikelyArena likely_arena(const Program& program, Device device = Device::Cpu);

/// The arena that a run with these dimensions needs: the result of the emitted arena_bytes(dims).
int64_t arena_bytes_at(const Program& program, const Sizes& sizes, Device device = Device::Cpu);
/// An upper bound of arena_bytes(dims) within the bounds of the dimensions. A size without a bound counts as
/// kEndless.
int64_t most_arena_bytes(const Program& program, Device device = Device::Cpu);
// Bytes: more than any machine has, but small enough that sums of many do not overflow.
inline constexpr int64_t kEndless = int64_t{1} << 44;
/// The plan that planning for these dimensions alone would give.
Coloring plan_at(const Program& program, const Sizes& sizes, const ColoringOptions& options = {}, Device device = Device::Cpu);

/// Checks the plans of all arenas independently: no two buffers that are live in one step overlap, all lie inside their arena, and all
/// are aligned. Symbolic programs are checked at sample sizes, those with regions by check_regions. Throws Error{Internal}.
void check_plan(const Program& program);

}  // namespace onnxc
