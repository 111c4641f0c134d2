// Moves a box of elements between two placements: Transpose, Slice, Concat, Expand, Pad and changes of layout are all this.
#pragma once
#include <cstring>

#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {
/// The first and the last `size` bytes, which together are all.
template <std::size_t size>
ONNXC_INLINE void copy_ends(void* to, const void* from, std::size_t bytes) {
  unsigned char first[size], last[size];
  std::memcpy(first, from, size);
  std::memcpy(last, static_cast<const unsigned char*>(from) + bytes - size, size);
  std::memcpy(to, first, size);
  std::memcpy(static_cast<unsigned char*>(to) + bytes - size, last, size);
}

/// Short runs without a call: memcpy of a length that is not constant is one.
template <class T>
ONNXC_INLINE void copy_run(T* to, const T* from, int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
  if (bytes > 32) std::memcpy(to, from, bytes);
  else if (bytes >= 16) copy_ends<16>(to, from, bytes);
  else if (bytes >= 8) copy_ends<8>(to, from, bytes);
  else if (bytes >= 4) copy_ends<4>(to, from, bytes);
  else std::memcpy(to, from, bytes);
}
}  // namespace detail

/// to[sum i_k * to_strides[k]] = from[sum i_k * from_strides[k]] for all i below `shape`. Strides in elements; a `from` stride of 0 repeats, negative
/// ones walk backwards. The two do not overlap. shape.rank >= 1.
template <class T>
void strided_copy(Part part, Shape shape, T* to, Ints to_strides, const T* from, Ints from_strides) {
  const int inner = shape.rank - 1;
  const int64_t length = shape[inner], rows = shape.count(0, inner), to_step = to_strides[inner], from_step = from_strides[inner];
  if (length <= 0 || rows <= 0) return;
  const bool by_rows = rows >= part.count;
  const auto [first_row, last_row] = by_rows ? part.slice(rows) : Part::Range{0, rows};
  const auto [first, last] = by_rows ? Part::Range{0, length} : part.slice(length);
  if (first >= last) return;
  int64_t at[kMaxRank] = {}, y = 0, x = 0, rest = first_row;  // the row's indices, and where it lies
  for (int axis = inner - 1; axis >= 0; --axis) {
    at[axis] = rest % shape[axis];
    rest /= shape[axis];
    y += at[axis] * to_strides[axis];
    x += at[axis] * from_strides[axis];
  }
  for (int64_t row = first_row; row < last_row; ++row) {
    if (to_step == 1 && from_step == 1) {
      detail::copy_run(to + y + first, from + x + first, last - first);
    } else {
      for (int64_t i = first; i < last; ++i) to[y + i * to_step] = from[x + i * from_step];
    }
    for (int axis = inner - 1; axis >= 0; --axis) {
      y += to_strides[axis];
      x += from_strides[axis];
      if (++at[axis] < shape[axis]) break;
      y -= to_strides[axis] * shape[axis];
      x -= from_strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace onnxc
