// Gather, GatherND and GatherElements: rows, or elements, that indices pick.
//
//   onnxc::gpu::gather(gpu, Tensor<float>{y, {4, 64, 256}}, Tensor<const float>{table, {30522, 256}}, Tensor<const int64_t>{at, {4, 64}}, {.axis = 0});
//
// Arguments, results and what is said of indices out of range are those of ../scalar/gather.hpp and ../scalar/gather_elements.hpp.
// Gather and GatherND move rows, a thread up to 16 bytes of one: as many as both memories and the length of rows are multiples of.
// Where every offset is below 2^31, as nearly always, a thread finds its place in 32 bits. GatherElements moves an element a thread.
#pragma once
#include "../scalar/gather.hpp"
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Where rows come from: row r of y, the (r % tuples)-th of batch r / tuples, is row (i_0, ..., i_{width - 1}) of that batch of x, by the
/// `width` indices at indices[r / tuples * indices_batch + r % tuples * width].
struct PickedRows {
  int64_t batches = 1, tuples, row_bytes;
  int64_t indices_batch = 0;  ///< 0 if all batches have the same indices
  int width = 1;
  int64_t extents[kMaxRank] = {};  ///< of a batch of x, along the axes that are picked from

  int64_t rows_of_batch() const noexcept {
    int64_t rows = 1;
    for (int k = 0; k < width; ++k) rows *= extents[k];
    return rows;
  }
};

/// Moves kBytes of a row for each item. Count is a type for offsets in x, y and the indices. A row without bytes has one item, which
/// checks its indices.
template <int kBytes, class Count, class I>
struct PickRows {
  static constexpr int kThreads = 256;
  struct Shared {};
  Count items, indices_batch, x_batch;
  FastDivide row, tuples;  // items of a row, rows of a batch
  int width;
  bool is_empty;
  Count extents[kMaxRank];
  Moved<kBytes>* y;
  const Moved<kBytes>* x;
  const I* indices;
  unsigned* status;

  ONNXC_DEVICE void operator()(Shared&) const {
    const Count step = static_cast<Count>(blocks().x) * kThreads;
    for (Count i = static_cast<Count>(block().x) * kThreads + thread(); i < items; i += step) move(i);
  }

 private:
  ONNXC_DEVICE void move(Count i) const {
    const auto length = static_cast<Count>(row.divisor()), rows = static_cast<Count>(tuples.divisor());
    const Count r = row.in(i), batch = tuples.in(r);
    const I* const tuple = indices + batch * indices_batch + (r - batch * rows) * width;
    Count from = 0;
    for (int k = 0; k < width; ++k) {
      const int64_t n = extents[k], given = static_cast<int64_t>(tuple[k]), index = given < 0 ? given + n : given;
      if (index < 0 || index >= n) {
        fetch_max(status, ONNXC_INDEX_OUT_OF_RANGE);
        return;
      }
      from = from * extents[k] + static_cast<Count>(index);
    }
    if (!is_empty) y[i] = x[batch * x_batch + from * length + (i - r * length)];
  }
};

/// Moves one T for each position of the indices: `box` has these, and `strides` what one step along each axis is in x, 0 along the picked
/// one. If the indices are `too_wide` for x, threads only say so.
template <class T, class I>
struct PickElements {
  static constexpr int kThreads = 256;
  struct Shared {};
  int64_t count, n, step;  // elements of y; the extent and the stride of the picked axis
  Box box;
  int64_t strides[kMaxRank];
  bool too_wide;
  T* y;
  const T* x;
  const I* indices;
  unsigned* status;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t stride = int64_t{blocks().x} * kThreads;
    for (int64_t i = int64_t{block().x} * kThreads + thread(); i < count; i += stride) move(i);
  }

 private:
  ONNXC_DEVICE void move(int64_t i) const {
    const int64_t given = static_cast<int64_t>(indices[i]), index = given < 0 ? given + n : given;
    if (too_wide || index < 0 || index >= n) {
      fetch_max(status, too_wide ? ONNXC_BAD_DIMENSION : ONNXC_INDEX_OUT_OF_RANGE);
      return;
    }
    int64_t from = index * step;
    box.locate(i, [&](int axis, int64_t position) { from += position * strides[axis]; });
    y[i] = x[from];
  }
};

