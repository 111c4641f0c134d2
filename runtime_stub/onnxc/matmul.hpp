// c[b, m, n] = epilogue(a[b, m, k] b[b, k, n]), both operands made at run time, for a batch of matrices.
//
//   matmul<14, 2, kTransposed>(share, q, k, s, panel, {.m = 128, .n = 128, .k = 64, .lda = 768, .ldb = 768, .ldc = 128,
//                              .batch = {1, 12}, .a_batch = {98304, 64}, .b_batch = {98304, 64}, .c_batch = {196608,
//                              16384}}, Epilogue<Scale>{});
//
// b is [k, n], or [n, k] where kTransposed. Rows of a, b and c are contiguous; their pitches and the places of the
// matrices are free, so heads are split and merged by strides alone. Each panel of b is packed into `panel` once and
// used by all rows of a. Where a has at most one tile of rows, b is read in place, and a transposed b by dot products.
// panel: matmul_scratch floats of this share, 64-byte aligned. The epilogue sees row = batch * m + i of [batches * m,
// n].
#pragma once
#include "contract/gemm.hpp"
#include "passed.hpp"
#include "strided.hpp"
#include "tile.hpp"
#include "transpose.hpp"

namespace onnxc::inline ONNXC_ISA {

struct MatMulParams {
  Extent m, n, k;
  Extent lda, ldb, ldc;
  Shape batch = {};
  Ints a_batch = {}, b_batch = {}, c_batch = {};  // strides of the matrices for each axis of `batch`
};

constexpr bool kTransposed = true;

constexpr int64_t matmul_scratch(int64_t k, int64_t nr) { return contract::matmul_scratch(k, nr); }

namespace detail {

/// Packs columns [0, n) of b as one panel [k][NR], with zeros beyond n.
template <int NR, bool transposed>
ONNXC_INLINE void pack_panel(const float* b, int64_t ldb, int64_t k, int64_t n, float* panel) {
  if constexpr (transposed) {
    for (int64_t s = 0; s < k; s += Vec::width) {
      const int64_t rows = k - s < Vec::width ? k - s : Vec::width;
      for (int64_t j = 0; j < NR; j += Vec::width) {
        const int64_t cols = n - j < Vec::width ? n - j : Vec::width;
        if (cols == Vec::width) {
          transpose_block(b + j * ldb + s, panel + s * NR + j, rows, cols, ldb, NR);
          continue;
        }
        for (int64_t i = 0; i < rows; ++i) Vec::all(0.0f).store(panel + (s + i) * NR + j);
        if (cols > 0) transpose_block(b + j * ldb + s, panel + s * NR + j, rows, cols, ldb, NR);
      }
    }
  } else {
    for (int64_t s = 0; s < k; ++s) {
      for (int64_t j = 0; j < NR; j += Vec::width) {
        const int64_t cols = n - j < Vec::width ? n - j : Vec::width;
        (cols <= 0            ? Vec::all(0.0f)
         : cols == Vec::width ? Vec::load(b + s * ldb + j)
                              : Vec::load(b + s * ldb + j, cols))
            .store(panel + s * NR + j);
      }
    }
  }
}

/// Lane i is the sum over the lanes of x[i].
ONNXC_INLINE Vec sums_of(Vec (&x)[Vec::width]) {
  ONNXC_UNROLL for (int half = Vec::width / 2; half > 0; half /= 2) {
    ONNXC_UNROLL for (int i = 0; i < half; ++i) x[i] = zip<false>(x[i], x[i + half]) + zip<true>(x[i], x[i + half]);
  }
  return x[0];
}

/// A row of dot products: y[j] = a . b[j] for j in [0, n), as many rows of b at a time as a vector has lanes, then four.
ONNXC_INLINE void dot_rows(const float* a, const float* b, int64_t ldb, int64_t k, int64_t n, float* y) {
  int64_t j = 0;
  if constexpr (Vec::width >= 4 && !ONNXC_MICRO) {
    for (; j + Vec::width <= n; j += Vec::width) {
      const float* const rows = b + j * ldb;
      Vec acc[Vec::width];
      ONNXC_UNROLL for (Vec& sum : acc) sum = Vec::all(0.0f);
      int64_t s = 0;
      for (; s + Vec::width <= k; s += Vec::width) {
        const Vec v = Vec::load(a + s);
        ONNXC_UNROLL for (int u = 0; u < Vec::width; ++u) acc[u] = fma(v, Vec::load(rows + u * ldb + s), acc[u]);
      }
      if (s < k) {
        const Vec v = Vec::load(a + s, k - s);
        ONNXC_UNROLL for (int u = 0; u < Vec::width; ++u) acc[u] = fma(v, Vec::load(rows + u * ldb + s, k - s), acc[u]);
      }
      sums_of(acc).store(y + j);
    }
  }
  for (; j < n; j += 4) {
    const float* rows[4];
    for (int64_t u = 0; u < 4; ++u) rows[u] = b + (j + u < n ? j + u : j) * ldb;
    Vec acc[4] = {Vec::all(0.0f), Vec::all(0.0f), Vec::all(0.0f), Vec::all(0.0f)};
    int64_t s = 0;
    for (; s + Vec::width <= k; s += Vec::width) {
      const Vec v = Vec::load(a + s);
      ONNXC_UNROLL for (int u = 0; u < 4; ++u) acc[u] = fma(v, Vec::load(rows[u] + s), acc[u]);
    }
    if (s < k) {
      const Vec v = Vec::load(a + s, k - s);
      ONNXC_UNROLL for (int u = 0; u < 4; ++u) acc[u] = fma(v, Vec::load(rows[u] + s, k - s), acc[u]);
    }
    ONNXC_UNROLL for (int u = 0; u < 4; ++u) {
      if (j + u < n) y[j + u] = sum(acc[u]);
    }
  }
}

/// Multiplies all rows of one matrix by one panel of b, packed or in place. `row`: the first row in c.
template <int MR, int NV, class Epi>
ONNXC_INLINE void matmul_rows(const float* a, const float* b, int64_t b_row, float* c, int64_t row, int64_t col, const MatMulParams& p,
                              const Epi& epi) {
  const Prefetcher ahead(b);
  for_each_tile<MR>(a, p.lda, p.m, TileOrder{}, [&]<int R>(const auto& rows_of_a, int64_t i) ONNXC_INLINE_LAMBDA {
    Tile<R, NV> tile;
    tile.start(kZeros);
    tile.add(rows_of_a, p.k, b, ahead, b_row);
    tile.finish(c, p.ldc, col, R == MR && !ONNXC_MICRO ? MR : p.m - i, p.n - col, Consecutive{row + i}, epi);
  });
}

}  // namespace detail

/// See the head of the file. c overlaps neither a nor b; operands of the epilogue may be c itself.
template <int MR, int NV, bool transposed = false, class Epi = Epilogue<Keep>>
void matmul(Share share, const float* a, const float* b, float* c, float* panel, Passed<MatMulParams> p, Epi epi = {}) {
  constexpr int NR = NV * Vec::width;
  const int64_t panels = (p.n + NR - 1) / NR, batches = p.batch.count();
  const bool in_place = p.m <= MR;
  const auto [first, last] = share.slice(batches * panels);
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t batch = unit / panels, col = unit % panels * NR, columns = p.n - col < NR ? p.n - col : NR;
    const float* const am = a + strided_offset(p.batch, p.batch.rank, p.a_batch, batch);
    const float* const bm = b + strided_offset(p.batch, p.batch.rank, p.b_batch, batch) + col * (transposed ? int64_t{p.ldb} : 1);
    // Rows are counted through all batches: row `batch * m` of the output lies where this matrix begins.
    float* const cm = c + (strided_offset(p.batch, p.batch.rank, p.c_batch, batch) - batch * p.m * p.ldc);
    if constexpr (transposed) {
      if (in_place && p.m < 8 && !kReproducible) {  // sums by lanes
        for (int64_t i = 0; i < p.m; ++i) {
          alignas(64) float dots[NR];
          detail::dot_rows(am + i * p.lda, bm, p.ldb, p.k, columns, dots);
          const int64_t row = batch * p.m + i;
          finish_row(epi, dots, row, col, cm + row * p.ldc + col, columns);
        }
        continue;
      }
    }
    const bool direct = in_place && !transposed && columns == NR;
    if (!direct) detail::pack_panel<NR, transposed>(bm, p.ldb, p.k, columns, panel);
    const float* const bp = direct ? bm : panel;
    detail::matmul_rows<MR, NV>(am, bp, direct ? int64_t{p.ldb} : NR, cm, batch * p.m, col, p, epi);
  }
}

}  // namespace onnxc
