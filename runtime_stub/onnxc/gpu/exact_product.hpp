// Products by multiply-adds, one after the other in ascending order of k, as a loop over k would compute them: for
// --math=strict, and for types and strides that tensor cores do not take.
//
// A block computes 64 x 64 results, a thread 4 x 4 of them, from 16 steps of k in shared memory; the next 16 come to
// registers meanwhile. Threads read along k, or along rows where these lie closer.
//
//   Left  Row row(row)               what is known of a row of the left side; row is 64-bit
//         T value(row, k)            zero where there is nothing
#pragma once
#include <cmath>

#include "../expr.hpp"
#include "../types.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu::detail {

/// What sums of products of T are kept in: halves in f32, integers modulo 2^32 or 2^64.
template <class T>
struct ExactSum {
  using Type = float;
};
template <>
struct ExactSum<double> {
  using Type = double;
};
template <class T>
  requires std::is_integral_v<T>
struct ExactSum<T> {
  using Type = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
};

ONNXC_DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
ONNXC_DEVICE double multiply_add(double a, double b, double c) { return ::fma(a, b, c); }
ONNXC_DEVICE int32_t multiply_add(int32_t a, int32_t b, int32_t c) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) + static_cast<uint32_t>(c));
}
ONNXC_DEVICE int64_t multiply_add(int64_t a, int64_t b, int64_t c) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) + static_cast<uint64_t>(c));
}

/// Rows of k at any strides, in elements.
template <class T>
struct AnyRows {
  using Element = T;
  using Row = const T*;
  const T* data;
  int64_t stride, step;
  ONNXC_DEVICE AnyRows moved(int64_t elements) const { return {data + elements, stride, step}; }
  ONNXC_DEVICE Row row(int64_t i) const { return data + i * stride; }
  ONNXC_DEVICE T value(Row row, int64_t k) const { return row[k * step]; }
  ONNXC_DEVICE bool along_rows() const { return stride == 1 && step != 1; }
};

/// Matrices of a product lie at z = outer * inner + i, where each moves by its own steps, in elements.
struct ExactSizes {
  int64_t m, n, k, y_stride;
  int64_t inner, a_inner, a_outer, b_inner, b_outer, y_inner, y_outer;
  int64_t row_step, col_step;  ///< for the epilogue, from one matrix to the next
  int row_tiles, col_tiles;
};

template <class Left, class Right, class Y, class Epilogue>
struct ExactProduct {
  static constexpr int kThreads = 256, kTile = 64, kDepth = 16, kOwn = kTile * kDepth / kThreads, kAcross = 4;
  using Sum = typename ExactSum<typename Left::Element>::Type;
  struct Shared {
    alignas(16) Sum a[kDepth][kTile + 4], b[kDepth][kTile + 4];
  };
  Y* y;
  Left a;
  Right b;
  ExactSizes size;
  int64_t first_z;
  Epilogue epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int plane = size.row_tiles * size.col_tiles, in_grid = block().x / plane, tile = block().x - in_grid * plane;
    const int64_t z = first_z + in_grid, outer = z / size.inner, inner = z - outer * size.inner;
    const int64_t first_row = static_cast<int64_t>(tile / size.col_tiles) * kTile,
                  first_col = static_cast<int64_t>(tile % size.col_tiles) * kTile;
    const Left left = a.moved(inner * size.a_inner + outer * size.a_outer);
    const Right right = b.moved(inner * size.b_inner + outer * size.b_outer);
    const Loader<Left> rows(left, first_row, size.m);
    const Loader<Right> cols(right, first_col, size.n);
    const int top = thread() / 16 * kAcross, left_col = thread() % 16 * kAcross;

