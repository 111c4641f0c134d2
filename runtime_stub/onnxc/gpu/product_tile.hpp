// A tile of a product in shared memory and registers. A block computes kRows x kCols, each of its warps kWarpRows x
// kWarpCols of them, from stages of 32 words of k: 128 bytes of each row of both sides. kStages of these are in flight.
//
// An m16n8 product takes words t and t + 4 of its 8 from lane t of four. Which words of k these are is all the same as long
// as both sides agree. So lane t takes words 4t .. 4t + 3 of a half stage in one access of 16 bytes, and has the operands of
// two products. There is no other layout of fragments, for no type:
//
//   k of a half stage:     0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13 14 15
//   lane t of four:            0      |     1      |     2      |      3
//   word of the product:   t  t+4       (first product: words 4t, 4t + 1; second: 4t + 2, 4t + 3)
//
// Chunks of 16 bytes of odd rows have their halves swapped (c ^ 4), so that eight lanes meet all 32 banks.
#pragma once
#include "product_kind.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

template <int rows, int cols, int warp_rows, int warp_cols, int stages>
struct Tile {
  static constexpr int kRows = rows, kCols = cols, kWarpRows = warp_rows, kWarpCols = warp_cols, kStages = stages;
  static constexpr int kWords = 32, kChunks = kWords / 4;
  static constexpr int kWarpsAcross = kCols / kWarpCols, kThreads = 32 * (kRows / kWarpRows) * kWarpsAcross;
  static constexpr int kM = kWarpRows / 16, kN = kWarpCols / 8;  // products of a warp
  static constexpr int kRowsAtOnce = kThreads / kChunks;         // that all threads copy 16 bytes of
  static constexpr int kOwnRows = kRows / kRowsAtOnce, kOwnCols = kCols / kRowsAtOnce;
  static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0 && kWarpRows % 16 == 0 && kWarpCols % 8 == 0);
  static_assert(kRows % kRowsAtOnce == 0 && kCols % kRowsAtOnce == 0 && kRowsAtOnce % 2 == 0 && kStages >= 2);
};

namespace detail {

template <class Tile>
struct Stages {
  alignas(128) uint32_t left[Tile::kStages][Tile::kRows][Tile::kWords];
  alignas(128) uint32_t right[Tile::kStages][Tile::kCols][Tile::kWords];
};

/// Where a thread's sums lie in the block's tile: sum [i][j][r] is at (row(i, r), col(j, r)).
template <class Tile>
struct Places {
  int first_row, first_col;
  ONNXC_DEVICE Places()
      : first_row(warp() / Tile::kWarpsAcross * Tile::kWarpRows + lane() / 4),
        first_col(warp() % Tile::kWarpsAcross * Tile::kWarpCols + lane() % 4 * 2) {}
  ONNXC_DEVICE int row(int i, int r) const { return first_row + i * 16 + r / 2 * 8; }
  ONNXC_DEVICE int col(int j, int r) const { return first_col + j * 8 + r % 2; }
};

/// The operands of the two products of a half stage, for a warp whose rows and columns begin at `left` and `right`.
template <int M, int N, int kWords>
ONNXC_DEVICE void read_half(uint32_t (&p)[2][M][4], uint32_t (&q)[2][N][2], const uint32_t (*left)[kWords], const uint32_t (*right)[kWords],
                            int half) {
  const int g = lane() / 4, at = ((half * 4 + lane() % 4) ^ (g & 1) * 4) * 4;  // rows g and g + 8 are odd together
  ONNXC_UNROLL_DEVICE
  for (int i = 0; i < M; ++i) {
    const Pack<uint32_t> upper = load(left[i * 16 + g] + at), lower = load(left[i * 16 + g + 8] + at);
    ONNXC_UNROLL_DEVICE
    for (int s = 0; s < 2; ++s) {
      p[s][i][0] = upper.at[2 * s];
      p[s][i][1] = lower.at[2 * s];
      p[s][i][2] = upper.at[2 * s + 1];
      p[s][i][3] = lower.at[2 * s + 1];
    }
  }
  ONNXC_UNROLL_DEVICE
  for (int j = 0; j < N; ++j) {
    const Pack<uint32_t> column = load(right[j * 8 + g] + at);
    ONNXC_UNROLL_DEVICE
    for (int s = 0; s < 2; ++s) {
      q[s][j][0] = column.at[2 * s];
      q[s][j][1] = column.at[2 * s + 1];
    }
  }
}

/// c += the product of a stage.
template <class Kind, int M, int N, int kWords>
ONNXC_DEVICE void multiply_stage(typename Kind::Sum (&c)[M][N][4], const uint32_t (*left)[kWords], const uint32_t (*right)[kWords]) {
  ONNXC_UNROLL_DEVICE
  for (int half = 0; half < 2; ++half) {
    uint32_t p[2][M][4], q[2][N][2];
    read_half(p, q, left, right, half);
    ONNXC_UNROLL_DEVICE
    for (int s = 0; s < 2; ++s) multiply<Kind>(c, p[s], q[s]);
  }
}

/// c += the product over stages [first, last). fetch(stage, to) copies a stage to place `to` of shared memory.
template <class Kind, class Tile, class Fetch>
ONNXC_DEVICE void multiply_tile(typename Kind::Sum (&c)[Tile::kM][Tile::kN][4], Stages<Tile>& shared, int first, int last, Fetch fetch) {
  constexpr int kStages = Tile::kStages;
  for (int s = 0; s < kStages - 1; ++s) {
    if (first + s < last) fetch(first + s, s);
    commit();
  }
  const int warp_row = warp() / Tile::kWarpsAcross * Tile::kWarpRows, warp_col = warp() % Tile::kWarpsAcross * Tile::kWarpCols;
  for (int stage = first; stage < last; ++stage) {
    wait<kStages - 2>();
    sync_block();
    if (stage + kStages - 1 < last) fetch(stage + kStages - 1, (stage - first + kStages - 1) % kStages);
    commit();
    const int from = (stage - first) % kStages;  // counters of their own would take the registers that large tiles lack
    const auto *const left = shared.left[from] + warp_row, *const right = shared.right[from] + warp_col;
    if constexpr (std::is_same_v<Kind, ThreeTf32>) {
      typename Kind::Sum part[Tile::kM][Tile::kN][4] = {};
      multiply_stage<Kind>(part, left, right);
      add_to(c, part);
    } else {
      multiply_stage<Kind>(c, left, right);
    }
  }
  wait<0>();
}

}  // namespace detail
}  // namespace onnxc::gpu
