// Which device does each node: the least sum of compute and transfers, within the devices' memory. The way in; docs/design/partition.md has the picture.
#pragma once
#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

/// Two devices: exact, unless their memory is too small. More: exact where few values live at once and memory is no matter. The same problem has the same
/// answer, with as much as possible on the host where costs are equal.
Partition find_partition(const Problem& problem);

}  // namespace onnxc::partition
