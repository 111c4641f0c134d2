// c[m, n] = epilogue(bias + a[m, k] b[k, n]) with two multiply-adds for three steps of k, for a constant b: Winograd's
// inner product (IEEE Trans. Computers C-17, 1968).
//
//   x0 w0 + x1 w1  =  (x0 + w1) (x1 + w0)  -  x0 x1  -  w0 w1
//
// The sums of x0 x1 are made once for each row and serve all columns; those of w0 w1 are constants. So a pair of steps
// takes one multiply-add and two additions. A core that adds on other ports than it multiplies on
// (Machine::adds_beside_products) does both at once: of three steps, two are such a pair and one is a usual
// multiply-add, which makes two multiply-adds and two additions. Rates: docs/measurements/2026-11-kernels.md.
//
// Errors are those of values as large as (|x| + |w|)^2. So both sides are first brought to one size by powers of two,
// which is exact: b by rows and by columns when it is packed, and each row of a when it is read. x' = x d s, with s
// such that its norm is from 1 to 2; |w'| is from 0.7 to 1.5. Then errors are at most k 2^-24 9 / s for a column
// whose factor is 1, which is 13 times the bound of a sum of products by the norms. In practice they are 5 to 8 times gemm's, with
// k from 32 to 1024. A row without such an s, because it holds an infinity, NaN or values near the ends of the range,
// takes usual multiply-adds; a row of zeros gives the bias. No row has a part in another row's result.
//
// a is copied, row by row, in chunks of three vectors: x0, x1 and x2 of Vec::width groups of steps. The last chunk has
// what is left, up to one group of x0 and x1 or of x2 alone. b packed: panels
// [ceil(n / Vec::width)][k + 2][Vec::width]. For each group there are w1, w0 and w2, and at the end -sum(w0 w1) and the
// factors of the columns. Behind the panels lie d, k floats, and zeros (pack::fast_inner_product).
#pragma once
#include "contract/inner_product.hpp"
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Floats of scratch that a share needs for blocks of `block` rows.
constexpr int64_t fast_inner_product_scratch(int64_t k, int64_t block) {
  return contract::fast_inner_product_scratch(k, block, Vec::width);
}

namespace detail {

/// Steps of k that are divided into pairs and single ones at a time.
constexpr int64_t kStepChunk = contract::inner_product_chunk(Vec::width);

/// The rows of a block as tiles read them: for each x', -sum(x0 x1) / s, and 1 / s, which is 0 for a row of zeros and
/// negative for a row that takes usual multiply-adds.
struct PreparedRows {
  float *values, *sums, *unscale;
  int64_t pitch;
};

/// sums[i] = the sum over the lanes of x[i].
ONNXC_INLINE void sum_lanes(const Vec (&x)[8], float (&sums)[8]) {
  if constexpr (Vec::width == 16) {
    const auto halves = [](Vec a, Vec b) ONNXC_INLINE_LAMBDA { return evens(a, b) + odds(a, b); };
    sum_pairs(halves(halves(halves(x[0], x[1]), halves(x[2], x[3])), halves(halves(x[4], x[5]), halves(x[6], x[7])))).store(sums, 8);
  } else {
    for (int i = 0; i < 8; ++i) sums[i] = sum(x[i]);
  }
}

/// Copies four rows of a, at from[i], to rows [row, row + 4) of a block: x d, its squared norm in the place of
/// `unscale`, and its sum of pairs.
ONNXC_INLINE void copy_rows(const float* const (&from)[4], const float* d, int64_t k, const PreparedRows& to, int64_t row) {
  float* const out = to.values + row * to.pitch;
  Vec totals[8];
  ONNXC_UNROLL for (Vec& x : totals) x = Vec::all(0.0f);
  const auto chunk = [&](int64_t at, int64_t pairs, const auto& load) ONNXC_INLINE_LAMBDA {
    const int64_t first[] = {at, at + pairs, at + 2 * pairs};
    ONNXC_UNROLL for (int i = 0; i < 4; ++i) {
      Vec x[3];
      ONNXC_UNROLL for (int v = 0; v < 3; ++v) {
        x[v] = load(from[i] + first[v], v < 2 ? pairs : k - first[2]) * Vec::load(d + first[v]);
        x[v].store(out + i * to.pitch + at + v * Vec::width);
        totals[i] = fma(x[v], x[v], totals[i]);
      }
      totals[4 + i] = fma(x[0], x[1], totals[4 + i]);
    }
  };
  int64_t at = 0;
  for (; at + kStepChunk <= k; at += kStepChunk)
    chunk(at, Vec::width, [](const float* p, int64_t) ONNXC_INLINE_LAMBDA { return Vec::load(p); });
  if (at < k) chunk(at, contract::StepGroups(k - at).pairs, [](const float* p, int64_t n) ONNXC_INLINE_LAMBDA { return Vec::load(p, n); });
  float found[8];
  sum_lanes(totals, found);
  ONNXC_UNROLL for (int i = 0; i < 4; ++i) to.unscale[row + i] = found[i], to.sums[row + i] = found[4 + i];
}

/// Whether a row of this squared norm has values, and sums of their products, far from the ends of the range of floats.
constexpr bool in_range(float norm) { return norm >= 0x1p-100f && norm <= 0x1p100f; }

ONNXC_INLINE bool is_zero(const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] != 0) return false;
  }
  return true;
}