    Sum c[kAcross][kAcross] = {}, next_a[kOwn], next_b[kOwn];
    rows.read(next_a, 0, size.k);
    cols.read(next_b, 0, size.k);
    for (int64_t k = 0; k < size.k; k += kDepth) {
      rows.write(shared.a, next_a);
      cols.write(shared.b, next_b);
      sync_block();
      if (k + kDepth < size.k) {
        rows.read(next_a, k + kDepth, size.k);
        cols.read(next_b, k + kDepth, size.k);
      }
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kDepth; ++i) step(c, shared, i, top, left_col);  // beyond the end of k, both sides are zeros
      sync_block();
    }

    Y* const to = y + inner * size.y_inner + outer * size.y_outer;
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < kAcross; ++i) {
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kAcross; ++j) {
        const int64_t row = first_row + top + i, col = first_col + left_col + j;
        if (row >= size.m || col >= size.n) continue;
        to[row * size.y_stride + col] = static_cast<Y>(
            epilogue(Scalar{}, c[i][j], [&](const auto& form) { return *form.at(z * size.row_step + row, z * size.col_step + col); }));
      }
    }
  }

 private:
  static ONNXC_DEVICE void step(Sum (&c)[kAcross][kAcross], const Shared& shared, int i, int top, int left_col) {
    Sum p[kAcross], q[kAcross];
    constexpr int kPack = 16 / sizeof(Sum);
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < kAcross; r += kPack) {
      const Pack<Sum> of_a = load(&shared.a[i][top + r]), of_b = load(&shared.b[i][left_col + r]);
      ONNXC_UNROLL_DEVICE
      for (int e = 0; e < kPack; ++e) {
        p[r + e] = of_a.at[e];
        q[r + e] = of_b.at[e];
      }
    }
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < kAcross; ++r) {
      ONNXC_UNROLL_DEVICE
      for (int s = 0; s < kAcross; ++s) c[r][s] = multiply_add(p[r], q[s], c[r][s]);
    }
  }

  /// What a thread brings of 16 steps of k of 64 rows: kOwn elements.
  template <class Side>
  struct Loader {
    const Side& side;
    int row, k, row_step, k_step;  // of the first element, and from one to the next
    typename Side::Row rows[kOwn];
    bool valid[kOwn];

    ONNXC_DEVICE Loader(const Side& from, int64_t first, int64_t end) : side(from) {
      const bool along = side.along_rows();
      row = along ? thread() % kTile : thread() / kDepth;
      k = along ? thread() / kTile : thread() % kDepth;
      row_step = along ? 0 : kThreads / kDepth;
      k_step = along ? kThreads / kTile : 0;
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kOwn; ++i) {
        valid[i] = first + row + i * row_step < end;
        rows[i] = side.row(valid[i] ? first + row + i * row_step : first);
      }
    }
    ONNXC_DEVICE void read(Sum (&to)[kOwn], int64_t first, int64_t end) const {
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kOwn; ++i) {
        const int64_t at = first + k + i * k_step;
        to[i] = valid[i] && at < end ? static_cast<Sum>(side.value(rows[i], at)) : Sum{};
      }
    }
    ONNXC_DEVICE void write(Sum (&to)[kDepth][kTile + 4], const Sum (&from)[kOwn]) const {
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kOwn; ++i) to[k + i * k_step][row + i * row_step] = from[i];
    }
  };
};

/// Enqueues `count` products, as many at once as a grid has room for.
template <class Kernel>
static void launch_exact(Queue& gpu, Kernel kernel, int64_t count) noexcept {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const int64_t plane = ceil_div(kernel.size.m, Kernel::kTile) * ceil_div(kernel.size.n, Kernel::kTile);
  if (plane <= 0 || count <= 0) return;
  if (plane > kMost) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "a product of too many tiles"}; });
  kernel.size.row_tiles = static_cast<int>(ceil_div(kernel.size.m, Kernel::kTile));
  kernel.size.col_tiles = static_cast<int>(ceil_div(kernel.size.n, Kernel::kTile));
  for (kernel.first_z = 0; kernel.first_z < count; kernel.first_z += kMost / plane) {
    launch(gpu, kernel, Index{static_cast<int>(min_of(count - kernel.first_z, kMost / plane) * plane), 1, 1});
  }
}

}  // namespace onnxc::gpu::detail
