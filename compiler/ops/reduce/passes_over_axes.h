// A reduction over any axes as passes over memory, each along one run of axes: the innermost run, or the middle of
// [outer, r, inner].
//
//   x [n, c, h, w] over n, h, w, row-major:       1. last    n*c rows of h*w            -> [n, c]
//                                                 2. middle  1 x n x c                  -> [c]
//   the same, channels-last:                      1. middle  1 x n*h*w x c              -> [c]
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

struct AxesPass {
  bool is_last = false;  ///< reduce_last, else reduce_middle
  Dim outer = 1, reduced = 1, inner = 1;
  Dim x_row = 1, x_outer = 0, y_outer = 0;  ///< as in ReduceParams; y_outer: of the last pass
  EpilogueShape epilogue;                   ///< of the last pass: how its kernel sees the result
};

/// Empty if the strides do not allow it; those of row-major tensors always do. `axes`: sorted, not empty.
std::optional<std::vector<AxesPass>> passes_over_axes(const Extents& x, const Layout& x_layout, const Extents& y, const Layout& y_layout,
                                                      const std::vector<int>& axes, bool keep);

/// The parameters of the pass's kernel: ReduceParams. y_outer: where reduce_middle writes.
NamedArgs pass_params(const AxesPass& p, Dim y_outer);

/// True when every operand of the node's epilogue has a form over `shape`.
bool epilogue_fits(const KernelQuery& l, const EpilogueShape& shape);

}  // namespace onnxc
