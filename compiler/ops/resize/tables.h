// The table of an axis: the sources of each position and their weights.
#pragma once
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/resize/plan.h"

namespace onnxc {

/// `taps` sources for each position: their indices and, if taps > 1, their weights in f32 or f64.
struct ResizeTable {
  std::vector<int32_t> index;
  std::vector<float> floats;
  std::vector<double> doubles;
};
ResizeTable make_table(const ResizeTableParams& p, bool wide);

/// Weights are f64 for f64, and for integers that f32 cannot hold.
bool wide_weights(ElementType type);

bool reads_region(const ResizeTableParams& p);
/// Sets the axis's part of the region [starts..., ends...]. Throws Error{Invalid} if the region is null or has the
/// wrong number of elements.
void set_region(ResizeTableParams& p, const Node& node, const TensorData* region, const ResizePlan& plan, const ResizedAxis& a);

struct ResizeTableArgs {
  Dim taps;
  PointerArg index;
  std::optional<PointerArg> weight;  ///< empty if taps is 1
  Arg weight_or_null() const { return weight ? Arg{*weight} : NullArg{}; }
};
/// The table as weights, or as scratch memory with a step that fills it.
ResizeTableArgs provide_table(KernelQuery& l, const ResizePlan& plan, const ResizedAxis& a);

}  // namespace onnxc
