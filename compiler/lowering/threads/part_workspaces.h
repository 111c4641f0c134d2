// Scratch memory that stays with its thread.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Gives part i of every step the same memory for its scratch, apart from all values and from that of other parts, so that it stays in the cache of the thread that takes part i. Where
/// scratch has what place the plan finds, lines that one thread wrote are another's next: mlperf_tiny_ic took 81 us on two threads so, 66 with this; 179 and 94 where the
/// threads have no cache in common (Zen 4).
/// Costs up to one step's scratch in the arena. Leaves alone what several steps read, and what has a size that is not known. After find_concurrent_steps, to which steps with the same
/// memory look dependent (parts of concurrent steps follow one another in one thread), before plan_memory.
void keep_part_workspaces(Program& program, int threads);

}  // namespace onnxc
