// 3x3 convolution of stride 1 after Winograd: F(2,3) makes 2x2 outputs of 4x4 inputs with 16 products where 36 are needed, F(4,3) 4x4 outputs of
// 6x6 inputs with 36 where 144 are.
//
//   y = A^T [ (G w G^T) * (B^T x B) ] A,   * elementwise, summed over input channels: a GEMM for each of the (T + 2)^2 frequencies
//
//   winograd<4, 14, 2>(part, x, u, y, scratch, {.h = 56, .w = 56, .cin = 64, .oh = 56, .ow = 56, .cout = 64, .pad_top = 1, .pad_left = 1,
//                                               .x_pixel = 64, .y_pixel = 64, .bias = w_bias}, 28, Epilogue<Relu>{});
//
// u = G w G^T is made at compile time, in double: [ceil(cout / NR)][(T + 2)^2][cin][NR] (pack::winograd), in the order of use. Parameters are
// conv's with kernel 3x3, strides and dilations 1, group 1; any pads. scratch: winograd_scratch floats for each part, 64-byte aligned.
//
// Weights may also come as they are, which is 16/9 or 4 times fewer bytes to keep and to stream, or fewer yet where a narrower type holds them (stored.hpp):
// w [ceil(cout / NR)][cin][9][NR] (pack::conv_stem). Then u is made here, of kPlainDepth channels of a panel at a time, for each block: in time as six more
// tiles in each block.
//
// Output tiles are taken in blocks: transform the block's input to v [frequency][tile][cin], then for each panel of NR channels run all
// frequencies to m [frequency][tile][NR] and transform m back at once. m stays in L1 or L2, v in L2; u streams by once a block.
//
// Tiles: with many output tiles (56x56, 28x28) 7x4 or 14x2, with 16 of them 8x2, so that no row is wasted. Best of 40, us (Sapphire Rapids, 2026-11, g++ 12):
//
//              direct 14x2   F(4,3) 14x2   7x4   8x2    F(2,3) 14x2   8x2
//    64@56            1354           450   390   478           732   796
//   128@28            1282           422   364   455           641   706
//   256@14            1142           756   626   543           625   718
//   512@7             1441          1849  1565  1630          1206   827     bound by the stream of u: 36 or 16 MiB
//
// Error against the exact result, relative to the largest |y|: F(2,3) as direct summation, F(4,3) about ten times that (1e-5 for 512 channels).
// References: S. Winograd 1980; A. Lavin, S. Gray, arXiv 1509.09308.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {
/// Channels of v, rounded up to vectors, and 16 more: rows a power of two apart would share cache sets.
constexpr int64_t winograd_pitch(int64_t cin) { return (cin + 15) / 16 * 16 + 16; }
/// Floats from one frequency to the next: an odd number of lines, as a transform touches all frequencies of a tile at once.
constexpr int64_t winograd_plane(int64_t floats) { return ((floats + 15) / 16 | 1) * 16; }

/// o = B^T d for one row or column.
template <int T>
ONNXC_INLINE void winograd_input(const Vec* d, Vec* o) {
  if constexpr (T == 4) {
    const Vec two = Vec::all(2.0f), four = Vec::all(4.0f), five = Vec::all(5.0f);
    const Vec a = fnma(four, d[2], d[4]), b = fnma(four, d[1], d[3]), c = d[4] - d[2], e = two * (d[3] - d[1]);
    o[0] = fma(four, d[0], fnma(five, d[2], d[4]));
    o[1] = a + b;
    o[2] = a - b;
    o[3] = c + e;
    o[4] = c - e;
    o[5] = fma(four, d[1], fnma(five, d[3], d[5]));
  } else {
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
  }
}
/// o = A^T m for one row or column.
template <int T>
ONNXC_INLINE void winograd_output(const Vec* m, Vec* o) {
  const Vec p = m[1] + m[2], q = m[1] - m[2];
  if constexpr (T == 4) {
    const Vec r = m[3] + m[4], t = m[3] - m[4];
    o[0] = m[0] + p + r;
    o[1] = fma(Vec::all(2.0f), t, q);
    o[2] = fma(Vec::all(4.0f), r, p);
    o[3] = fma(Vec::all(8.0f), t, q) + m[5];
  } else {
    o[0] = m[0] + p;
    o[1] = q - m[3];
  }
}

