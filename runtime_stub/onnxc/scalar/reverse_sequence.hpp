// ReverseSequence, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y is x with, for every b on `batch_axis`, the first lengths[b] elements along `time_axis` in reverse. No aliasing. A
/// length outside of [0, extent] gives ONNXC_INDEX_OUT_OF_RANGE. A share has some elements of y, and checks as many of
/// the lengths again, since an empty y reads none.
template <class T>
ONNXC_ANYWHERE Status reverse_sequence(Tensor<T> y, Tensor<const T> x, Tensor<const int64_t> lengths, int64_t time_axis, int64_t batch_axis,
                                       Share share = {}) {
  const int time = static_cast<int>(time_axis), batch = static_cast<int>(batch_axis);
  const int64_t count = x.count(), stride = x.shape.count(time + 1, x.shape.rank);
  const auto checked = share.slice(lengths.count());
  for (int64_t b = checked.begin; b < checked.end; ++b) {
    if (lengths.data[b] < 0 || lengths.data[b] > x.shape[time]) return {ONNXC_INDEX_OUT_OF_RANGE};
  }
  const auto [first, last] = share.slice(count);
  Position at{x.shape};
  at.go_to(first < last ? first : 0);
  for (int64_t i = first; i < last; ++i, at.next()) {
    const int64_t length = lengths.data[at[batch]], t = at[time];
    if (length < 0 || length > x.shape[time]) return {ONNXC_INDEX_OUT_OF_RANGE};
    y.data[i] = x.data[t < length ? i + (length - 1 - 2 * t) * stride : i];
  }
  return {};
}

}  // namespace onnxc::scalar
