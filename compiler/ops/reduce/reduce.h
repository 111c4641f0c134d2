// What reductions share with operators that are made of them.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// Which axes a Reduce* node reduces: sorted, without repetition; nothing where they are not known yet.
std::optional<std::vector<int>> reduced_axes(const Graph& graph, const Node& node);

/// ReduceSum of an image [n, c, h, w] over its pixels.
bool sums_pixels(const Graph& graph, const Node& node);

/// Means along `axes`, which stay with extent 1.
ValueId mean_along(GraphBuilder& builder, ValueId x, std::vector<int64_t> axes);
/// The number of elements along `axes`, as a scalar of `type`.
ValueId count_along(GraphBuilder& builder, ValueId x, const std::vector<int64_t>& axes, ElementType type);

}  // namespace onnxc
