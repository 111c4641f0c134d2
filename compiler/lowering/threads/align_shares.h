// A memory plan for several threads.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Moves buffers of a plan so that each of `threads` writes where it wrote before. With `may_grow` the arena may grow
/// by up to a quarter if that is worth it; with symbolic sizes, at the sizes at which plans are compared. Runs after
/// plan_memory.
void align_shares(Program& program, int threads, bool may_grow = false);

}  // namespace onnxc
