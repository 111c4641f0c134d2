// c[m, n] = epilogue(bias + a[m, k] b[k, n]): b is constant and packed into panels, a and c are row-major.
//
//   gemm<14, 2>(part, a, w, y, {.m = 128, .n = 384, .k = 384, .lda = 384, .ldc = 384, .bias = w_bias}, Epilogue<Relu>{});
//
// b packed: [ceil(n / NR)][k][NR] with NR = NV * Vec::width, 64-byte aligned, zeros beyond n
// (compiler/select/weights/pack.h). Its elements are floats, or of a narrower type that is read as the same floats and
// so gives the same results (stored.hpp). gemm<8, 2, true>: the last vector of a panel holds pairs (tile.hpp); k is
// then even, and there are no slices.
//
// One panel stays in L1 or L2 while tiles of MR rows run past it. Rows run in blocks that fit L2, so a is read from
// memory once. A tile prefetches the panels that come after its own, and the constants of the step after this one,
// which lie in the order of use. Each value is one chain of k multiply-adds in order, from the bias on, whatever the
// tile, the slices or the number of threads.
//
// A panel that is large against L2 would stream from L2 or beyond once for each tile of rows. Slices of k
// (GemmParams::slices) stay in L1 instead while the rows of a block run past, with the sums in memory between two
// slices. Then arithmetic and the stream of b bound the product.
//
// Rows beyond the last whole tile take one or two half tiles, whose surplus rows repeat the last row. So choose MR so
// that m % MR is 0 or near MR / 2 or MR, and NV so that the last panel is full. Shares of the peak by shape and tile:
// docs/measurements/2026-11-kernels.md.
#pragma once
#include "contract/gemm.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct GemmParams {
  int64_t m, n, k;
  int64_t lda = 0, ldc = 0;            // elements between rows
  const float* bias = nullptr;         // n values, padded to whole panels, or null
  const float* scales = nullptr;       // where b is of int8_t: n factors, padded to whole panels
  const float* weights_end = nullptr;  // where the constants of the steps after this one end; null: b's are the last
  Slices slices{};
};

namespace detail {

/// Rows per block: as many whole tiles as take about half a MiB of a.
constexpr int64_t block_rows(int64_t k, int64_t tile) {
  const int64_t rows = (int64_t{1} << 17) / (k > 0 ? k : 1);
  return rows < tile * 4 ? tile * 4 : rows / tile * tile;
}

/// Whether the parts of a product divide its rows, or else its panels. Rows are better where there are enough of them:
/// a thread then reads the rows that it made itself. But if the weights fit no L2, each thread should read as few of
/// them as it can.
constexpr bool share_rows(const Part& part, int64_t m, int64_t n, int64_t k, int64_t tile) {
  return m >= tile * part.count && (n <= m || n * k < int64_t{1} << 18);
}

/// Calls product.operator()<R>(rows of a, i) for rows i to i + R of a: tiles of MR in the given order, then tiles of
/// half as many rows. Surplus rows of the last tile repeat the last row.
template <int MR, class Product>
ONNXC_INLINE void for_each_tile(const float* a, int64_t lda, int64_t rows, TileOrder order, const Product& product) {
  constexpr int kHalf = (MR + 1) / 2;
  const int64_t tiles = rows / MR;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t i = order(t, tiles) * MR;
    product.template operator()<MR>(EvenRows{a + i * lda, lda}, i);
  }
  for (int64_t i = tiles * MR; i < rows; i += kHalf) {
    const float* anywhere[kHalf];
    for (int64_t r = 0; r < kHalf; ++r) anywhere[r] = a + (i + r < rows ? i + r : rows - 1) * lda;
    product.template operator()<kHalf>(static_cast<const float* const*>(anywhere), i);
  }
}

/// Multiplies `rows` rows, which begin at `a` and are rows `row` and on of c, by panels [first_panel, last_panel).
template <int MR, int NV, bool kPairs = false, class T, class Epi>
ONNXC_INLINE void gemm_block(int64_t row, int64_t rows, int64_t first_panel, int64_t last_panel, const float* a, const T* b, float* c,
                             float* sums, const GemmParams& p, TileOrder order, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const int64_t depth = kPairs ? p.k : p.slices.depth(p.k);
  Ahead ahead(b + contract::panels_floats(p.k, p.n, NR), p.weights_end);
  for (int64_t panel = first_panel; panel < last_panel; ++panel) {
    const auto bp = panel_of(b, p.scales, panel, p.k, NR);
    const int64_t col = panel * NR;
    const float* const bias = p.bias != nullptr ? p.bias + col : kZeros;
    int64_t from = 0, to = 0;
    do {
      to = from + depth < p.k ? from + depth : p.k;
      ahead.move(address_of(bp + to * NR), to - from, NR * int64_t{sizeof(T)} * MR / rows);
      const auto product = [&]<int R>(const auto& rows_of_a, int64_t i) ONNXC_INLINE_LAMBDA {
        Tile<R, NV, kPairs> tile;
        const auto at = [&](int64_t r) { return sums + (i + r < rows ? i + r : rows - 1) * NR; };
        if constexpr (kPairs) tile.start(bias);
        else if (from == 0) tile.start(bias);
        else tile.load(at);
        tile.add(rows_of_a, to - from, bp + from * NR, ahead);
        ahead.advance(to - from);
        if (!kPairs && to < p.k) tile.store(at, rows - i);
        else tile.finish(c, p.ldc, col, rows - i, p.n - col, Consecutive{row + i}, epi);
      };
      for_each_tile<MR>(a + from, p.lda, rows, order, product);
      from = to;
    } while (from < p.k);
  }
}

}  // namespace detail

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself.
template <int MR, int NV, bool kPairs = false, class T, class Epi = Epilogue<Keep>>
void gemm(Part part, const float* a, const T* b, float* c, GemmParams p, Epi epi = {}) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const int64_t panels = (p.n + NR - 1) / NR;
  const bool by_rows = detail::share_rows(part, p.m, p.n, p.k, MR);
  const auto [first, last] = by_rows ? part.slice(p.m, MR) : Part::Range{0, p.m};
  const auto [first_panel, last_panel] = by_rows ? Part::Range{0, panels} : part.slice(panels);
  const int64_t block = p.slices.block(detail::block_rows(p.k, MR));
  float* const sums = p.slices.sums;
  const TileOrder order(part, p.m * p.n);
  for (int64_t row = first; row < last; row += block) {
    detail::gemm_block<MR, NV, kPairs>(row, last - row < block ? last - row : block, first_panel, last_panel, a + row * p.lda, b, c, sums,
                                       p, order, epi);
  }
}

}  // namespace onnxc
