// A memory plan for several threads.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Moves buffers of a plan so that each of `threads` writes where it wrote before. Where the arena `may_grow`, it does where that is worth it, by a quarter at most; with symbolic sizes, at
/// those that plans are compared at. After plan_memory.
void align_shares(Program& program, int threads, bool may_grow = false);

}  // namespace onnxc
