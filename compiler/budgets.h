// Limits for what a unit may take, for use as gates of a build. What exceeds them is refused, and the largest
// contributors are named.
#pragma once
#include "compiler/ir/program.h"
#include "compiler/onnxc.h"

namespace onnxc {

/// The bytes of a packed constant, and of all of them. Texts are not counted.
int64_t weight_bytes(const Weights& weights);
int64_t weight_bytes(const Program& program);
/// The bytes by which the weights would be larger if those in narrower types were stored as floats. Scales, which
/// floats would not need, are subtracted.
int64_t weight_bytes_saved(const Weights& weights);
int64_t weight_bytes_saved(const Program& program);

/// Throws Error{Budget} if the planned program needs more than the options allow. An arena whose size depends on
/// dimensions is only checked if options.max_arena is given, and then with all dimensions at their upper bounds.
void check_budgets(const Program& program, const CompilerOptions& options);

/// Throws Error{Budget} if some buffer found no region that has room for it.
void check_room_in_regions(const Program& program);

}  // namespace onnxc