namespace detail {

template <int kBytes, class Count, class I>
static void launch_rows(Queue& gpu, std::byte* y, const std::byte* x, const I* indices, const PickedRows& p) noexcept {
  using Kernel = PickRows<kBytes, Count, I>;
  const int64_t length = max_of(p.row_bytes / kBytes, 1), items = p.batches * p.tuples * length;
  if (items <= 0) return;
  Kernel kernel{static_cast<Count>(items),
                static_cast<Count>(p.indices_batch),
                static_cast<Count>(p.rows_of_batch() * length),
                FastDivide(length),
                FastDivide(p.tuples),
                p.width,
                p.row_bytes == 0,
                {},
                reinterpret_cast<Moved<kBytes>*>(y),
                reinterpret_cast<const Moved<kBytes>*>(x),
                indices,
                gpu.status()};
  for (int k = 0; k < p.width; ++k) kernel.extents[k] = static_cast<Count>(p.extents[k]);
  launch(gpu, kernel, grid_for(items, Kernel::kThreads));
}

/// By kBytes at a time, or less.
template <int kBytes, int kLeast, class I>
static void pick_rows(Queue& gpu, std::byte* y, const std::byte* x, const I* indices, const PickedRows& p) noexcept {
  constexpr int64_t kMost = 0x7fffffff;
  const int64_t length = max_of(p.row_bytes / kBytes, 1), rows = p.batches * p.tuples;
  // The last step to a next item may not leave 32 bits either.
  bool is_short = rows * length <= int64_t{1} << 30 && rows * p.width <= kMost && p.batches * p.rows_of_batch() * length <= kMost;
  for (int k = 0; k < p.width; ++k) is_short = is_short && p.extents[k] <= kMost;
  if constexpr (kBytes > kLeast) {
    const auto fits = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % kBytes == 0; };
    if (!is_short || p.row_bytes % kBytes != 0 || !fits(y) || !fits(x)) return pick_rows<kBytes / 2, kLeast>(gpu, y, x, indices, p);
  } else if (!is_short) {
    return launch_rows<kBytes, int64_t>(gpu, y, x, indices, p);
  }
  launch_rows<kBytes, int32_t>(gpu, y, x, indices, p);
}

}  // namespace detail

/// See the head of the file. The memories do not overlap.
template <class T, class I>
static void gather(Queue& gpu, Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, scalar::GatherParams params) noexcept {
  const int axis = static_cast<int>(params.axis);
  const int64_t outer = x.shape.count(0, axis), inner = x.shape.count(axis + 1, x.shape.rank);
  PickedRows p{.batches = max_of(outer, 1),  // the indices of nothing are checked, too
               .tuples = indices.count(),
               .row_bytes = outer == 0 ? 0 : inner * static_cast<int64_t>(sizeof(T))};
  p.extents[0] = x.shape[axis];
  detail::pick_rows<16, sizeof(T)>(gpu, reinterpret_cast<std::byte*>(y.data), reinterpret_cast<const std::byte*>(x.data), indices.data, p);
}

template <class T, class I>
static void gather_nd(Queue& gpu, Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, int64_t batch_axes) noexcept {
  const int batch_rank = static_cast<int>(batch_axes), last = indices.shape.rank - 1, width = static_cast<int>(indices.shape[last]);
  PickedRows p{.batches = x.shape.count(0, batch_rank),
               .tuples = indices.shape.count(batch_rank, last),
               .row_bytes = x.shape.count(batch_rank + width, x.shape.rank) * static_cast<int64_t>(sizeof(T)),
               .width = width};
  p.indices_batch = p.tuples * width;
  for (int k = 0; k < width; ++k) p.extents[k] = x.shape[batch_rank + k];
  detail::pick_rows<16, sizeof(T)>(gpu, reinterpret_cast<std::byte*>(y.data), reinterpret_cast<const std::byte*>(x.data), indices.data, p);
}

template <class T, class I>
static void gather_elements(Queue& gpu, Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, int64_t axis) noexcept {
  using Element = Moved<sizeof(T)>;
  const int rank = x.shape.rank, picked = static_cast<int>(axis);
  const int64_t count = indices.count();
  if (count <= 0) return;
  // Neighbours that lie alike in x and in y are one axis, but for the picked one.
  Shape shape;
  int64_t strides[kMaxRank] = {};
  bool too_wide = false;
  for (int k = 0; k < rank; ++k) {
    const int64_t stride = k == picked ? 0 : x.shape.count(k + 1, rank), extent = indices.shape[k];
    too_wide = too_wide || (k != picked && extent > x.shape[k]);
    if (k != picked && k > 0 && k - 1 != picked && extent == x.shape[k]) {
      shape[shape.rank - 1] *= extent;
      strides[shape.rank - 1] = stride;
    } else {
      strides[shape.rank] = stride;
      shape[shape.rank++] = extent;
    }
  }
  using Kernel = PickElements<Element, I>;
  Kernel kernel{count,        x.shape[picked], x.shape.count(picked + 1, rank),    Box(shape, 0, shape.rank),
                {},           too_wide,        reinterpret_cast<Element*>(y.data), reinterpret_cast<const Element*>(x.data),
                indices.data, gpu.status()};
  for (int k = 0; k < shape.rank; ++k) kernel.strides[k] = strides[k];
  launch(gpu, kernel, grid_for(count, Kernel::kThreads));
}

}  // namespace onnxc::gpu
