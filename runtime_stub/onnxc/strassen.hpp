// gemm by one level of Strassen's product in Winograd's form: 7 products of half the size in each direction instead of
// 8.
//
//   strassen<8, 2>(share, a, w, y, sums, {.m = 392, .n = 128, .k = 512, .lda = 512, .ldc = 128}, 196, 16);
//
//     a = A11 A12    S1 = A21 + A22    b = B11 B12    T1 = B12 - B11    U = A11 B11           V = S1 T1
//         A21 A22    S2 = S1 - A11         B21 B22    T2 = B22 - T1     C11 = U + A12 B21     C12 = U + V + S4 B22
//                    S3 = A11 - A21                   T3 = B22 - B12    U = U + S2 T2         C22 = U + V
//                    S4 = A12 - S2                    T4 = B21 - T2     U = U + S3 T3         C21 = U + A22 T4
//
// T is made at compile time, in double; S is made at run time for a block of rows. A tile of accumulators goes from
// product to product in registers, in three stages. Each stage runs past the rows of half a block while its panels stay
// in the cache:
//
//   1. A11 B11 is U, and goes on to C11.
//   2. U goes on by S2 T2, S1 T1 (now V) and S4 B22 to C12.
//   3. S3 T3 and V are C22, and go on with U + S2 T2 instead of V by A22 T4 to C21.
//
// b packed: [ceil(n / 2 NR)][B11 B21 T2 T1 B22 T3 T4][k / 2][NR] (pack::strassen), in the order of use. That is 7/4 of
// its size. The second half of the columns starts at a whole panel. k is even. Blocks have `block` rows, counted from
// each multiple of `sample` on; the last block before the next multiple may have fewer. They depend on nothing but the
// call, so each value is the same for any number of threads. sums: strassen_scratch floats of this share, 64-byte
// aligned.
//
// Blocks of one or two tiles' height are best where the weights stay in L2. To make S takes time like m k, and to store
// c and to keep U and V like m n, so products of few columns or of small k gain less than the eighth that is saved.
// Times: docs/measurements/2026-11-kernels.md.
//
// Values are added that the product keeps apart: a row in the upper half of a block and one in the lower. An error is
// relative to the larger of the two, and 2.2 to 2.9 times gemm's (root mean square, random values, all or positive
// ones; k from 64 to 1536). A block with an infinity or NaN, or with a pair of rows whose sums of squares are far
// apart, is multiplied as gemm does. All of b is there for that but B12, which is T1 + B11. References: V. Strassen
// 1969; S. Winograd 1971.
#pragma once
#include "contract/strassen.hpp"
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// The rows of a block as its tiles take them: those of its upper half. The last tile may be half as high, and its
/// surplus rows repeat the last one. There are at most contract::strassen_rows of them, for which scratch has room.
template <int MR>
struct StrassenRows {
  int64_t rows, upper = (rows + 1) / 2, lower = rows - upper,
                whole = lower / MR * MR;  // whole: rows of tiles that lack none, above or below

  ONNXC_INLINE int64_t padded() const {
    constexpr int kHalf = (MR + 1) / 2;
    const int64_t rest = upper % MR;
    return upper + (rest == 0 ? 0 : rest <= kHalf ? kHalf - rest : MR - rest);
  }
};

/// How far the sums of squares of two rows that are added to each other may be apart.
constexpr float kStrassenSpread = 512;