/// o = G w for one row or column.
template <int T>
ONNXC_INLINE void winograd_kernel(const Vec* w, Vec* o) {
  if constexpr (T == 4) {
    const Vec sixth = Vec::all(1.0f / 6);
    const Vec a = (w[0] + w[2]) * sixth, b = w[1] * sixth, c = fma(sixth, w[2], w[0] * Vec::all(1.0f / 24)), d = w[1] * Vec::all(1.0f / 12);
    o[0] = w[0] * Vec::all(0.25f);
    o[1] = Vec::all(0.0f) - (a + b);
    o[2] = b - a;
    o[3] = c + d;
    o[4] = c - d;
    o[5] = w[2];
  } else {
    const Vec half = Vec::all(0.5f), a = (w[0] + w[2]) * half, b = w[1] * half;
    o[0] = w[0];
    o[1] = a + b;
    o[2] = a - b;
    o[3] = w[2];
  }
}

/// Plain weights [steps][9][NR] of a panel, as panel_of gives it, to u: frequency f at u + f * plane.
template <int T, int NV, class Row>
ONNXC_INLINE void winograd_weights(Row w, int64_t steps, float* u, int64_t plane) {
  constexpr int A = T + 2, NR = NV * Vec::width;
  for (int64_t k = 0; k < steps; ++k, w += 9 * NR, u += NR) {
    for (int64_t j = 0; j < NR; j += Vec::width) {
      Vec half[A * 3];
      ONNXC_UNROLL for (int x = 0; x < 3; ++x) {
        Vec column[3], turned[A];
        ONNXC_UNROLL for (int y = 0; y < 3; ++y) column[y] = onnxc::load(w + (y * 3 + x) * NR, j);
        winograd_kernel<T>(column, turned);
        ONNXC_UNROLL for (int i = 0; i < A; ++i) half[i * 3 + x] = turned[i];
      }
      ONNXC_UNROLL for (int i = 0; i < A; ++i) {
        Vec turned[A];
        winograd_kernel<T>(half + i * 3, turned);
        ONNXC_UNROLL for (int x = 0; x < A; ++x) turned[x].store(u + (i * A + x) * plane + j);
      }
    }
  }
}

/// The input of one tile to v: frequency f at v + f * plane. row[i]: the image row of the tile's row i, null outside; column 0 is pixel `left` of it.
/// `inside`: no row or column is outside.
template <int T, bool inside>
ONNXC_INLINE void winograd_forward(const float* const (&row)[T + 2], int64_t left, float* v, int64_t plane, const ConvParams& p) {
  constexpr int A = T + 2;
  for (int64_t c = 0; c < p.cin; c += Vec::width) {
    const int64_t lanes = p.cin - c < Vec::width ? p.cin - c : Vec::width;
    Vec half[A * A];
    ONNXC_UNROLL for (int j = 0; j < A; ++j) {
      const bool out = !inside && (left + j < 0 || left + j >= p.w);
      const int64_t at = (left + j) * p.x_pixel + c;
      Vec column[A], turned[A];
      ONNXC_UNROLL for (int i = 0; i < A; ++i)
        column[i] = !inside && (out || row[i] == nullptr) ? Vec::all(0.0f) : lanes == Vec::width ? Vec::load(row[i] + at) : Vec::load(row[i] + at, lanes);
      winograd_input<T>(column, turned);
      ONNXC_UNROLL for (int i = 0; i < A; ++i) half[i * A + j] = turned[i];
    }
    ONNXC_UNROLL for (int i = 0; i < A; ++i) {
      Vec turned[A];
      winograd_input<T>(half + i * A, turned);
      ONNXC_UNROLL for (int j = 0; j < A; ++j) turned[j].store(v + (i * A + j) * plane + c);
    }
  }
}

