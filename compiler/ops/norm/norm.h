// What normalisations share: values with one element for each channel, as factors of an image.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// A value [c] as [c, 1, 1, ...], so that it broadcasts to [n, c, spatial...] of that rank.
inline ValueId along_channels(GraphBuilder& b, ValueId value, int rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis + 1 < rank; ++axis) axes.push_back(axis);
  return axes.empty() ? value : b.op("Unsqueeze", {value, b.integers(std::move(axes))});
}

/// 1 / sqrt(variance + epsilon), as a Map.
inline ValueId inverse_deviation(GraphBuilder& b, ValueId variance, float epsilon) {
  Expr e;
  const ElementType type = b.type(variance).element;
  const int v = e.apply(Fn::Add, e.input(0, type), e.constant(type, static_cast<double>(epsilon)));
  e.finish(e.apply(Fn::Reciprocal, e.apply(Fn::Sqrt, v)));
  return b.map(std::move(e), {variance});
}

}  // namespace onnxc
