// c[m, n] = epilogue(bias + a[m, k] b[k, n]): b is constant and packed into panels, a and c are row-major.
//
//   gemm<14, 2>(share, a, w, y, {.m = 128, .n = 384, .k = 384, .lda = 384, .ldc = 384, .bias = w_bias}, Epilogue<Relu>{});
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
// Rows that whole tiles would not cover exactly take lower tiles as well (contract::low_tile); surplus rows of the last one repeat the
// last row. Choose NV so that the last panel is full. Shares of the peak by shape and tile: docs/measurements/2026-11-kernels.md.
#pragma once
#include "contract/gemm.hpp"
#include "passed.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct GemmParams {
  Extent m, n, k;
  Extent lda = 0, ldc = 0;             // elements between rows
  const float* bias = nullptr;         // n values, padded to whole panels, or null
  const float* scales = nullptr;       // where b is of int8_t: n factors, padded to whole panels
  const float* weights_end = nullptr;  // where the constants of the steps after this one end; null: b's are the last
  Slices slices{};
};

namespace detail {

/// Multiplies `rows` rows, which begin at `a` and are rows `row` and on of c, by panels [first_panel, last_panel).
template <int MR, int NV, bool kPairs = false, class T, class Epi>
ONNXC_INLINE void gemm_block(int64_t row, int64_t rows, int64_t first_panel, int64_t last_panel, const float* a, const T* b, float* c,
                             float* sums, const GemmParams& p, TileOrder order, const Epi& epi) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const int64_t depth = kPairs ? int64_t{p.k} : p.slices.depth(p.k);
  Prefetcher ahead(b + contract::panels_floats(p.k, p.n, NR), p.weights_end);
  for (int64_t panel = first_panel; panel < last_panel; ++panel) {
    const auto bp = panel_of(b, p.scales, panel, p.k, NR);
    const int64_t col = panel * NR;
    const float* const bias = p.bias != nullptr ? p.bias + col : kZeros;
    for_each_slice(p.k, depth, [&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
      ahead.move(address_of(bp + to * NR), to - from, NR * int64_t{sizeof(T)} * MR / rows);
      const auto product = [&]<int R>(const auto& rows_of_a, int64_t i) ONNXC_INLINE_LAMBDA {
        Tile<R, NV, kPairs> tile;
        const auto at = [&](int64_t r) ONNXC_SMALL_LAMBDA { return sums + (i + r < rows ? i + r : rows - 1) * NR; };
        if constexpr (kPairs) tile.start(bias);
        else if (from == 0) tile.start(bias);
        else tile.load(at);
        tile.add(rows_of_a, to - from, bp + from * NR, ahead);
        ahead.advance(to - from);
        if (!kPairs && to < p.k) tile.store(at, rows - i);
        else tile.finish(c, p.ldc, col, rows - i, p.n - col, Consecutive{row + i}, epi);
      };
      for_each_tile<MR>(a + from, p.lda, rows, order, product);
    });
  }
}

}  // namespace detail

namespace detail {

/// The same on small cores, in numbers of their size: one loop over whole tiles, k in one go. A tile reads its last rows again where there
/// are no more.
template <int MR, int NV, class T, class Epi>
ONNXC_INLINE void gemm_small(Share::Range rows, Share::Range panels, const float* a, const T* b, float* c, const GemmParams& p,
                             const Epi& epi) {
  constexpr int NR = Tile<MR, NV>::NR;
  const auto lda = static_cast<std::ptrdiff_t>(p.lda), k = static_cast<std::ptrdiff_t>(p.k), end = static_cast<std::ptrdiff_t>(rows.end);
  if (rows.begin >= rows.end) return;
  const float* const last = a + (end - 1) * lda;
  for (auto panel = static_cast<std::ptrdiff_t>(panels.begin); panel < static_cast<std::ptrdiff_t>(panels.end); ++panel) {
    const auto bp = panel_of(b, p.scales, panel, k, NR);
    const std::ptrdiff_t col = panel * NR;
    const float* const bias = p.bias != nullptr ? p.bias + col : kZeros;
    for (auto row = static_cast<std::ptrdiff_t>(rows.begin); row < end; row += MR) {
      const float *anywhere[MR], *from = a + row * lda;
      for (const float*& of_row : anywhere) {
        of_row = from;
        if (from != last) from += lda;
      }
      Tile<MR, NV> tile;
      tile.multiply(bias, anywhere, k, bp, Prefetcher(address_of(bp)));
      tile.finish(c, p.ldc, col, end - row, p.n - col, Consecutive{row}, epi);
    }
  }
}

}  // namespace detail

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself.
template <int MR, int NV, bool kPairs = false, class T, class Epi = Epilogue<Keep>>
void gemm(Share share, const float* a, const T* b, float* c, Passed<GemmParams> p, Epi epi = {}) {
  constexpr int NR = Tile<MR, NV, kPairs>::NR;
  const detail::ProductShare own(share, p.m, p.n, p.k, MR, (p.n + NR - 1) / NR);
  if constexpr (ONNXC_MICRO && !kPairs) return detail::gemm_small<MR, NV>(own.rows, own.panels, a, b, c, p, epi);
  const TileOrder order(share, p.m * p.n);
  const int64_t block = detail::even_block(own.rows.end - own.rows.begin, p.slices.block(detail::block_rows(p.k, MR)));
  detail::for_each_block(own.rows, block, [&](int64_t row, int64_t rows) ONNXC_INLINE_LAMBDA {
    detail::gemm_block<MR, NV, kPairs>(row, rows, own.panels.begin, own.panels.end, a + row * p.lda, b, c, p.slices.sums, p, order, epi);
  });
}

}  // namespace onnxc
