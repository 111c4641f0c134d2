// Sequences and optionals: onnxc_values in the caller's memory. Values never change once they are made, so sequences
// share their elements. A tensor that becomes an element is copied.
#pragma once
#include "heap.hpp"

namespace onnxc::inline ONNXC_ISA {

/// *y = a copy of the tensor x, whose elements have the ONNX type `elem_type`.
template <class T>
Status copy_to_value(Heap heap, onnxc_value* y, int32_t elem_type, Tensor<const T> x) {
  T* data = nullptr;
  const int64_t n = x.count();
  if (const auto status = heap.allocate(data, n)) return status;
  for (int64_t i = 0; i < n; ++i) data[i] = x.data[i];
  make_tensor(y, elem_type, data, x.shape);
  return {};
}

ONNXC_INLINE void make_sequence(onnxc_value* y, const onnxc_value* items, int64_t count) { *y = {ONNXC_SEQUENCE, 0, 0, count, items, {}}; }

ONNXC_INLINE const onnxc_value* items_of(const onnxc_value* sequence) { return static_cast<const onnxc_value*>(sequence->data); }

/// Room for `count` elements.
ONNXC_INLINE Status allocate_items(Heap heap, onnxc_value*& items, int64_t count) { return heap.allocate(items, count); }

ONNXC_INLINE void sequence_empty(onnxc_value* y) { make_sequence(y, nullptr, 0); }

/// A position in a sequence; negative ones count from the end. `most` is its length, or one less where there must be an
/// element.
template <class P>
Status position_in(int64_t& at, const P* position, int64_t count, int64_t most) {
  at = position == nullptr ? most : extent_of(*position);
  if (at < 0) at += count;
  return {at < 0 || at > most ? ONNXC_INDEX_OUT_OF_RANGE : ONNXC_OK};
}

/// *y = x with a copy of `item` before `position`, or at the end where that is null.
template <class T, class P>
Status sequence_insert(Heap heap, onnxc_value* y, const onnxc_value* x, int32_t elem_type, Tensor<const T> item, const P* position) {
  int64_t at = 0;
  if (const auto status = position_in(at, position, x->count, x->count)) return status;
  onnxc_value* items = nullptr;
  if (const auto status = allocate_items(heap, items, x->count + 1)) return status;
  for (int64_t i = 0; i < x->count; ++i) items[i < at ? i : i + 1] = items_of(x)[i];
  if (const auto status = copy_to_value(heap, &items[at], elem_type, item)) return status;
  make_sequence(y, items, x->count + 1);
  return {};
}

/// *y = x without the element at `position`, or without the last where that is null.
template <class P>
Status sequence_erase(Heap heap, onnxc_value* y, const onnxc_value* x, const P* position) {
  int64_t at = 0;
  if (const auto status = position_in(at, position, x->count, x->count - 1)) return status;
  onnxc_value* items = nullptr;
  if (const auto status = allocate_items(heap, items, x->count - 1)) return status;
  for (int64_t i = 0; i + 1 < x->count; ++i) items[i] = items_of(x)[i < at ? i : i + 1];
  make_sequence(y, items, x->count - 1);
  return {};
}

/// Finds where a tensor's elements are, and its extents: as many as it is declared to have.
template <class T, class... Extents>
Status read_tensor(const onnxc_value* x, int32_t elem_type, const T** data, Extents*... extents) {
  if (x->kind != ONNXC_TENSOR || x->elem_type != elem_type || x->rank != static_cast<int32_t>(sizeof...(extents))) return {ONNXC_BAD_VALUE};
  *data = static_cast<const T*>(x->data);
  [[maybe_unused]] int axis = 0;
  ((*extents = x->shape[axis++]), ...);
  return {};
}

/// Finds the element at `position`.
template <class T, class P, class... Extents>
Status sequence_at(const onnxc_value* x, const P* position, int32_t elem_type, const T** data, Extents*... extents) {
  int64_t at = 0;
  if (const auto status = position_in(at, position, x->count, x->count - 1)) return status;
  return read_tensor(&items_of(x)[at], elem_type, data, extents...);
}

ONNXC_INLINE void sequence_length(int64_t* y, const onnxc_value* x) { *y = x->count; }

/// The extents of the elements joined along `axis`, a new one where `adds_axis`. The other extents must be equal.
template <class... Extents>
Status concat_extents(const onnxc_value* x, int32_t axis, bool adds_axis, Extents*... extents) {
  constexpr auto rank = static_cast<int32_t>(sizeof...(extents));
  int64_t* const out[] = {extents...};
  if (x->count == 0) return {ONNXC_BAD_VALUE};
  int64_t total = 0;
  for (int64_t i = 0; i < x->count; ++i) {
    const onnxc_value& item = items_of(x)[i];
    if (item.kind != ONNXC_TENSOR || item.rank != rank - (adds_axis ? 1 : 0)) return {ONNXC_BAD_VALUE};
    total += adds_axis ? 1 : item.shape[axis];
    for (int32_t k = 0; k < rank; ++k) {
      if (k == axis) continue;
      const int64_t extent = item.shape[adds_axis && k > axis ? k - 1 : k];
      if (i == 0) *out[k] = extent;
      else if (*out[k] != extent) return {ONNXC_BAD_DIMENSION};
    }
  }
  *out[axis] = total;
  return {};
}

/// y = the elements joined along `axis`; concat_extents has checked them.
template <class T>
Status concat_items(Tensor<T> y, const onnxc_value* x, int32_t elem_type, int32_t axis, bool adds_axis) {
  const int64_t outer = y.shape.count(0, axis), inner = y.shape.count(axis + 1, y.shape.rank), row = y.shape[axis] * inner;
  int64_t at = 0;
  for (int64_t i = 0; i < x->count; ++i) {
    const onnxc_value& item = items_of(x)[i];
    if (item.elem_type != elem_type) return {ONNXC_BAD_VALUE};
    const T* const from = static_cast<const T*>(item.data);
    const int64_t length = (adds_axis ? 1 : item.shape[axis]) * inner;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < length; ++k) y.data[o * row + at + k] = from[o * length + k];
    }
    at += length;
  }
  return {};
}

