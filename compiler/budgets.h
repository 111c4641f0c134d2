// Limits of what a unit may take, as gates of a build: what exceeds them is refused, with the names of what takes most.
#pragma once
#include "compiler/ir/program.h"
#include "compiler/onnxc.h"

namespace onnxc {

/// Bytes of a packed constant, and of all. Those of texts are not counted.
int64_t weight_bytes(const Weights& weights);
int64_t weight_bytes(const Program& program);
/// What they would take more, were those that are stored narrower floats. Scales, which they would not need then, count as less.
int64_t weight_bytes_saved(const Weights& weights);
int64_t weight_bytes_saved(const Program& program);

/// Throws Error{Budget} where the planned program needs more than the options allow. An arena whose size depends on dimensions is checked where
/// options.max_arena is given, as it is when all of them are as large as their bounds allow.
void check_budgets(const Program& program, const CompilerOptions& options);

}  // namespace onnxc
