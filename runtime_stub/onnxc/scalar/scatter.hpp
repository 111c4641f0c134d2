// ScatterElements, ScatterND and TensorScatter, as ONNX defines them: y is x with some elements replaced, or combined with the updates.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA {

enum class Reduction { none, add, mul, max, min };

namespace scalar {

/// a (reduction) update. For bool, sums and maxima are "or", products and minima "and".
template <class T>
constexpr T reduced(Reduction reduction, T a, T update) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (reduction) {
      case Reduction::none: return update;
      case Reduction::add:
      case Reduction::max: return a || update;
      case Reduction::mul:
      case Reduction::min: return a && update;
    }
  } else if constexpr (requires { fn::max(a, update); }) {
    switch (reduction) {
      case Reduction::none: return update;
      case Reduction::add: return fn::add(a, update);
      case Reduction::mul: return fn::mul(a, update);
      case Reduction::max: return fn::max(a, update);
      case Reduction::min: return fn::min(a, update);
    }
  } else if constexpr (requires { fn::add(a, update); }) {  // complex numbers have no order
    if (reduction == Reduction::add) return fn::add(a, update);
    if (reduction == Reduction::mul) return fn::mul(a, update);
  }
  return update;
}

/// y = x, nothing where both are the same memory.
template <class T>
void copy_all(Tensor<T> y, Tensor<const T> x) {
  if (y.data == x.data) return;
  const int64_t count = x.count();
  for (int64_t i = 0; i < count; ++i) y.data[i] = x.data[i];
}

/// y = x; y[i_0, ..., indices[i], ...] receives updates[i], with the index on `axis`. Updates are applied in order. y
/// may be x's memory. A negative index counts from the end. One outside of [-n, n) gives ONNXC_INDEX_OUT_OF_RANGE,
/// indices wider than x on another axis give ONNXC_BAD_DIMENSION.
template <class T, class I>
Status scatter_elements(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, Tensor<const T> updates, int64_t axis,
                        Reduction reduction) {
  copy_all(y, x);
  const int rank = x.shape.rank;
  const int64_t count = indices.count(), n = x.shape[static_cast<int>(axis)];
  for (int k = 0; k < rank; ++k) {
    if (k != axis && count != 0 && indices.shape[k] > x.shape[k]) return {ONNXC_BAD_DIMENSION};
  }
  Position at{indices.shape};
  for (int64_t i = 0; i < count; ++i, at.next()) {
    const int64_t given = static_cast<int64_t>(indices.data[i]), index = given < 0 ? given + n : given;
    if (index < 0 || index >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
    int64_t to = 0;
    for (int k = 0; k < rank; ++k) to = to * x.shape[k] + (k == axis ? index : at[k]);
    y.data[to] = reduced(reduction, y.data[to], updates.data[i]);
  }
  return {};
}

/// y = x; y[indices[j, 0], ..., indices[j, m - 1], s] receives updates[j, s], where s runs over the axes that the m
/// indices leave of x. Updates are applied in order. y may be x's memory. Negative indices count from the end; one out
/// of range gives ONNXC_INDEX_OUT_OF_RANGE.
template <class T, class I>
Status scatter_nd(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, Tensor<const T> updates, Reduction reduction) {
  copy_all(y, x);
  const int last = indices.shape.rank - 1, width = static_cast<int>(indices.shape[last]);
  const int64_t tuples = indices.shape.count(0, last), slice = x.shape.count(width, x.shape.rank);
  for (int64_t j = 0; j < tuples; ++j) {
    int64_t at = 0;
    for (int k = 0; k < width; ++k) {
      const int64_t n = x.shape[k], given = static_cast<int64_t>(indices.data[j * width + k]), i = given < 0 ? given + n : given;
      if (i < 0 || i >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
      at = at * n + i;
    }
    T* to = y.data + at * slice;
    const T* from = updates.data + j * slice;
    for (int64_t s = 0; s < slice; ++s) to[s] = reduced(reduction, to[s], from[s]);
  }
  return {};
}

/// y = x; y[b, p, first[b] + t, s] = updates[b, p, t, s], with t on `axis` and b on axis 0. Without `first` it is 0.
/// Circular: positions are taken modulo the extent of x. y may be x's memory. A position outside of x gives
/// ONNXC_INDEX_OUT_OF_RANGE.
template <class T>
Status tensor_scatter(Tensor<T> y, Tensor<const T> x, Tensor<const T> updates, Tensor<const int64_t> first, int64_t axis, bool circular) {
  copy_all(y, x);
  const int a = static_cast<int>(axis);
  const int64_t outer = x.shape.count(0, a), batches = x.shape[0], most = x.shape[a], length = updates.shape[a];
  const int64_t inner = x.shape.count(a + 1, x.shape.rank);
  for (int64_t p = 0; p < outer; ++p) {
    const int64_t given = first.data == nullptr ? 0 : first.data[p / (outer / batches)];
    if (most == 0 && length != 0) return {ONNXC_INDEX_OUT_OF_RANGE};
    const int64_t start = circular && most != 0 ? mod(given, most) : given;
    if (length > most || start < 0 || (!circular && length != 0 && start > most - length)) return {ONNXC_INDEX_OUT_OF_RANGE};
    for (int64_t t = 0; t < length; ++t) {
      const int64_t at = circular ? (start + t) % most : start + t;
      const T* from = updates.data + (p * length + t) * inner;
      T* to = y.data + (p * most + at) * inner;
      for (int64_t s = 0; s < inner; ++s) to[s] = from[s];
    }
  }
  return {};
}

}  // namespace scalar
}  // namespace onnxc
