// Makes operands of products: rows of k that begin at multiples of 16 bytes and end in zeros (contract/gpu.hpp), from a
// matrix at any strides.
//
//   pack_rows(gpu, to, b, {.rows = n, .k = k, .to_stride = 64, .from_row = 1, .from_k = n});      // b is [k][n]
//
// to[z][row][i] = from[z][row * from_row + i * from_k] for i < k, and zero from there to to_stride. Elements are of any type,
// and moved by their bits. `to` begins at a multiple of 16 bytes, as do its rows. They do not overlap.
//
// Where k does not move by one in `from`, tiles of 32 x 32 pass through shared memory: threads read along rows, and write
// along k.
#pragma once
#include "../contract/gpu.hpp"
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Strides and steps in elements; z = outer * batch + i.
struct PackRowsParams {
  int64_t rows, k;
  int64_t to_stride;  ///< a multiple of 16 bytes, at least k; to[z] begins z * rows * to_stride elements after to
  int64_t from_row, from_k;
  int64_t batch = 1, from_batch = 0;
  int64_t outer = 1, from_outer = 0;
};

namespace detail {

/// Where matrix z of `from` begins.
ONNXC_DEVICE int64_t packed_from(const PackRowsParams& p, int64_t z) {
  const int64_t outer = z / p.batch;
  return outer * p.from_outer + (z - outer * p.batch) * p.from_batch;
}

/// A thread packs 16 bytes at a time.
template <class T>
struct PackRowsAlong {
  static constexpr int kThreads = 256;
  struct Shared {};
  T* to;
  const T* from;
  PackRowsParams p;

  ONNXC_DEVICE void operator()(Shared&) const {
    constexpr int kAtOnce = 16 / sizeof(T);
    const int64_t chunks = p.to_stride / kAtOnce, all = p.outer * p.batch * p.rows * chunks,
                  step = static_cast<int64_t>(blocks().x) * kThreads;
    for (int64_t at = static_cast<int64_t>(block().x) * kThreads + thread(); at < all; at += step) {
      const int64_t line = at / chunks, first = (at - line * chunks) * kAtOnce, z = line / p.rows, row = line - z * p.rows;
      const T* const x = from + packed_from(p, z) + row * p.from_row;
      Pack<T> out{};
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i < p.k) out.at[i] = x[(first + i) * p.from_k];
      }
      store(to + at * kAtOnce, out);
    }
  }
};

template <class T>
struct PackRowsAcross {
  static constexpr int kThreads = 256, kTile = 32, kLinesAtOnce = kThreads / kTile;
  struct Shared {
    T tile[kTile][kTile + 1];
  };
  T* to;
  const T* from;
  PackRowsParams p;
  int64_t row_tiles, k_tiles;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int across = thread() % kTile, line = thread() / kTile;
    for (int64_t at = block().x; at < p.outer * p.batch * row_tiles * k_tiles; at += blocks().x) {
      const int64_t k_tile = at / row_tiles % k_tiles, z = at / (row_tiles * k_tiles);
      const int64_t first_row = at % row_tiles * kTile, first_k = k_tile * kTile;
      const T* const x = from + packed_from(p, z);
      ONNXC_UNROLL_DEVICE
      for (int i = line; i < kTile; i += kLinesAtOnce) {
        const int64_t row = first_row + across, k = first_k + i;
        shared.tile[i][across] = row < p.rows && k < p.k ? x[row * p.from_row + k * p.from_k] : T{};
      }
      sync_block();
      ONNXC_UNROLL_DEVICE
      for (int i = line; i < kTile; i += kLinesAtOnce) {
        const int64_t row = first_row + i, k = first_k + across;
        if (row < p.rows && k < p.to_stride) to[(z * p.rows + row) * p.to_stride + k] = shared.tile[across][i];
      }
      sync_block();  // before the next tile lies there
    }
  }
};

}  // namespace detail

template <class T>
static void pack_rows(Queue& gpu, T* to, const T* from, const PackRowsParams& p) noexcept {
  const int64_t elements = p.outer * p.batch * p.rows * p.to_stride;
  if (elements <= 0) return;
  if (p.from_k == 1) {
    const int64_t threads = elements * static_cast<int64_t>(sizeof(T)) / 16;
    return launch(gpu, detail::PackRowsAlong<T>{to, from, p}, grid_for(threads, detail::PackRowsAlong<T>::kThreads));
  }
  using Kernel = detail::PackRowsAcross<T>;
  const Kernel kernel{to, from, p, ceil_div(p.rows, Kernel::kTile), ceil_div(p.to_stride, Kernel::kTile)};
  launch(gpu, kernel, grid_for(p.outer * p.batch * kernel.row_tiles * kernel.k_tiles, 1));
}

}  // namespace onnxc::gpu
