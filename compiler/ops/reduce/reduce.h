// What reductions share with operators that consist of them.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// The axes that a Reduce* node reduces: sorted, without repetition. Empty if they are not known yet.
std::optional<std::vector<int>> reduced_axes(const Graph& graph, const Node& node);

/// Whether the node is a ReduceSum of an image [n, c, h, w] over its pixels.
bool sums_pixels(const Graph& graph, const Node& node);

/// The means along `axes`, which stay with extent 1.
ValueId mean_along(GraphBuilder& builder, ValueId x, std::vector<int64_t> axes);
/// The number of elements along `axes`, as a scalar of `type`.
ValueId count_along(GraphBuilder& builder, ValueId x, const std::vector<int64_t>& axes, ElementType type);

}  // namespace onnxc
