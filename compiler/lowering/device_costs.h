// What each node costs on the processor and on the GPU, and what it costs to move a value between them.
#pragma once
#include <map>
#include <string>

#include "compiler/ir/program.h"
#include "targets/target.h"

namespace onnxc {

/// The predicted nanoseconds of each node's steps, by the name of its first output (Step::value). Sizes that
/// only a run tells count as likely ones. Transfers are left out. A reference kernel takes as long on a GPU as its threads
/// need, one after the other in each lane.
std::map<std::string, double> node_costs(const Program& program, const Gpu& gpu);

/// Nanoseconds to copy so many bytes to the GPU, or from it, which waits for all work before.
double transfer_ns(const Gpu& gpu, double bytes, Device to);

/// Likely bytes of a value.
double likely_bytes(const Type& type);

}  // namespace onnxc
