// c[m, n] = epilogue(sums), sums = start + a[m, k] b[k, n], of bytes: a unsigned and row-major, b signed, constant and packed into panels.
//
//   gemm_quads<14, 2>(share, a, w, y, {.m = 128, .n = 384, .k = 384, .lda = 384, .ldc = 384, .start = w_start}, Epilogue<Requantise>{});
//
// b packed: [ceil(n / NR)][ceil(k / 4)][NR] quads, where quad s of a column holds rows 4 s to 4 s + 3, zeros beyond n and k
// (compiler/select/weights/pack.h). The schedule is that of gemm.hpp, without slices. Sums of 32 bits are exact, whatever the tile or the number
// of threads. A row of a may have any length and any address.
#pragma once
#include "contract/quads.hpp"
#include "quad_tile.hpp"
#include "tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct QuadGemmParams {
  int64_t m, n, k;                     // k in bytes
  int64_t lda = 0, ldc = 0;            // elements between rows
  const int32_t* start = nullptr;      // n values, or null
  const float* weights_end = nullptr;  // where the constants of the steps after this one end; null: b's are the last
};

namespace detail {

template <int MR, int NV, class Y, class Epi>
ONNXC_INLINE void gemm_quads_block(int64_t row, int64_t rows, Share::Range panels, const uint8_t* a, const Quad* b, Y* c,
                                   const QuadGemmParams& p, TileOrder order, Prefetcher& ahead, const Epi& epi) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const int64_t whole = p.k / 4, rest = p.k % 4, steps = contract::quads(p.k);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    const Quad* const bp = b + panel * steps * NR;
    ahead.move(bp + steps * NR, steps, NR * int64_t{sizeof(Quad)} * MR / rows);
    for_each_tile<MR>(rows, order, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA {
      QuadTile<R, NV> tile;
      tile.start(p.start != nullptr ? p.start + panel * NR : nullptr, p.n - panel * NR);
      const uint8_t* const first = a + i * p.lda;
      if (R == MR) {
        tile.add(EvenQuads{reinterpret_cast<const Quad*>(first), p.lda}, whole, bp, ahead);
      } else {
        const Quad* at[R];
        for (int64_t r = 0; r < R; ++r) at[r] = reinterpret_cast<const Quad*>(first + (i + r < rows ? r : rows - 1 - i) * p.lda);
        tile.add(static_cast<const Quad* const*>(at), whole, bp, ahead);
      }
      if (rest > 0) {
        const auto row_at = [&](int64_t r) {
          return reinterpret_cast<const Quad*>(first + (i + r < rows ? r : rows - 1 - i) * p.lda) + whole;
        };
        tile.add_part(row_at, rest, bp + whole * NR);
      }
      ahead.advance(steps);
      tile.finish(c, p.ldc, panel * NR, rows - i, p.n - panel * NR, [&](int64_t r) { return row + i + r; }, epi);
    });
  }
}

}  // namespace detail

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself.
template <int MR, int NV, class Y, class Epi = Epilogue<Keep>>
void gemm_quads(Share share, const uint8_t* a, const int8_t* b, Y* c, QuadGemmParams p, Epi epi = {}) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const int64_t quads = contract::quads(p.k);
  const detail::ProductShare own(share, p.m, p.n, quads, MR, (p.n + NR - 1) / NR);
  const TileOrder order(share, p.m * p.n * int64_t{sizeof(Y)} / 4);
  const auto* const weights = reinterpret_cast<const Quad*>(b);
  Prefetcher ahead(weights + (p.n + NR - 1) / NR * quads * NR, p.weights_end, kQuadsAhead);
  detail::for_each_block(own.rows, detail::block_rows(quads, MR), [&](int64_t row, int64_t rows) ONNXC_INLINE_LAMBDA {
    detail::gemm_quads_block<MR, NV>(row, rows, own.panels, a + row * p.lda, weights, c, p, order, ahead, epi);
  });
}

}  // namespace onnxc::inline ONNXC_ISA
