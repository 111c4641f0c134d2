// What normalisations share: values with one element for each channel, as factors of an image.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// A value [c] as [c, 1, 1, ...], so that it broadcasts to [n, c, spatial...] of that rank.
inline ValueId along_channels(GraphBuilder& b, ValueId value, int rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis + 1 < rank; ++axis) axes.push_back(axis);
  return axes.empty() ? value : b.op("Unsqueeze", {value, b.integers(std::move(axes))});
}

/// Lowers a LayerNormalization or RMSNormalization to that row of the catalogue. `fast`: it takes rows with gaps and an
/// epsilon of f32.
void lower_norm_rows(KernelQuery& l, std::string_view row, bool fast);

/// 1 / sqrt(variance + epsilon), as a Map.
inline ValueId inverse_deviation(GraphBuilder& b, ValueId variance, float epsilon) {
  Expr e;
  const ElementType type = b.type(variance).element;
  const int v = e.apply(Fn::Add, e.input(0, type), e.constant(type, static_cast<double>(epsilon)));
  e.finish(e.apply(Fn::Reciprocal, e.apply(Fn::Sqrt, v)));
  return b.map(std::move(e), {variance});
}

}  // namespace onnxc