/// Makes S2, S1, S4 and S3 of a block: planes of `padded` rows. Behind them it copies A11, A12 and A22 of the rows
/// after the whole tiles. Returns whether sums of these rows would spoil a product.
template <int MR>
ONNXC_INLINE bool strassen_sums(const float* a, int64_t lda, StrassenRows<MR> block, int64_t depth, float* sums, int64_t pitch) {
  const int64_t padded = block.padded(), plane = padded * pitch;
  bool apart = false;
  for (int64_t i = 0; i < padded; ++i) {
    Vec upper = Vec::all(0.0f), lower = Vec::all(0.0f);  // squares
    const float* const top = a + (i < block.upper ? i : block.upper - 1) * lda;
    const float* const bottom = a + (block.upper + i < block.rows ? block.upper + i : block.rows - 1) * lda;
    const auto sum = [&](int64_t k, auto... lanes) ONNXC_INLINE_LAMBDA {
      const Vec a11 = Vec::load(top + k, lanes...), a21 = Vec::load(bottom + k, lanes...), a12 = Vec::load(top + depth + k, lanes...),
                a22 = Vec::load(bottom + depth + k, lanes...);
      upper = fma(a12, a12, fma(a11, a11, upper));
      lower = fma(a22, a22, fma(a21, a21, lower));
      const Vec s1 = a21 + a22, s2 = s1 - a11;
      float* const s = sums + i * pitch + k;
      s2.store(s);
      s1.store(s + plane);
      (a12 - s2).store(s + 2 * plane);
      (a11 - a21).store(s + 3 * plane);
    };
    const auto copy = [&](int64_t k, auto... lanes) ONNXC_INLINE_LAMBDA {
      float* const s = sums + 4 * plane + (i - block.whole) * pitch + k;
      Vec::load(top + k, lanes...).store(s);
      Vec::load(top + depth + k, lanes...).store(s + MR * pitch);
      Vec::load(bottom + depth + k, lanes...).store(s + 2 * MR * pitch);
    };
    int64_t k = 0;
    for (; k + Vec::width <= depth; k += Vec::width) sum(k);
    if (k < depth) sum(k, depth - k);
    const float above = onnxc::sum(upper), below = onnxc::sum(lower), less = above < below ? above : below;
    apart |= !(above + below <= std::numeric_limits<float>::max()) || (less > 0 && above + below > kStrassenSpread * less);
    if (i < block.whole) continue;
    for (k = 0; k + Vec::width <= depth; k += Vec::width) copy(k);
    if (k < depth) copy(k, depth - k);
  }
  return apart;
}

/// A block and a pair of panels: where everything lies.
struct StrassenPair {
  const float* a;                     // the block's first row
  int64_t lda, whole, lower_quarter;  // rows in whole tiles; elements from a to A22
  const float *tail, *sums;           // S2; the others `plane` apart
  int64_t plane, pitch, depth;
  const float* b;        // the seven panels
  float *u, *v, *spare;  // U, then U + S2 T2; U + S2 T2 + V; a tile
  float* c;
  int64_t ldc, n, left, right, row, upper,
      lower;  // left, right: first columns; upper, lower: rows of each half, the first of which is `row` of c
  const float *bias_left, *bias_right;

  /// Rows of a quarter of a, `from` elements from the block's first row, or those that were copied behind the sums as
  /// the `copy`th.
  ONNXC_INLINE EvenRows quarter(int64_t i, int64_t from, int64_t copy, int64_t rows) const {
    return i < whole ? EvenRows{a + i * lda + from, lda} : EvenRows{tail + copy * rows * pitch, pitch};
  }
  ONNXC_INLINE EvenRows sum(int64_t i, int64_t plane_of) const { return {sums + plane_of * plane + i * pitch, pitch}; }
};

/// Finishes a tile at the edges of c, row by row. c: where its first value goes.
template <int NR, class Epi>
ONNXC_NOCLONE void strassen_edge(const float* tile, float* c, int64_t ldc, int64_t row, int64_t rows, int64_t col, int64_t columns,
                                 const Epi& epi) {
  for (int64_t i = 0; i < rows; ++i) finish_row(epi, tile + i * NR, row + i, col, c + i * ldc, columns);
}

template <int NR>
ONNXC_INLINE auto rows_at(float* panel) {
  return [panel](int64_t r) { return panel + r * NR; };
}

