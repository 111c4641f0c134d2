// ScatterND and ScatterElements without a reduction: y is x with some rows, or elements, replaced.
//
//   onnxc::gpu::scatter_nd(gpu, Tensor<float>{y, {512, 64}}, Tensor<const float>{x, {512, 64}}, Tensor<const int64_t>{at, {3, 1}},
//                          Tensor<const float>{updates, {3, 64}}, owners);
//
// Arguments but the last one, results and what is said of indices are those of ../scalar/scatter.hpp; y may be x's memory. `owners` has a word
// for each row (scatter_nd), or each element (scatter_elements), of x.
//
// Of several updates of one place the last one counts, as if they came in order. So each update first draws for its place, by the largest
// number, and then the one that owns a place is written there. A thread moves up to 16 bytes of a row.
#pragma once
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// Update j goes to the row of x that the `width` indices at indices[j * width] name.
template <class I>
struct RowTargets {
  const I* indices;
  int width;
  int64_t extents[kMaxRank];

  static constexpr unsigned kCode = ONNXC_INDEX_OUT_OF_RANGE;
  ONNXC_DEVICE unsigned code() const { return kCode; }
  /// -1 where there is none.
  ONNXC_DEVICE int64_t at(int64_t j) const {
    int64_t row = 0;
    for (int k = 0; k < width; ++k) {
      const int64_t n = extents[k], given = static_cast<int64_t>(indices[j * width + k]), index = given < 0 ? given + n : given;
      if (index < 0 || index >= n) return -1;
      row = row * n + index;
    }
    return row;
  }
};

/// Update j goes to its own position, but on one axis to indices[j]. `strides`: of x along the axes of `box`, 0 along that one.
template <class I>
struct ElementTargets {
  const I* indices;
  Box box;
  int64_t strides[kMaxRank];
  int64_t n, step;  // the extent and the stride of that axis
  bool too_wide;    // for x

  ONNXC_DEVICE unsigned code() const { return too_wide ? ONNXC_BAD_DIMENSION : ONNXC_INDEX_OUT_OF_RANGE; }
  ONNXC_DEVICE int64_t at(int64_t j) const {
    const int64_t given = static_cast<int64_t>(indices[j]), index = given < 0 ? given + n : given;
    if (too_wide || index < 0 || index >= n) return -1;
    int64_t to = index * step;
    box.locate(j, [&](int axis, int64_t position) { to += position * strides[axis]; });
    return to;
  }
};

}  // namespace detail

/// owners[place] = 1 + the largest number of an update that goes there.
template <class Targets>
struct ClaimPlaces {
  static constexpr int kThreads = 256;
  struct Shared {};
  int64_t count;
  Targets targets;
  unsigned* owners;
  unsigned* status;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t step = int64_t{blocks().x} * kThreads;
    for (int64_t j = int64_t{block().x} * kThreads + thread(); j < count; j += step) {
      const int64_t at = targets.at(j);
      if (at < 0) fetch_max(status, targets.code());
      else fetch_max(owners + at, static_cast<unsigned>(j) + 1);
    }
  }
};

/// Moves kBytes of the updates that own their places. `length` of these make an update.
template <int kBytes, class Targets>
struct PlaceUpdates {
  static constexpr int kThreads = 256;
  struct Shared {};
  int64_t items;
  FastDivide length;
  Targets targets;
  const unsigned* owners;
  Moved<kBytes>* y;
  const Moved<kBytes>* updates;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t step = int64_t{blocks().x} * kThreads;
    for (int64_t i = int64_t{block().x} * kThreads + thread(); i < items; i += step) {
      const int64_t j = length(i), at = targets.at(j);
      if (at >= 0 && owners[at] == static_cast<unsigned>(j) + 1) y[at * length.divisor() + i - j * length.divisor()] = updates[i];
    }
  }
};

namespace detail {

/// By kBytes at a time, or less.
template <int kBytes, int kLeast, class Targets>
static void place_updates(Queue& gpu, std::byte* y, const std::byte* updates, int64_t count, int64_t row_bytes, const Targets& targets,
                          const unsigned* owners) noexcept {
  if constexpr (kBytes > kLeast) {
    const auto fits = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % kBytes == 0; };
    if (row_bytes % kBytes != 0 || !fits(y) || !fits(updates))
      return place_updates<kBytes / 2, kLeast>(gpu, y, updates, count, row_bytes, targets, owners);
  }
  using Kernel = PlaceUpdates<kBytes, Targets>;
  const int64_t length = row_bytes / kBytes, items = count * length;
  if (items <= 0) return;
  launch(gpu,
         Kernel{items, FastDivide(length), targets, owners, reinterpret_cast<Moved<kBytes>*>(y),
                reinterpret_cast<const Moved<kBytes>*>(updates)},
         grid_for(items, Kernel::kThreads));
}

/// y = x with `count` updates of `row_bytes` each, at most kMostBytes of which move at once; x has `places` such rows.
template <int kMostBytes, class T, class Targets>
static void scatter(Queue& gpu, Tensor<T> y, Tensor<const T> x, Tensor<const T> updates, int64_t count, int64_t places, int64_t row_bytes,
                    const Targets& targets, unsigned* owners) noexcept {
  if (count > 0xfffffffe) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "too many updates"}; });
  if (y.data != x.data && x.count() > 0) gpu.copy(y.data, x.data, static_cast<std::size_t>(x.count()) * sizeof(T));
  if (count <= 0) return;
  gpu.clear(owners, static_cast<std::size_t>(places) * sizeof(unsigned));
  using Kernel = ClaimPlaces<Targets>;
  launch(gpu, Kernel{count, targets, owners, gpu.status()}, grid_for(count, Kernel::kThreads));
  place_updates<kMostBytes, sizeof(T)>(gpu, reinterpret_cast<std::byte*>(y.data), reinterpret_cast<const std::byte*>(updates.data), count,
                                       row_bytes, targets, owners);
}

}  // namespace detail

/// See the head of the file. y overlaps neither indices nor updates.
template <class T, class I>
static void scatter_nd(Queue& gpu, Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, Tensor<const T> updates,
                       unsigned* owners) noexcept {
  const int last = indices.shape.rank - 1, width = static_cast<int>(indices.shape[last]);
  detail::RowTargets<I> targets{indices.data, width, {}};
  for (int k = 0; k < width; ++k) targets.extents[k] = x.shape[k];
  detail::scatter<16>(gpu, y, x, updates, indices.shape.count(0, last), x.shape.count(0, width),
                      x.shape.count(width, x.shape.rank) * static_cast<int64_t>(sizeof(T)), targets, owners);
}

template <class T, class I>
static void scatter_elements(Queue& gpu, Tensor<T> y, Tensor<const T> x, Tensor<const I> indices, Tensor<const T> updates, int64_t axis,
                             unsigned* owners) noexcept {
  const int rank = x.shape.rank, picked = static_cast<int>(axis);
  detail::ElementTargets<I> targets{indices.data,    Box(indices.shape, 0, indices.shape.rank), {},
                                    x.shape[picked], x.shape.count(picked + 1, rank),           false};
  for (int k = 0; k < rank; ++k) {
    targets.strides[k] = k == picked ? 0 : x.shape.count(k + 1, rank);
    targets.too_wide = targets.too_wide || (k != picked && indices.shape[k] > x.shape[k]);
  }
  detail::scatter<sizeof(T)>(gpu, y, x, updates, indices.count(), x.count(), static_cast<int64_t>(sizeof(T)), targets, owners);
}

}  // namespace onnxc::gpu
