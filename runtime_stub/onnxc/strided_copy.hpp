// Moves a box of elements between two placements: Transpose, Slice, Concat, Expand, Pad and changes of layout are all this.
#pragma once
#include <cstring>

#include "base.hpp"
#include "passed.hpp"
#include "strided.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {
/// Copies the first and the last `size` bytes, which together are all.
template <std::size_t size>
ONNXC_BOTH void copy_ends(void* to, const void* from, std::size_t bytes) {
  unsigned char first[size], last[size];
  std::memcpy(first, from, size);
  std::memcpy(last, static_cast<const unsigned char*>(from) + bytes - size, size);
  std::memcpy(to, first, size);
  std::memcpy(static_cast<unsigned char*>(to) + bytes - size, last, size);
}

/// Copies short runs without a call, where code is no matter. memcpy is one where the length is not constant.
template <class T>
ONNXC_BOTH void copy_run(T* to, const T* from, Index count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
  if (ONNXC_MICRO || bytes > 32) std::memcpy(to, from, bytes);
  else if (bytes >= 16) copy_ends<16>(to, from, bytes);
  else if (bytes >= 8) copy_ends<8>(to, from, bytes);
  else if (bytes >= 4) copy_ends<4>(to, from, bytes);
  else std::memcpy(to, from, bytes);
}

template <std::size_t bytes, class T>
ONNXC_BOTH void copy_runs_of(T* to, Index to_pitch, const T* from, Index from_pitch, Index runs) {
  for (Index i = 0; i < runs; ++i) std::memcpy(to + i * to_pitch, from + i * from_pitch, bytes);
}

/// `runs` runs of `count` elements, evenly spaced. The shortest, of which there are most, are copied by their size,
/// which the compiler knows: a call for each would take most of the time.
template <class T>
ONNXC_BOTH void copy_runs(T* to, Index to_pitch, const T* from, Index from_pitch, Index count, Index runs) {
  if constexpr (ONNXC_MICRO && ONNXC_LEAST_CODE) {
    for (Index i = 0; i < runs; ++i) std::memcpy(to + i * to_pitch, from + i * from_pitch, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  switch (static_cast<std::size_t>(count) * sizeof(T)) {
    case sizeof(T): return copy_runs_of<sizeof(T)>(to, to_pitch, from, from_pitch, runs);
    case 2 * sizeof(T): return copy_runs_of<2 * sizeof(T)>(to, to_pitch, from, from_pitch, runs);
    case 3 * sizeof(T): return copy_runs_of<3 * sizeof(T)>(to, to_pitch, from, from_pitch, runs);
    case 4 * sizeof(T): return copy_runs_of<4 * sizeof(T)>(to, to_pitch, from, from_pitch, runs);
    default:
      for (Index i = 0; i < runs; ++i) copy_run(to + i * to_pitch, from + i * from_pitch, count);
  }
}
}  // namespace detail

/// to[sum i_k * to_strides[k]] = from[sum i_k * from_strides[k]] for all i below `shape`. Strides in elements; a `from`
/// stride of 0 repeats, negative ones walk backwards. The two do not overlap. shape.rank >= 1. More shares than there
/// are rows, and elements in a row, have some of the elements each: on a GPU.
template <class T>
ONNXC_ANYWHERE void strided_copy(Share share, Passed<Shape> shape, T* to, Passed<Ints> to_strides, const T* from,
                                 Passed<Ints> from_strides) {
  const int inner = shape.rank - 1;
  const Index length = shape[inner], rows = shape.count(0, inner), to_step = to_strides[inner], from_step = from_strides[inner];
  if (length <= 0 || rows <= 0) return;
  if (share.count > rows && share.count > length) {
    const auto [begin, end] = share.slice(rows * length);
    for (Index i = begin; i < end; ++i)
      to[strided_offset(shape, shape.rank, to_strides, i)] = from[strided_offset(shape, shape.rank, from_strides, i)];
    return;
  }
  const bool by_rows = rows >= share.count;
  const auto [first_row, last_row] = by_rows ? share.slice(rows) : Share::Range{0, rows};
  const auto [first, last] = by_rows ? Share::Range{0, length} : share.slice(length);
  if (first >= last) return;
  Index at[kMaxRank] = {}, y = 0, x = 0, rest = first_row;  // the row's indices, and where it lies
  for (int axis = inner - 1; axis >= 0; --axis) {
    at[axis] = rest % shape[axis];
    rest /= shape[axis];
    y += at[axis] * to_strides[axis];
    x += at[axis] * from_strides[axis];
  }
  const int outer = inner - 1;  // rows along this axis are evenly spaced
  const Index to_pitch = outer >= 0 ? to_strides[outer] : 0, from_pitch = outer >= 0 ? from_strides[outer] : 0;
  for (Index row = first_row; row < last_row;) {
    const Index until_end = outer >= 0 ? shape[outer] - at[outer] : 1, runs = last_row - row < until_end ? last_row - row : until_end;
    if (to_step == 1 && from_step == 1) {
      detail::copy_runs(to + y + first, to_pitch, from + x + first, from_pitch, last - first, runs);
    } else {
      for (Index r = 0; r < runs; ++r) {
        for (Index i = first; i < last; ++i) to[y + r * to_pitch + i * to_step] = from[x + r * from_pitch + i * from_step];
      }
    }
    row += runs;
    if (outer < 0) break;
    y += runs * to_pitch;
    x += runs * from_pitch;
    at[outer] += runs;
    for (int axis = outer; axis > 0 && at[axis] == shape[axis]; --axis) {
      y += to_strides[axis - 1] - to_strides[axis] * shape[axis];
      x += from_strides[axis - 1] - from_strides[axis] * shape[axis];
      at[axis] = 0;
      ++at[axis - 1];
    }
  }
}

}  // namespace onnxc
