// A memory plan for several threads.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Moves buffers of a plan so that each of `threads` writes where it wrote before. The arena grows by at most `growth` of its size, where that is worth it; with symbolic sizes, at those that
/// plans are compared at. After plan_memory.
void align_shares(Program& program, int threads, double growth = 0);

}  // namespace onnxc