/// Whether a row at x with this squared norm stays unscaled and takes usual multiply-adds.
ONNXC_INLINE bool is_unscaled(float norm, const float* x, int64_t k) { return !in_range(norm) && !(norm == 0 && is_zero(x, k)); }

/// Scales the copied rows to norms from 1 to 2. Row i is the copy of that at at(i). Returns whether all rows take
/// pairs.
template <class At>
ONNXC_INLINE bool scale_rows(int64_t k, const PreparedRows& rows, int64_t count, const At& at) {
  bool all = true;
  for (int64_t i = 0; i < count; ++i) {
    float* const x = rows.values + i * rows.pitch;
    const float norm = rows.unscale[i];
    const bool usable = in_range(norm), unscaled = is_unscaled(norm, at(i), k);
    const int32_t exponent = usable ? ((__builtin_bit_cast(int32_t, norm) >> 23) - 127) >> 1 : 0;  // of the norm, rounded down
    const float s = __builtin_bit_cast(float, (127 - exponent) << 23);
    rows.unscale[i] = usable ? __builtin_bit_cast(float, (127 + exponent) << 23) : unscaled ? -1 : 0;
    rows.sums[i] = usable ? -rows.sums[i] * s : 0;
    all = all && !unscaled;
    for (int64_t j = 0; j < contract::prepared_row(k, Vec::width); j += Vec::width) (Vec::load(x + j) * Vec::all(s)).store(x + j);
  }
  return all;
}

/// A tile of MR prepared rows by one panel.
template <int MR>
struct InnerProductTile : Tile<MR, 1> {
  using Tile<MR, 1>::acc;

  template <class Fetch>
  ONNXC_INLINE void multiply(EvenRows rows, int64_t k, const float* b, Fetch ahead) {
    const float* third[(MR + 2) / 3];
    ONNXC_UNROLL for (int g = 0; g < (MR + 2) / 3; ++g) third[g] = rows.first + 3 * g * rows.pitch;
    const auto at = [&](int i) ONNXC_INLINE_LAMBDA { return third[i / 3] + i % 3 * rows.pitch; };
    const auto advance = [&](int64_t by) ONNXC_INLINE_LAMBDA { ONNXC_UNROLL for (const float*& row : third) row = opaque(row + by); };
    const auto pair = [&]() ONNXC_INLINE_LAMBDA {
      Vec w1 = Vec::load(b), w0 = Vec::load(b + Vec::width);
      pin(w1);
      pin(w0);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][0] = fma(Vec::all(at(i)[0]) + w1, Vec::all(at(i)[Vec::width]) + w0, acc[i][0]);
      b += 2 * Vec::width;
    };
    const auto single = [&]() ONNXC_INLINE_LAMBDA {
      Vec w2 = Vec::load(b);
      pin(w2);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][0] = fma(Vec::all(at(i)[2 * Vec::width]), w2, acc[i][0]);
      b += Vec::width;
    };

    const Vec constant = Vec::load(b + k * Vec::width);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][0] = constant;
    for (int64_t left = k; left > 0; left -= kStepChunk) {
      const contract::StepGroups steps(left < kStepChunk ? left : kStepChunk);
      const int64_t groups = steps.pairs < steps.singles ? steps.pairs : steps.singles;
      for (int64_t g = groups; g > 0; --g) {
        ahead.fetch();
        ahead.pass();
        pair();
        single();
        advance(1);
      }
      if (steps.pairs > groups) pair();
      if (steps.singles > groups) single();
      advance(kStepChunk - groups);
    }
  }

  /// acc = bias + (acc * by[row] + sums[row]) * columns[column]
  ONNXC_INLINE void unscale(const float* by, const float* sums, const float* columns, const float* bias) {
    const Vec scale = Vec::load(columns), add = Vec::load(opaque(bias));
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][0] = fma(fma(acc[i][0], Vec::all(by[i]), Vec::all(sums[i])), scale, add);
  }
};