/// Applies the epilogue to tile + bias, and with kAlso to the sum of that and what lies at `also`, and stores it. `rows`
/// rows are left, from row `row` of c on. The tile stays as it is. Tile::finish would keep a tile on the stack for the
/// edges of c, for which each of these functions would pay when it begins.
template <bool kAlso, int R, int NV, class Epi>
ONNXC_INLINE void strassen_finish(Tile<R, NV>& tile, const StrassenPair& s, float* also, int64_t row, int64_t rows, int64_t col,
                                  const float* bias, const Epi& epi) {
  constexpr int NR = NV * Vec::width;
  const auto value = [&](int i, int j) ONNXC_INLINE_LAMBDA {
    const Vec x = tile.acc[i][j] + Vec::load(bias + j * Vec::width);
    return kAlso ? x + Vec::load(also + i * NR + j * Vec::width) : x;
  };
  float* const c = s.c + row * s.ldc + col;
  const int64_t columns = s.n - col < NR ? s.n - col : NR;
  if (rows >= R && columns == NR) {
    ONNXC_UNROLL for (int i = 0; i < R; ++i) {
      ONNXC_UNROLL for (int j = 0; j < NV; ++j)
          finish_vector(epi, value(i, j), row + i, col + j * Vec::width, c + i * s.ldc + j * Vec::width);
    }
    return;
  }
  if (NV <= 2 && rows >= R) {
    ONNXC_UNROLL for (int i = 0; i < R; ++i) {
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
        const int64_t lanes = columns - j * Vec::width;
        if (lanes > 0)
          finish_vector(epi, value(i, j), row + i, col + j * Vec::width, c + i * s.ldc + j * Vec::width,
                        lanes < Vec::width ? lanes : Vec::width);
      }
    }
    return;
  }
  float* const to = kAlso ? also : s.spare;
  ONNXC_UNROLL for (int i = 0; i < R; ++i) { ONNXC_UNROLL for (int j = 0; j < NV; ++j) value(i, j).store(to + i * NR + j * Vec::width); }
  if (kAlso) tile.store(rows_at<NR>(s.spare), R);
  strassen_edge<NR>(to, c, s.ldc, row, rows < R ? rows : R, col, columns, epi);
  if (kAlso) tile.load(rows_at<NR>(s.spare));
}

/// Computes U = A11 B11, then C11: rows [i, i + R).
template <int MR, int R, int NV, class Epi>
ONNXC_NOCLONE void strassen_c11(const StrassenPair& s, int64_t i, const Prefetcher& fetched, const Epi& epi) {
  constexpr int NR = NV * Vec::width;
  const int64_t depth = s.depth;
  Prefetcher ahead = fetched;
  Tile<R, NV> tile;
  tile.start(kZeros);
  tile.add(s.quarter(i, 0, 0, MR), depth, s.b, ahead);
  tile.store(rows_at<NR>(s.u + i * NR), R);
  ahead.pass(depth);
  tile.add(s.quarter(i, depth, 1, MR), depth, s.b + depth * NR, ahead);
  strassen_finish<false>(tile, s, nullptr, s.row + i, s.upper - i, s.left, s.bias_left, epi);
}

/// Computes U += S2 T2, V = U + S1 T1, then C12.
template <int MR, int R, int NV, class Epi>
ONNXC_NOCLONE void strassen_c12(const StrassenPair& s, int64_t i, const Prefetcher& fetched, const Epi& epi) {
  constexpr int NR = NV * Vec::width;
  const int64_t depth = s.depth;
  const float* const b = s.b + 2 * depth * NR;
  Prefetcher ahead = fetched;
  Tile<R, NV> tile;
  tile.load(rows_at<NR>(s.u + i * NR));
  tile.add(s.sum(i, 0), depth, b, ahead);
  tile.store(rows_at<NR>(s.u + i * NR), R);
  ahead.pass(depth);
  tile.add(s.sum(i, 1), depth, b + depth * NR, ahead);
  tile.store(rows_at<NR>(s.v + i * NR), R);
  if (s.right >= s.n) return;
  ahead.pass(depth);
  tile.add(s.sum(i, 2), depth, b + 2 * depth * NR, ahead);
  strassen_finish<false>(tile, s, nullptr, s.row + i, s.upper - i, s.right, s.bias_right, epi);
}

