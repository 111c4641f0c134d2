// Pointers into a unit's arena, against its memory plan.
//
//   float* const relu = onnxc::at<float>(arena, 32000);                                  // constant sizes
//   float* const relu = onnxc::at<float>(arena, static_cast<std::size_t>(p.b6 + 64));    // p = plan(dims)
//
// What is judged, in this order:
//
//   - the pointer `arena` of a `steps` function is used for nothing but such pointers;
//   - each has the offset of a buffer of the plan, or of a view in one, in the order of the plan;
//   - each of these buffers lies inside of the arena's bytes, and buffers that live at once do not overlap;
//   - what calls of kernels state of their operands' extents (operands.h) lies inside of the buffers, and of inputs and outputs;
//   - whoever passes an arena to `steps` has called check_arena, with that number of bytes.
//
// With constant sizes this is exact. With symbolic sizes, the offsets that `plan` computes and the sizes that the plan states are compared for a
// number of values of the dimensions.
#pragma once
#include <clang/AST/ASTContext.h>

#include <vector>

#include "tools/check_emitted/facts.h"
#include "tools/check_emitted/plan.h"

namespace onnxc::check_emitted {

struct ArenaFindings {
  std::vector<Finding> findings;
  std::size_t pointers = 0;                ///< into the arena
  std::size_t operands = 0, compared = 0;  ///< that calls of kernels have in arena, inputs and outputs; with extents that were compared
};

/// `unit`: the file of the unit.
ArenaFindings check_arena(clang::ASTContext& context, const std::map<std::string, MemoryPlan>& plans, clang::FileID unit);

}  // namespace onnxc::check_emitted