/// One vector of channels of one tile from m back to T x T outputs.
template <int T>
ONNXC_INLINE void winograd_back(const float* m, int64_t plane, Vec (&out)[T * T]) {
  constexpr int A = T + 2;
  Vec half[T * A];
  ONNXC_UNROLL for (int j = 0; j < A; ++j) {
    Vec column[A], turned[T];
    ONNXC_UNROLL for (int i = 0; i < A; ++i) column[i] = Vec::load(m + (i * A + j) * plane);
    winograd_output<T>(column, turned);
    ONNXC_UNROLL for (int i = 0; i < T; ++i) half[i * A + j] = turned[i];
  }
  ONNXC_UNROLL for (int i = 0; i < T; ++i) winograd_output<T>(half + i * A, out + i * T);
}

/// `count` rows of one frequency: m = the sum over taps of v(tap) u(tap), or that and what m holds. The rows of a tap lie `tap_step` after those of the one before.
template <int MR, int NV>
ONNXC_INLINE void winograd_gemm(const float* v, int64_t pitch, int64_t cin, int64_t taps, int64_t tap_step, const float* u, Ahead& ahead, float* m, int64_t count, bool onto = false) {
  constexpr int NR = NV * Vec::width, kHalf = (MR + 1) / 2;
  constexpr int64_t kFew = 8192;  // floats, which stay in L1; more go in slices, tap by tap, past all rows, with the sums in m
  const bool deep = taps * cin * NR > kFew;
  const int64_t together = deep ? 1 : taps, parts = deep ? (cin * NR + kFew - 1) / kFew : 1, depth = (cin + parts - 1) / parts;
  for (int64_t slice = 0; slice < taps / together * parts; ++slice) {
    const int64_t tap = slice / parts, c = slice % parts * depth, steps = cin - c < depth ? cin - c : depth;
    const float* const vt = v + tap * tap_step + c;
    const float* const ut = u + (tap * cin + c) * NR;
    const auto product = [&]<int R>(auto rows, int64_t t) ONNXC_INLINE_LAMBDA {
      Tile<R, NV> tile;
      const auto sums = [&](int64_t i) { return m + (t + i < count ? t + i : count - 1) * NR; };
      if (slice == 0 && !onto) tile.start(kZeros);
      else tile.load(sums);
      for (int64_t i = 0; i < together; ++i, ahead.advance(steps)) {
        tile.add(rows, steps, ut + i * cin * NR, ahead);
        if constexpr (std::is_pointer_v<decltype(rows)>) {
          for (int r = 0; r < R; ++r) rows[r] += tap_step;
        } else {
          rows.first += tap_step;
        }
      }
      tile.store(sums, count - t);
    };
    int64_t t = 0;
    for (; t + MR <= count; t += MR) product.template operator()<MR>(EvenRows{vt + t * pitch, pitch}, t);
    for (; t < count; t += kHalf) {
      const float* rows[kHalf];
      for (int64_t i = 0; i < kHalf; ++i) rows[i] = vt + (t + i < count ? t + i : count - 1) * pitch;
      product.template operator()<kHalf>(static_cast<const float**>(rows), t);
    }
  }
}

}  // namespace detail

/// Channels whose plain weights are transformed at a time: u stays in L2.
inline constexpr int64_t kPlainDepth = 64;

/// Floats of scratch for one part; `block` tiles at a time.
template <int T, int NV, bool plain = false>
constexpr int64_t winograd_scratch(int64_t cin, int64_t block) {
  const int64_t u = plain ? detail::winograd_plane((cin < kPlainDepth ? cin : kPlainDepth) * NV * Vec::width) : 0;
  return (T + 2) * (T + 2) * (detail::winograd_plane(block * detail::winograd_pitch(cin)) + detail::winograd_plane(block * NV * Vec::width) + u);
}