/// Computes S3 T3, then C22 and C21.
template <int MR, int R, int NV, class Epi>
ONNXC_NOCLONE void strassen_c2(const StrassenPair& s, int64_t i, const Prefetcher& fetched, const Epi& epi) {
  constexpr int NR = NV * Vec::width;
  const int64_t depth = s.depth, row = s.row + s.upper + i, rows = s.lower - i;
  const float* const b = s.b + 5 * depth * NR;
  Prefetcher ahead = fetched;
  Tile<R, NV> tile;
  tile.start(kZeros);
  tile.add(s.sum(i, 3), depth, b, ahead);
  ahead.pass(depth);
  if (s.right < s.n) strassen_finish<true>(tile, s, s.v + i * NR, row, rows, s.right, s.bias_right, epi);
  tile.plus(rows_at<NR>(s.u + i * NR));
  tile.add(s.quarter(i, s.lower_quarter, 2, MR), depth, b + depth * NR, ahead);
  strassen_finish<false>(tile, s, nullptr, row, rows, s.left, s.bias_left, epi);
}

/// Multiplies R rows of the block from row i on as gemm does; `rows` of them are left. `room`: floats for `chunk` rows
/// of a panel.
template <int R, int NV, class Epi>
ONNXC_NOCLONE void strassen_direct(const StrassenPair& s, int64_t i, int64_t rows, float* room, int64_t chunk, Prefetcher ahead,
                                   const Epi& epi) {
  constexpr int NR = NV * Vec::width;
  const int64_t depth = s.depth, panel = depth * NR;
  const auto rows_from = [&](int64_t k, const float*(&at)[R]) {
    for (int64_t r = 0; r < R; ++r) at[r] = s.a + (i + (r < rows ? r : rows - 1)) * s.lda + k;
  };
  const float* at[R];
  const auto add = [&](Tile<R, NV>& tile, int64_t k, int64_t steps, const float* b) {
    rows_from(k, at);
    tile.add(static_cast<const float* const*>(at), steps, b, ahead);
  };
  Tile<R, NV> tile;
  tile.start(kZeros);
  add(tile, 0, depth, s.b);
  add(tile, depth, depth, s.b + panel);
  strassen_finish<false>(tile, s, nullptr, s.row + i, rows, s.left, s.bias_left, epi);
  if (s.right >= s.n) return;
  tile.start(kZeros);
  for (int64_t k = 0; k < depth; k += chunk) {
    const int64_t steps = depth - k < chunk ? depth - k : chunk;
    for (int64_t e = 0; e < steps * NR; e += Vec::width)
      (Vec::load(s.b + 3 * panel + k * NR + e) + Vec::load(s.b + k * NR + e)).store(room + e);
    add(tile, k, steps, room);
  }
  add(tile, depth, depth, s.b + 4 * panel);
  strassen_finish<false>(tile, s, nullptr, s.row + i, rows, s.right, s.bias_right, epi);
}

