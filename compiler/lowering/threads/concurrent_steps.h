// Independent steps that share one fork of threads.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Sets Call::concurrent for successive steps that do not touch each other's results: threads go from one to the next
/// without waiting. So the branches of a network keep all threads busy even if each branch alone is too small to be
/// shared, or divides unevenly. A group has small steps and at most one large one: between large steps a wait is
/// negligible, while the buffers of concurrent steps are all live at once. A thread's share of each step stays the
/// same, and so do the results. Must know which buffers share memory: runs after alias_buffers and before
/// plan_memory.
void find_concurrent_steps(Program& program);

}  // namespace onnxc
