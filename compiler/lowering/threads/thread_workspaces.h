// Scratch memory that stays with its thread.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Gives thread share i of every step the same scratch memory, apart from all values and from the scratch of other
/// shares, so that it stays in the cache of the thread that takes share i. Otherwise scratch memory lies wherever the
/// plan has room, and cache lines that one thread wrote are written by another one next, which must fetch them from
/// the first one's cache.
///
/// Enlarges the arena by at most the scratch memory of one step. Does not change scratch memory that several steps
/// read or whose size is unknown. Runs after find_concurrent_steps, which would take steps with the same memory for
/// dependent (share i of concurrent steps is always in the same thread), and before plan_memory.
void keep_thread_workspaces(Program& program, int threads);

}  // namespace onnxc
