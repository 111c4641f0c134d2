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

/// y = x for this share of the elements, nothing where both are the same memory.
template <class T>
ONNXC_ANYWHERE void copy_all(Tensor<T> y, Tensor<const T> x, Share share = {}) {
  if (y.data == x.data) return;
  const auto [first, last] = share.slice(x.count());
  for (int64_t i = first; i < last; ++i) y.data[i] = x.data[i];
}

/// y = x; y[i_0, ..., indices[i], ...] receives updates[i], with the index on `axis`. Updates are applied in order. y
/// may be x's memory. A negative index counts from the end. One outside of [-n, n) gives ONNXC_INDEX_OUT_OF_RANGE,
/// indices wider than x on another axis give ONNXC_BAD_DIMENSION. A share has some of the lines along the axis, and
/// checks as many of the indices again, since no line may have them.
template <class T, class I>
ONNXC_ANYWHERE Status scatter_elements(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, Tensor<const T> updates, int64_t axis,
                                       Reduction reduction, Share share = {}) {
  const int rank = x.shape.rank, a = static_cast<int>(axis);
  const int64_t count = indices.count(), n = x.shape[a];
  if (share.count == 1) copy_all(y, x);
  for (int k = 0; k < rank; ++k) {
    if (k != axis && count != 0 && indices.shape[k] > x.shape[k]) return {ONNXC_BAD_DIMENSION};
  }
  const auto valid = [&](int64_t given) { return given >= -n && given < n; };
  if (share.count == 1) {  // all lines, in the order in which the updates lie
    Position at{indices.shape};
    for (int64_t i = 0; i < count; ++i, at.next()) {
      const int64_t given = static_cast<int64_t>(indices.data[i]), index = given < 0 ? given + n : given;
      if (!valid(given)) return {ONNXC_INDEX_OUT_OF_RANGE};
      int64_t to = 0;
      for (int k = 0; k < rank; ++k) to = to * x.shape[k] + (k == axis ? index : at[k]);
      y.data[to] = reduced(reduction, y.data[to], updates.data[i]);
    }
    return {};
  }
  const auto checked = share.slice(count);
  for (int64_t i = checked.begin; i < checked.end; ++i) {
    if (!valid(static_cast<int64_t>(indices.data[i]))) return {ONNXC_INDEX_OUT_OF_RANGE};
  }
  Position line{x.shape};  // its place on `axis` stays 0
  line.shape[a] = 1;
  const auto [first, last] = share.slice(line.shape.count());
  line.go_to(first < last ? first : 0);
  const int64_t to_step = x.shape.count(a + 1, rank), from_step = indices.shape.count(a + 1, rank);
  for (int64_t number = first; number < last; ++number, line.next()) {
    int64_t to = 0, from = 0;
    bool updated = count != 0;
    for (int k = 0; k < rank; ++k) {
      to = to * x.shape[k] + line[k];
      from = from * indices.shape[k] + line[k];
      updated = updated && line[k] < indices.shape[k];
    }
    for (int64_t i = 0; i < n && y.data != x.data; ++i) y.data[to + i * to_step] = x.data[to + i * to_step];
    for (int64_t i = 0; updated && i < indices.shape[a]; ++i) {
      const int64_t given = static_cast<int64_t>(indices.data[from + i * from_step]), index = given < 0 ? given + n : given;
      if (!valid(given)) return {ONNXC_INDEX_OUT_OF_RANGE};
      T& element = y.data[to + index * to_step];
      element = reduced(reduction, element, updates.data[from + i * from_step]);
    }
  }
  return {};
}

/// y = x; y[indices[j, 0], ..., indices[j, m - 1], s] receives updates[j, s], where s runs over the axes that the m
/// indices leave of x. Updates are applied in order. y may be x's memory. Negative indices count from the end; one out
/// of range gives ONNXC_INDEX_OUT_OF_RANGE. A share has some of the s.
template <class T, class I>
ONNXC_ANYWHERE Status scatter_nd(Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, Tensor<const T> updates, Reduction reduction,
                                 Share share = {}) {
  const int inner = indices.shape.rank - 1, width = static_cast<int>(indices.shape[inner]);
  const int64_t tuples = indices.shape.count(0, inner), slice = x.shape.count(width, x.shape.rank), slices = x.shape.count(0, width);
  const auto [first, last] = share.slice(max_of(slice, 1));  // the indices of nothing are checked, too
  if (first >= last) return {};
  if (last - first == slice) copy_all(y, x);
  for (int64_t i = 0; i < slices && last - first < slice && y.data != x.data; ++i) {
    for (int64_t s = first; s < last; ++s) y.data[i * slice + s] = x.data[i * slice + s];
  }
  for (int64_t j = 0; j < tuples; ++j) {
    int64_t at = 0;
    for (int k = 0; k < width; ++k) {
      const int64_t n = x.shape[k], given = static_cast<int64_t>(indices.data[j * width + k]), i = given < 0 ? given + n : given;
      if (i < 0 || i >= n) return {ONNXC_INDEX_OUT_OF_RANGE};
      at = at * n + i;
    }
    T* to = y.data + at * slice;
    const T* from = updates.data + j * slice;
    for (int64_t s = first; s < last && slice > 0; ++s) to[s] = reduced(reduction, to[s], from[s]);
  }
  return {};
}

/// y = x; y[b, p, first[b] + t, s] = updates[b, p, t, s], with t on `axis` and b on axis 0. Without `first` it is 0.
/// Circular: positions are taken modulo the extent of x. y may be x's memory. A position outside of x gives
/// ONNXC_INDEX_OUT_OF_RANGE. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE Status tensor_scatter(Tensor<T> y, Tensor<const T> x, Tensor<const T> updates, Tensor<const int64_t> first, int64_t axis,
                                     bool circular, Share share = {}) {
  const int a = static_cast<int>(axis);
  const int64_t outer = x.shape.count(0, a), batches = x.shape[0], most = x.shape[a], length = updates.shape[a];
  const int64_t inner = x.shape.count(a + 1, x.shape.rank), block = most * inner, places = max_of(block, 1);  // empty ones are checked, too
  const auto [begin, end] = share.slice(outer * places);
  for (int64_t p = begin / places; p * places < end; ++p) {
    const int64_t given = first.data == nullptr ? 0 : first.data[p / (outer / batches)];
    if (most == 0 && length != 0) return {ONNXC_INDEX_OUT_OF_RANGE};
    const int64_t start = circular && most != 0 ? mod(given, most) : given;
    if (length > most || start < 0 || (!circular && length != 0 && start > most - length)) return {ONNXC_INDEX_OUT_OF_RANGE};
    const int64_t low = max_of(begin - p * places, 0), high = min_of(end - p * places, block);  // what the share has of y[p]
    T* const to = y.data + p * block;
    for (int64_t i = low; i < high && y.data != x.data; ++i) to[i] = x.data[p * block + i];
    if (low >= high) continue;
    for (int64_t row = low / inner; row * inner < high; ++row) {
      const int64_t t = circular && row < start ? row + most - start : row - start;
      if (t < 0 || t >= length) continue;
      const T* const from = updates.data + (p * length + t) * inner - row * inner;
      for (int64_t i = max_of(low, row * inner); i < min_of(high, (row + 1) * inner); ++i) to[i] = from[i];
    }
  }
  return {};
}

}  // namespace scalar
}  // namespace onnxc
