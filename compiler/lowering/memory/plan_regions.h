// A planned program over memories of several speeds.
#pragma once
#include <vector>

#include "compiler/ir/program.h"

namespace onnxc {

/// Spreads the arena and the constants of a program, whose arena is planned as one block, over the regions by accesses for each byte
/// (accesses.h, interval_regions.h). Sizes are constant. Steps stay as they are. Buffers for which no region has room get none: see check_budgets.
/// Where all regions are for constants, the arena stays the block that it is.
void plan_regions(Program& program, std::vector<Region> regions);

/// Whether a run takes a block of memory in each of several regions, rather than one.
bool divides_arena(const Program& program);

/// Checks what plan_regions has done, with none of its code: every arena buffer lies in a region that takes it, aligned, inside of what the region
/// says, and apart from all that live with it; constants are where constants may be; nothing exceeds a capacity. Throws Error{Internal}.
void check_regions(const Program& program);

}  // namespace onnxc
