// c[b, m, n] = epilogue((a[b, m, k] - a_zero) (b[b, k, n] - b_zero)), of bytes that are both made at run time, for a batch of matrices: matmul.hpp with quads
// of bytes (quad_tile.hpp) in the place of floats.
//
//   matmul_quads<14, 2>(share, q, k, s, panel, q_zero, k_zero, {.m = 128, .n = 128, .k = 64, .lda = 64, .ldb = 128, .ldc = 128, .batch = {1, 12},
//                       .a_batch = {98304, 8192}, .b_batch = {98304, 8192}, .c_batch = {196608, 16384}}, Epilogue<Requantise>{});
//
// `dot` takes signed bytes on the right: b goes into a panel as b - 128. With B = b - 128 and z = b_zero - 128, a sum is
//
//   sum (a - a_zero) (B - z)  =  sum a B  -  z sum a  -  a_zero sum B  +  k z a_zero
//
// where sums of rows of a and of columns of B are found on the way. a_zero and b_zero point to one value each, or are null for 0. panel:
// 4 * contract::quads(k) * NR bytes of this share, 64-byte aligned. The epilogue sees row = batch * m + i of [batches * m, n].
#pragma once
#include "contract/quads.hpp"
#include "quad_tile.hpp"
#include "strided.hpp"
#include "sum_bytes.hpp"

namespace onnxc::inline ONNXC_ISA {

struct QuadMatMulParams {
  int64_t m, n, k;        // k in bytes
  int64_t lda, ldb, ldc;  // elements between rows
  Shape batch = {};
  Ints a_batch = {}, b_batch = {}, c_batch = {};  // strides of the matrices for each axis of `batch`
};

namespace detail {

/// Packs columns [0, n) of b, less 128, as a panel of k steps in quads, zeros beyond n and k, and adds up its columns.
template <int NV>
ONNXC_INLINE void pack_quad_panel(const uint8_t* b, int64_t ldb, int64_t k, int64_t n, int32_t* panel, IntVec (&sums)[NV]) {
  constexpr int W = Vec::width;
  const IntVec ones = IntVec::all(0x01010101);
  ONNXC_UNROLL for (IntVec& s : sums) s = IntVec::all(0);
  for (int64_t step = 0; step < k; step += 4, panel += NV * W) {
    const int64_t rows = min_of(k - step, 4);
    const auto flip = static_cast<int32_t>(rows == 4 ? 0x80808080u : 0x80808080u >> 8 * (4 - rows));
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      IntVec quads = IntVec::all(0);
      const int64_t columns = n - j * W;
      for (int64_t r = 0; r < rows && columns > 0; ++r) {
        const uint8_t* const row = b + (step + r) * ldb + j * W;
        const IntVec bytes = columns >= W ? load_whole(row).lanes : load_whole(row, columns).lanes;
        quads = quads | (bytes << static_cast<int>(8 * r));
      }
      quads = quads ^ IntVec::all(flip);
      onnxc::store(Whole<int32_t>{quads}, panel + j * W);
      sums[j] = dot(sums[j], ones, quads);
    }
  }
}

}  // namespace detail

/// See the head of the file. c overlaps neither a nor b; operands of the epilogue may be c itself.
template <int MR, int NV, class Y, class Epi = Epilogue<Keep>>
void matmul_quads(Share share, const uint8_t* a, const uint8_t* b, Y* c, uint8_t* panel, const uint8_t* a_zero, const uint8_t* b_zero,
                  QuadMatMulParams p, Epi epi = {}) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  const int64_t panels = (p.n + NR - 1) / NR, batches = p.batch.count(), whole = p.k / 4, rest = p.k % 4;
  const int32_t za = a_zero != nullptr ? *a_zero : 0, z = (b_zero != nullptr ? *b_zero : 0) - 128;
  auto* const packed = reinterpret_cast<int32_t*>(panel);
  const auto* const quads = reinterpret_cast<const Quad*>(panel);
  const auto [first, last] = share.slice(batches * panels);
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t batch = unit / panels, col = unit % panels * NR;
    const uint8_t* const am = a + strided_offset(p.batch, p.batch.rank, p.a_batch, batch);
    const uint8_t* const bm = b + strided_offset(p.batch, p.batch.rank, p.b_batch, batch) + col;
    // Rows are counted through all batches: row `batch * m` of the output lies where this matrix begins.
    Y* const cm = c + (strided_offset(p.batch, p.batch.rank, p.c_batch, batch) - batch * p.m * p.ldc);
    IntVec columns[NV];
    detail::pack_quad_panel<NV>(bm, p.ldb, p.k, p.n - col, packed, columns);
    alignas(64) int32_t start[NR];
    const IntVec both = IntVec::all(static_cast<int32_t>(p.k * z * za)), by = IntVec::all(za);
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) onnxc::store(Whole<int32_t>{both - columns[j] * by}, start + j * Vec::width);
    detail::for_each_tile<MR>(p.m, TileOrder{}, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA {
      const auto row = [&](int64_t r) ONNXC_INLINE_LAMBDA { return am + (i + r < p.m ? i + r : p.m - 1) * p.lda; };
      QuadTile<R, NV> tile;
      tile.start(start, NR);
      if (z != 0) {
        ONNXC_UNROLL for (int r = 0; r < R; ++r) {
          const IntVec term = IntVec::all(static_cast<int32_t>(int64_t{z} * detail::sum_of_bytes(row(r), p.k)));
          ONNXC_UNROLL for (int j = 0; j < NV; ++j) tile.acc[r][j] = tile.acc[r][j] - term;
        }
      }
      if (R == MR) {
        tile.add(EvenQuads{reinterpret_cast<const Quad*>(row(0)), p.lda}, whole, quads);
      } else {
        const Quad* at[R];
        for (int64_t r = 0; r < R; ++r) at[r] = reinterpret_cast<const Quad*>(row(r));
        tile.add(static_cast<const Quad* const*>(at), whole, quads);
      }
      if (rest > 0) tile.add_part([&](int64_t r) { return reinterpret_cast<const Quad*>(row(r)) + whole; }, rest, quads + whole * NR);
      tile.finish(cm, p.ldc, col, p.m - i, p.n - col, [&](int64_t r) { return batch * p.m + i + r; }, epi);
    });
  }
}

}  // namespace onnxc::inline ONNXC_ISA