/// Multiplies an unscaled row of a by a panel, from the bias on, by usual multiply-adds of x and w, as gemm does.
inline Vec multiply_unscaled(const float* x, const float* d, int64_t k, const float* b, const float* bias) {
  const Vec columns = Vec::load(b + (k + 1) * Vec::width);
  Vec sum = Vec::load(bias);
  contract::for_each_step(k, Vec::width, [&](int, int64_t i) ONNXC_INLINE_LAMBDA {
    sum = fma(Vec::all(x[i]), Vec::load(b) * (columns * Vec::all(d[i])), sum);
    b += Vec::width;
  });
  return sum;
}

/// Multiplies rows one by one, where some take usual multiply-adds. `a`: the first of them as it was given.
template <class Epi>
ONNXC_NOCLONE void multiply_each_row(const float* a, const float* d, const PreparedRows& prepared, int64_t rows, int64_t row,
                                     const float* b, float* c, int64_t col, const float* bias, const GemmParams& p, const Epi& epi) {
  for (int64_t i = 0; i < rows; ++i) {
    InnerProductTile<1> tile;
    if (prepared.unscale[i] < 0) {
      tile.acc[0][0] = multiply_unscaled(a + i * p.lda, d, p.k, b, bias);
    } else {
      tile.multiply({prepared.values + i * prepared.pitch, prepared.pitch}, p.k, b, Prefetcher(b));
      tile.unscale(prepared.unscale + i, prepared.sums + i, b + (p.k + 1) * Vec::width, bias);
    }
    tile.finish(c, p.ldc, col, 1, p.n - col, Consecutive{row + i}, epi);
  }
}

}  // namespace detail

/// See the head of the file. a, c and the epilogue are gemm's. `scratch`: fast_inner_product_scratch(k, block) floats
/// of this share, where `block` rows are copied at a time.
template <int MR, class Epi = Epilogue<Keep>>
void fast_inner_product(Share share, const float* a, const float* b, float* c, float* scratch, GemmParams p, int64_t block, Epi epi = {}) {
  constexpr int NR = Vec::width;
  const int64_t panels = vectors(p.n), panel_floats = (p.k + 2) * NR;
  const float* const d = b + panels * panel_floats;
  const detail::ProductShare own(share, p.m, p.n, p.k, MR, panels);
  const int64_t pitch = contract::prepared_pitch(p.k, Vec::width), room = contract::prepared_rows(block);
  const detail::PreparedRows rows{scratch, scratch + room * pitch, scratch + room * (pitch + 1), pitch};
  // Where c lies beyond L2, what a tile will store to is prefetched as it begins. Nearer, prefetches would only take
  // load slots.
  const bool far = is_beyond_l2(p.m * p.n);
  const TileOrder order(share, p.m * p.n);
  Prefetcher ahead(d + p.k, p.weights_end);
  detail::for_each_block(own.rows, block, [&](int64_t row, int64_t count) ONNXC_INLINE_LAMBDA {
    const int64_t padded = contract::padded_rows(count, MR);
    const auto at = [&](int64_t i) ONNXC_INLINE_LAMBDA { return a + (row + (i < count ? i : count - 1)) * p.lda; };
    for (int64_t i = 0; i < padded; i += 4) detail::copy_rows({at(i), at(i + 1), at(i + 2), at(i + 3)}, d, p.k, rows, i);
    const bool all = detail::scale_rows(p.k, rows, padded, at);
    for (int64_t panel = own.panels.begin; panel < own.panels.end; ++panel) {
      const float* const bp = b + panel * panel_floats;
      const int64_t col = panel * NR;
      const float* const bias = p.bias != nullptr ? p.bias + col : kZeros;
      if (!all) {
        detail::multiply_each_row(a + row * p.lda, d, rows, count, row, bp, c, col, bias, p, epi);
        continue;
      }
      ahead.move(bp + panel_floats, p.k / 3, 3 * NR * int64_t{sizeof(float)} * MR / count);
      const auto tile = [&]<int R>(int64_t i) ONNXC_INLINE_LAMBDA {
        detail::InnerProductTile<R> t;
        if (far) {
          ONNXC_UNROLL for (int r = 0; r < R; ++r) __builtin_prefetch(c + (row + (i + r < count ? i + r : i)) * p.ldc + col, 1);
        }
        t.multiply({rows.values + i * pitch, pitch}, p.k, bp, ahead);
        ahead.advance(p.k / 3);
        t.unscale(rows.unscale + i, rows.sums + i, bp + (p.k + 1) * NR, bias);
        t.finish(c, p.ldc, col, count - i, p.n - col, Consecutive{row + i}, epi);
      };
      detail::for_each_tile<MR>(count, order, tile);
    }
  });
}

}  // namespace onnxc
