// The table of an axis: the sources of each position and their weights.
#pragma once
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/resize/plan.h"

namespace onnxc {

/// taps sources for each position: their indices and, where taps > 1, weights of f32 or f64.
struct ResizeTable {
  std::vector<int32_t> index;
  std::vector<float> narrow;
  std::vector<double> wide;
};
ResizeTable make_table(const ResizeTableParams& p, bool wide);

/// Weights of f64 and of integers that f32 does not hold are f64.
bool wide_weights(ElementType type);

bool reads_region(const ResizeTableParams& p);
/// Takes the axis' part of the region [starts..., ends...]. Throws Error{Invalid} where it is null or has another number of elements.
void set_region(ResizeTableParams& p, const Node& node, const TensorData* region, const ResizePlan& plan, const ResizedAxis& a);

struct ResizeTableArgs {
  Dim taps;
  PointerArg index;
  std::optional<PointerArg> weight;  ///< none where taps is 1
  Arg weight_or_null() const { return weight ? Arg{*weight} : NullArg{}; }
};
/// The table among the weights, or a step that fills it in scratch memory.
ResizeTableArgs provide_table(KernelQuery& l, const ResizePlan& plan, const ResizedAxis& a);

}  // namespace onnxc
