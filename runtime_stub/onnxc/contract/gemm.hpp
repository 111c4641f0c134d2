// Products (gemm.hpp, gemm_scaled.hpp, matmul.hpp): panels of weights and scratch memory.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// A matrix [k, n] in panels of nr columns, the last one filled up.
constexpr int64_t panels_floats(int64_t k, int64_t n, int64_t nr) { return round_up(n, nr) * k; }

/// Rows of the lower tiles that go with register tiles of `tile` rows. Two rows fewer cover any even number of rows together with whole tiles,
/// from a few tiles on, and are hardly slower. Tiles of more rows would leave a rest where there are less than five of them, so theirs are
/// half as high.
constexpr int64_t low_tile(int64_t tile) { return tile >= 6 && tile <= 10 ? tile - 2 : (tile + 1) / 2; }

/// How many tiles of either height compute `rows` rows, with as few surplus rows as possible, and then with as few tiles.
struct TileHeights {
  int64_t high, low;
  constexpr TileHeights(int64_t rows, int64_t tile) : high(rows / tile), low(lows(rows - high * tile, low_tile(tile))) {
    const int64_t height = low_tile(tile);
    for (int64_t fewer = high - 1; fewer >= 0 && high - fewer < height && high * tile + low * height > rows; --fewer) {
      const int64_t more = lows(rows - fewer * tile, height);
      if (fewer * tile + more * height < high * tile + low * height) high = fewer, low = more;
    }
  }
  static constexpr int64_t lows(int64_t rows, int64_t height) { return (rows + height - 1) / height; }
};

/// The rows that register tiles of both heights compute of a product of `rows` rows.
constexpr int64_t padded_rows(int64_t rows, int64_t tile) {
  const TileHeights tiles(rows, tile);
  return tiles.high * tile + tiles.low * low_tile(tile);
}

/// The same of kernels whose tiles are whole, but for one or two of half as many rows at the end.
constexpr int64_t half_padded_rows(int64_t rows, int64_t tile) { return rows / tile * tile + round_up(rows % tile, (tile + 1) / 2); }

/// Rows per block: as many whole tiles as take about half a MiB of a.
constexpr int64_t block_rows(int64_t k, int64_t tile) {
  const int64_t rows = (int64_t{1} << 17) / (k > 0 ? k : 1);
  return rows < tile * 4 ? tile * 4 : rows / tile * tile;
}

/// Scratch of a share that takes k in slices: the sums of a panel for the rows of a block.
constexpr int64_t slices_scratch(int64_t rows, int64_t nr) { return rows * nr; }

/// The pairs of a row of k values, for gemm_bf16, and the scratch of a share: a block of rows, in pairs.
constexpr int64_t bf16_pairs(int64_t k) { return (k + 1) / 2; }
constexpr int64_t bf16_scratch(int64_t rows, int64_t k) { return rows * bf16_pairs(k); }

/// Scratch of a share of gemm_scaled: all panels.
constexpr int64_t gemm_scaled_scratch(int64_t k, int64_t n, int64_t nr) { return panels_floats(k, n, nr); }

/// Scratch of a share of matmul: the panel that it packs. N is int64_t, or the compiler's type for extents that are
/// known only at run time.
template <class N>
constexpr N matmul_scratch(N k, int64_t nr) {
  return k * nr;
}

}  // namespace onnxc::contract