struct SplitParams {
  int32_t elem_type;
  int axis;
  int64_t parts;  // the number of sizes; 0: parts of size 1; -1: sizes[0] is the size of each part but perhaps the last
  bool keep_axis = true;
};

/// *y = parts of x along an axis.
template <class T, class P>
Status split_to_sequence(Heap heap, onnxc_value* y, Tensor<const T> x, const P* sizes, SplitParams p) {
  const int64_t extent = x.shape[p.axis], chunk = p.parts == -1 ? extent_of(sizes[0]) : 1;
  if (chunk <= 0) return {ONNXC_BAD_VALUE};
  const int64_t count = p.parts > 0 ? p.parts : ceil_div(extent, chunk);
  onnxc_value* items = nullptr;
  if (const auto status = allocate_items(heap, items, count)) return status;
  const int64_t outer = x.shape.count(0, p.axis), inner = x.shape.count(p.axis + 1, x.shape.rank);
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = p.parts > 0 ? extent_of(sizes[i]) : extent - at < chunk ? extent - at : chunk;
    if (length < 0 || length > extent - at) return {ONNXC_BAD_DIMENSION};
    Shape shape;
    for (int axis = 0; axis < x.shape.rank; ++axis) {
      if (axis != p.axis) shape.dims[shape.rank++] = x.shape[axis];
      else if (p.keep_axis) shape.dims[shape.rank++] = length;
    }
    T* data = nullptr;
    if (const auto status = heap.allocate(data, outer * length * inner)) return status;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < length * inner; ++k) data[o * length * inner + k] = x.data[(o * extent + at) * inner + k];
    }
    make_tensor(&items[i], p.elem_type, data, shape);
    at += length;
  }
  if (at != extent) return {ONNXC_BAD_DIMENSION};
  make_sequence(y, items, count);
  return {};
}

// ---- optionals

ONNXC_INLINE void optional_empty(onnxc_value* y) { *y = {ONNXC_OPTIONAL, 0, 0, 0, nullptr, {}}; }

/// *y holds *x.
ONNXC_INLINE Status optional_of(Heap heap, onnxc_value* y, const onnxc_value* x) {
  onnxc_value* item = nullptr;
  if (const auto status = allocate_items(heap, item, 1)) return status;
  *item = *x;
  *y = {ONNXC_OPTIONAL, 0, 0, 1, item, {}};
  return {};
}
/// *y holds a copy of a tensor.
template <class T>
Status optional_of_tensor(Heap heap, onnxc_value* y, int32_t elem_type, Tensor<const T> x) {
  onnxc_value item{};
  if (const auto status = copy_to_value(heap, &item, elem_type, x)) return status;
  return optional_of(heap, y, &item);
}

ONNXC_INLINE void optional_has_element(bool* y, const onnxc_value* x) { *y = x->kind != ONNXC_OPTIONAL || x->count > 0; }

/// What is in *x; x itself where that is no optional.
ONNXC_INLINE Status optional_get(onnxc_value* y, const onnxc_value* x) {
  if (x->kind == ONNXC_OPTIONAL && x->count == 0) return {ONNXC_BAD_VALUE};
  *y = x->kind == ONNXC_OPTIONAL ? *items_of(x) : *x;
  return {};
}
template <class T, class... Extents>
Status optional_get_tensor(const onnxc_value* x, int32_t elem_type, const T** data, Extents*... extents) {
  onnxc_value item{};
  if (const auto status = optional_get(&item, x)) return status;
  return read_tensor(&item, elem_type, data, extents...);
}

}  // namespace onnxc