/// Multiplies `rows` rows, which begin at `a` and are rows `row` and on of c, by pairs of panels [first, last) of
/// `pairs`. weights_in_use: the end of the weights that are in the cache already; null: they are prefetched as they are
/// used.
template <int MR, int NV, class Epi>
ONNXC_INLINE void strassen_block(int64_t row, int64_t rows, int64_t first, int64_t last, int64_t pairs, const float* a, const float* b,
                                 float* c, float* sums, const GemmParams& p, Prefetcher& ahead, const float* weights_in_use,
                                 const Epi& epi) {
  constexpr int NR = NV * Vec::width, kHalf = (MR + 1) / 2;
  const StrassenRows<MR> block{rows};
  const int64_t depth = p.k / 2, pitch = contract::strassen_pitch(p.k), panel = depth * NR, padded = block.padded(), plane = padded * pitch;
  float* const tail = sums + 4 * plane;
  float* const u = tail + 3 * MR * pitch;
  const bool apart = strassen_sums<MR>(a, p.lda, block, depth, sums, pitch);
  StrassenPair s{.a = a,
                 .lda = p.lda,
                 .whole = block.whole,
                 .lower_quarter = block.upper * p.lda + depth,
                 .tail = tail,
                 .sums = sums,
                 .plane = plane,
                 .pitch = pitch,
                 .depth = depth,
                 .b = nullptr,
                 .u = u,
                 .v = u + padded * NR,
                 .spare = u + 2 * padded * NR,
                 .c = c,
                 .ldc = p.ldc,
                 .n = p.n,
                 .left = 0,
                 .right = 0,
                 .row = row,
                 .upper = block.upper,
                 .lower = block.lower,
                 .bias_left = kZeros,
                 .bias_right = kZeros};
  for (int64_t pair = first; pair < last; ++pair) {
    s.b = b + pair * 7 * panel;
    s.left = pair * NR;
    s.right = (pairs + pair) * NR;
    if (p.bias != nullptr) {
      s.bias_left = p.bias + s.left;
      s.bias_right = p.bias + s.right;
    }
    if (apart) {
      for (int64_t i = 0; i < rows; i += MR) strassen_direct<MR, NV>(s, i, rows - i, u, 2 * padded, ahead, epi);
      continue;
    }
    const auto stage = [&](int64_t until, int64_t panels, const auto& tile) ONNXC_INLINE_LAMBDA {
      ahead.move(weights_in_use != nullptr ? weights_in_use : s.b + until * panel, panels * depth,
                 NR * int64_t{sizeof(float)} * MR / padded);
      int64_t i = 0;
      for (; i + kHalf < padded; i += MR, ahead.advance(panels * depth)) tile.template operator()<MR>(i);
      if (i < padded) tile.template operator()<kHalf>(i);
    };
    stage(2, 2, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA { strassen_c11<MR, R, NV>(s, i, ahead, epi); });
    stage(5, 3, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA { strassen_c12<MR, R, NV>(s, i, ahead, epi); });
    stage(7, 2, [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA { strassen_c2<MR, R, NV>(s, i, ahead, epi); });
  }
}

}  // namespace detail

/// Floats of scratch for one share.
template <int MR, int NV>
constexpr int64_t strassen_scratch(int64_t k, int64_t block) {
  return contract::strassen_scratch(k, block, MR, NV * Vec::width);
}

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself. m: a multiple of `sample`.
template <int MR, int NV, class Epi = Epilogue<Keep>>
ONNXC_NOCLONE void strassen(Share share, const float* a, const float* b, float* c, float* sums, GemmParams p, int64_t sample, int64_t block,
                            Epi epi = {}) {
  constexpr int NR = NV * Vec::width;
  const int64_t pairs = contract::strassen_pairs(p.n, NR), blocks = (sample + block - 1) / block;
  const auto [first, last] = share.slice(p.m / sample * blocks * pairs);  // of the pairs of panels of all blocks
  const float* const end = b + contract::strassen_weights(p.k, p.n, NR);
  Prefetcher ahead(end, p.weights_end);
  for (int64_t at = first; at < last;) {
    const int64_t from = at / pairs % blocks * block, row = at / pairs / blocks * sample + from,
                  rows = sample - from < block ? sample - from : block;
    const int64_t pair = at % pairs, until = pair + last - at < pairs ? pair + last - at : pairs;
    detail::strassen_block<MR, NV>(row, rows, pair, until, pairs, a + row * p.lda, b, c, sums, p, ahead,
                                   at >= first + pairs ? end : nullptr, epi);
    at += until - pair;
  }
}

}  // namespace onnxc