/// See the head of the file. `plain`: u is w as it is. `block`: tiles at a time; 36 * block * cin floats should fit half of L2.
template <int T, int MR, int NV, bool plain = false, class W, class Epi = Epilogue<Keep>>
ONNXC_ONE_COPY void winograd(Part part, const float* x, const W* u, float* y, float* scratch, ConvParams p, int64_t block, Epi epi = {}) {
  static_assert(plain || std::is_same_v<W, float>);
  constexpr int A = T + 2, NR = NV * Vec::width;
  constexpr int kKept = plain ? 9 : A * A;  // weights for each pair of channels
  const int64_t pitch = detail::winograd_pitch(p.cin), v_plane = detail::winograd_plane(block * pitch), m_plane = detail::winograd_plane(block * NR);
  const int64_t panels = (p.cout + NR - 1) / NR;
  const int64_t down = (p.oh + T - 1) / T, across = (p.ow + T - 1) / T, tiles = p.n * down * across;
  // Parts take tiles, but for weights that no L2 holds: of those each reads as few as it can, though all transform the whole image then.
  constexpr int64_t kMany = int64_t{1} << 20;  // floats
  const bool by_tiles = tiles >= int64_t{MR} * part.count && (kKept * p.cin * p.cout < kMany || panels < part.count);
  const auto [first, last] = by_tiles ? part.slice(tiles) : Part::Range{0, tiles};
  const auto [first_panel, last_panel] = by_tiles ? Part::Range{0, panels} : part.slice(panels);
  float* const v = scratch + part.index * winograd_scratch<T, NV, plain>(p.cin, block);
  float* const m = v + A * A * v_plane;
  float* const transformed = m + A * A * m_plane;  // of plain weights
  const int64_t depth = plain && kPlainDepth < p.cin ? kPlainDepth : p.cin, u_plane = plain ? detail::winograd_plane(depth * NR) : depth * NR;
  for (int64_t from = first; from < last && first_panel < last_panel; from += block) {
    const int64_t count = last - from < block ? last - from : block;
    const GridPlace start(from, down, across);
    GridPlace place = start;
    for (int64_t t = 0; t < count; ++t, place.advance()) {
      const int64_t top = place.y * T - p.pad_top, left = place.x * T - p.pad_left;
      const float* const image = x + place.n * p.h * p.w * p.x_pixel;
      const float* rows[A];
      for (int64_t i = 0; i < A; ++i) rows[i] = top + i >= 0 && top + i < p.h ? image + (top + i) * p.w * p.x_pixel : nullptr;
      if (top >= 0 && top + A <= p.h && left >= 0 && left + A <= p.w) detail::winograd_forward<T, true>(rows, left, v + t * pitch, v_plane, p);
      else detail::winograd_forward<T, false>(rows, left, v + t * pitch, v_plane, p);
    }
    Ahead ahead(u + panels * kKept * p.cin * NR, p.weights_end);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      for (int64_t c = 0; c < p.cin; c += depth) {
        const int64_t steps = p.cin - c < depth ? p.cin - c : depth;
        const auto given = panel_of(u, p.scales, panel, p.cin * kKept, NR) + c * kKept * NR;
        const float* frequencies = transformed;
        if constexpr (plain) {
          ahead.move(address_of(given + steps * kKept * NR), steps, kKept * NR * int64_t{sizeof(W)} * MR / (A * A * count));
          detail::winograd_weights<T, NV>(given, steps, transformed, u_plane);
        } else {
          frequencies = given;
        }
        for (int f = 0; f < A * A; ++f) {
          const float* const uf = frequencies + f * u_plane;
          if constexpr (!plain) ahead.move(uf + steps * NR, steps, NR * 4 * MR / count);
          detail::winograd_gemm<MR, NV>(v + f * v_plane + c, pitch, steps, 1, 0, uf, ahead, m + f * m_plane, count, c > 0);
        }
      }
      place = start;
      for (int64_t t = 0; t < count; ++t, place.advance()) {
        const int64_t oy = place.y * T, ox = place.x * T;
        const int64_t corner = (place.n * p.oh + oy) * p.ow + ox, rows = p.oh - oy, columns = p.ow - ox;
        for (int j = 0; j < NV; ++j) {
          const int64_t channel = panel * NR + j * Vec::width, lanes = p.cout - channel;
          if (lanes <= 0) break;
          Vec out[T * T];
          detail::winograd_back<T>(m + t * NR + j * Vec::width, m_plane, out);
          const Vec bias = p.bias != nullptr ? Vec::load(p.bias + channel) : Vec::all(0.0f);
          ONNXC_UNROLL for (int i = 0; i < T * T; ++i) {
            if (i / T < rows && i % T < columns) {
              const int64_t row = corner + i / T * p.ow + i % T;
              float* const to = y + row * p.y_pixel + channel;
              finish_lanes(epi, out[i] + bias, row, channel, to, lanes);
            }
          }
        }
      }
    }
  }
}

}  // namespace onnxc
