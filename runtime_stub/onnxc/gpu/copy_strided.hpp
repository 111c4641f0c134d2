// Copies between any two places: transposes, slices, concatenations, changes of layout.
//
//   onnxc::gpu::copy_strided(gpu, {12, 64, 56}, y, {64 * 56, 56, 1}, x, {1, 12, 12 * 64});
//
// y[i . y_strides] = x[i . x_strides] for each position i of `shape`; strides in elements, of x they may be 0 or negative.
// Where both sides go along the last axis, a thread moves up to 16 bytes. Where y goes along the last axis and x along
// another one, tiles are turned in shared memory, so that threads read and write neighbours.
#pragma once
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

namespace detail {

struct CopyStrides {
  int64_t y[kMaxRank] = {}, x[kMaxRank] = {};
};

}  // namespace detail

/// Moves one T for each position of the box.
template <class T>
struct CopyEach {
  static constexpr int kThreads = 256;
  struct Shared {};
  int64_t count;
  Box box;
  T* y;
  const T* x;
  detail::CopyStrides strides;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t step = int64_t{blocks().x} * kThreads;
    for (int64_t i = int64_t{block().x} * kThreads + thread(); i < count; i += step) {
      int64_t to = 0, from = 0;
      box.locate(i, [&](int axis, int64_t position) {
        to += position * strides.y[axis];
        from += position * strides.x[axis];
      });
      y[to] = x[from];
    }
  }
};

/// Turns a matrix of `rows` x `columns` for each position of the box: x goes along rows, y along columns.
template <class T>
struct CopyTurned {
  static constexpr int kTile = 32, kLines = 8, kThreads = kTile * kLines;
  struct Shared {
    T tile[kTile][kTile + 1];  // columns of a tile meet all banks
  };
  int64_t rows, columns;
  FastDivide row_tiles, column_tiles;
  int64_t tiles;
  Box box;
  T* y;
  const T* x;
  detail::CopyStrides strides;
  int64_t y_row, x_column;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    for (int64_t i = block().x; i < tiles; i += blocks().x) turn(shared, i);
  }

 private:
  ONNXC_DEVICE void turn(Shared& shared, int64_t i) const {
    const int64_t rest = row_tiles(i), place = column_tiles(rest);
    const int64_t row = (i - rest * row_tiles.divisor()) * kTile, column = (rest - place * column_tiles.divisor()) * kTile;
    const int near = thread() % kTile, line = thread() / kTile;
    int64_t to = 0, from = 0;
    box.locate(place, [&](int axis, int64_t position) {
      to += position * strides.y[axis];
      from += position * strides.x[axis];
    });
    ONNXC_UNROLL_DEVICE
    for (int k = 0; k < kTile; k += kLines) {
      const int64_t at = column + line + k;
      if (row + near < rows && at < columns) shared.tile[line + k][near] = x[from + at * x_column + row + near];
    }
    sync_block();
    ONNXC_UNROLL_DEVICE
    for (int k = 0; k < kTile; k += kLines) {
      const int64_t at = row + line + k;
      if (column + near < columns && at < rows) y[to + at * y_row + column + near] = shared.tile[near][line + k];
    }
    sync_block();  // before the tile is written again
  }
};

namespace detail {

struct CopyPlan {
  Shape shape;
  CopyStrides strides;
  /// The box without that axis.
  void remove(int axis) noexcept {
    for (int k = axis; k + 1 < shape.rank; ++k) {
      shape[k] = shape[k + 1];
      strides.y[k] = strides.y[k + 1];
      strides.x[k] = strides.x[k + 1];
    }
    --shape.rank;
  }
};

template <class T>
static void copy_each(Queue& gpu, T* y, const T* x, const CopyPlan& plan) noexcept {
  const int64_t count = plan.shape.count();
  launch(gpu, CopyEach<T>{count, Box(plan.shape, 0, plan.shape.rank), y, x, plan.strides}, grid_for(count, CopyEach<T>::kThreads));
}

/// Whether the last axis, along which both sides go, can be moved by runs of 16 bytes, and then `plan` by these.
template <class T>
bool by_packs(CopyPlan& plan, const void* y, const void* x) noexcept {
  constexpr int64_t kRun = 16 / static_cast<int64_t>(sizeof(T));
  const int last = plan.shape.rank - 1;
  if (kRun == 1 || plan.strides.y[last] != 1 || plan.strides.x[last] != 1) return false;
  bool fits =
      plan.shape[last] % kRun == 0 && reinterpret_cast<std::uintptr_t>(y) % 16 == 0 && reinterpret_cast<std::uintptr_t>(x) % 16 == 0;
  for (int axis = 0; axis < last; ++axis) fits = fits && plan.strides.y[axis] % kRun == 0 && plan.strides.x[axis] % kRun == 0;
  if (!fits) return false;
  plan.shape[last] /= kRun;
  for (int axis = 0; axis < last; ++axis) {
    plan.strides.y[axis] /= kRun;
    plan.strides.x[axis] /= kRun;
  }
  return true;
}

/// The axis along which x goes, where y goes along the last one, and both are long enough; else -1.
inline int turned_axis(const CopyPlan& plan) noexcept {
  constexpr int64_t kLong = 8;
  const int last = plan.shape.rank - 1;
  if (plan.strides.y[last] != 1 || plan.strides.x[last] == 1 || plan.shape[last] < kLong) return -1;
  for (int axis = 0; axis < last; ++axis) {
    if (plan.strides.x[axis] == 1 && plan.shape[axis] >= kLong) return axis;
  }
  return -1;
}

template <class T>
static void copy_turned(Queue& gpu, T* y, const T* x, CopyPlan plan, int axis) noexcept {
  using Kernel = CopyTurned<T>;
  const int last = plan.shape.rank - 1;
  const int64_t rows = plan.shape[axis], columns = plan.shape[last], y_row = plan.strides.y[axis], x_column = plan.strides.x[last];
  plan.remove(last);
  plan.remove(axis);
  const int64_t row_tiles = ceil_div(rows, Kernel::kTile), column_tiles = ceil_div(columns, Kernel::kTile);
  const int64_t tiles = row_tiles * column_tiles * plan.shape.count();
  launch(gpu,
         Kernel{rows, columns, FastDivide(row_tiles), FastDivide(column_tiles), tiles, Box(plan.shape, 0, plan.shape.rank), y, x,
                plan.strides, y_row, x_column},
         grid_for(tiles, 1));
}

}  // namespace detail

/// See the head of the file. The two sides do not overlap.
template <class T>
static void copy_strided(Queue& gpu, Shape shape, T* y, Ints y_strides, const T* x, Ints x_strides) noexcept {
  using Element = Moved<sizeof(T)>;
  detail::CopyPlan plan;
  plan.shape = shape;
  for (int axis = 0; axis < shape.rank; ++axis) {
    plan.strides.y[axis] = y_strides[axis];
    plan.strides.x[axis] = x_strides[axis];
  }
  if (plan.shape.rank == 0) plan = {{1}, {{1}, {1}}};
  if (plan.shape.count() <= 0) return;
  const auto to = reinterpret_cast<Element*>(y);
  const auto from = reinterpret_cast<const Element*>(x);
  if (const int turned = detail::turned_axis(plan); turned >= 0) detail::copy_turned(gpu, to, from, plan, turned);
  else if (detail::by_packs<T>(plan, y, x))
    detail::copy_each(gpu, reinterpret_cast<Moved<16>*>(y), reinterpret_cast<const Moved<16>*>(x), plan);
  else detail::copy_each(gpu, to, from, plan);
}

}  // namespace onnxc::gpu
