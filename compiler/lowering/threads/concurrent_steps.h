// Independent steps in one fork.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Sets Step::concurrent: of steps that follow one another and do not touch each other's results, threads go from one to the next without waiting. So the
/// branches of a network keep all threads busy where each alone is too small to be shared, or falls into unequal shares. Groups are small steps, with a large one
/// among them at most: between large ones a wait costs nothing that counts, and what is concurrent lives at once.
/// Which part of a step a thread takes does not change, so neither do results. Needs to know which buffers share memory: after alias_buffers, before plan_memory.
void find_concurrent_steps(Program& program);

}  // namespace onnxc
