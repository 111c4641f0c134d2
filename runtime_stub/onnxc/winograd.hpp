// Convolution of stride 1 after Winograd, F(T, R) in both directions: T x T outputs of A x A inputs, A = T + R - 1, with A^2 products where T^2 R^2 are
// needed: F(2,3) 16 for 36, F(4,3) 36 for 144, F(2,5) 36 for 100.
//
//   y = A^T [ (G w G^T) * (B^T x B) ] A,   * elementwise, summed over input channels: a GEMM for each of the A^2 frequencies
//
//   winograd<4, 3, 14, 2>(part, x, u, y, scratch, {.h = 56, .w = 56, .cin = 64, .oh = 56, .ow = 56, .cout = 64, .pad_top = 1, .pad_left = 1,
//                                                  .x_pixel = 64, .y_pixel = 64, .bias = w_bias}, 28, Epilogue<Relu>{});
//
// u = G w G^T is made at compile time, in double: [ceil(cout / NR)][A^2][cin][NR] (pack::winograd), in the order of use. Parameters are
// conv's with a kernel of R x R, strides and dilations 1, group 1; any pads. scratch: winograd_scratch floats for each part, 64-byte aligned.
//
// Of volumes (`deep`: stride_z 1) the depth is not transformed: a frequency has kd taps, v [frequency][kz][tile][cin] and u [..][A^2][kd][cin][NR].
//
// Weights may also come as they are, which is A^2 / R^2 times fewer bytes to keep and to stream, or fewer yet where a narrower type holds them (stored.hpp):
// w [ceil(cout / NR)][cin][R^2][NR] (pack::conv_stem), of images alone. Then u is made here, of kPlainDepth channels of a panel at a time, for each block: in time as six more
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
// Error against the exact result, relative to the largest |y|: F(2,3) as direct summation, those of six points about ten times that (1e-5 for 512 channels).
// References: winograd_transform.hpp.
#pragma once
#include "conv.hpp"
#include "winograd_transform.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {
/// Channels of v, rounded up to vectors, and 16 more: rows a power of two apart would share cache sets.
constexpr int64_t winograd_pitch(int64_t cin) { return (cin + 15) / 16 * 16 + 16; }
/// Floats from one frequency to the next: an odd number of lines, as a transform touches all frequencies of a tile at once.
constexpr int64_t winograd_plane(int64_t floats) { return ((floats + 15) / 16 | 1) * 16; }

/// Plain weights [steps][R * R][NR] of a panel, as panel_of gives it, to u: frequency f at u + f * plane.
template <int A, int R, int NV, class Row>
ONNXC_INLINE void winograd_weights(Row w, int64_t steps, float* u, int64_t plane) {
  constexpr int NR = NV * Vec::width;
  for (int64_t k = 0; k < steps; ++k, w += R * R * NR, u += NR) {
    for (int64_t j = 0; j < NR; j += Vec::width) {
      Vec half[A * R];
      ONNXC_UNROLL for (int x = 0; x < R; ++x) {
        Vec column[R], turned[A];
        ONNXC_UNROLL for (int y = 0; y < R; ++y) column[y] = onnxc::load(w + (y * R + x) * NR, j);
        winograd_kernel<A, R>(column, turned);
        ONNXC_UNROLL for (int i = 0; i < A; ++i) half[i * R + x] = turned[i];
      }
      ONNXC_UNROLL for (int i = 0; i < A; ++i) {
        Vec turned[A];
        winograd_kernel<A, R>(half + i * R, turned);
        ONNXC_UNROLL for (int x = 0; x < A; ++x) turned[x].store(u + (i * A + x) * plane + j);
      }
    }
  }
}

/// The input of one tile to v: frequency f at v + f * plane. row[i]: the image row of the tile's row i, null outside; column 0 is pixel `left` of it.
/// `inside`: no row or column is outside.
template <int A, bool inside>
ONNXC_INLINE void winograd_forward(const float* const (&row)[A], int64_t left, float* v, int64_t plane, const ConvParams& p) {
  for (int64_t c = 0; c < p.cin; c += Vec::width) {
    const int64_t lanes = p.cin - c < Vec::width ? p.cin - c : Vec::width;
    Vec half[A * A];
    ONNXC_UNROLL for (int j = 0; j < A; ++j) {
      const bool out = !inside && (left + j < 0 || left + j >= p.w);
      const int64_t at = (left + j) * p.x_pixel + c;
      Vec column[A], turned[A];
      ONNXC_UNROLL for (int i = 0; i < A; ++i)
        column[i] = !inside && (out || row[i] == nullptr) ? Vec::all(0.0f) : lanes == Vec::width ? Vec::load(row[i] + at) : Vec::load(row[i] + at, lanes);
      winograd_input<A>(column, turned);
      ONNXC_UNROLL for (int i = 0; i < A; ++i) half[i * A + j] = turned[i];
    }
    ONNXC_UNROLL for (int i = 0; i < A; ++i) {
      Vec turned[A];
      winograd_input<A>(half + i * A, turned);
      ONNXC_UNROLL for (int j = 0; j < A; ++j) turned[j].store(v + (i * A + j) * plane + c);
    }
  }
}

/// The same of a tile in a slice outside of the volume.
template <int A>
ONNXC_INLINE void winograd_nothing(float* v, int64_t plane, int64_t cin) {
  for (int f = 0; f < A * A; ++f) {
    for (int64_t c = 0; c < cin; c += Vec::width) Vec::all(0.0f).store(v + f * plane + c);
  }
}

/// One vector of channels of one tile from m back to T x T outputs.
template <int A, int T>
ONNXC_INLINE void winograd_back(const float* m, int64_t plane, Vec (&out)[T * T]) {
  Vec half[T * A];
  ONNXC_UNROLL for (int j = 0; j < A; ++j) {
    Vec column[A], turned[T];
    ONNXC_UNROLL for (int i = 0; i < A; ++i) column[i] = Vec::load(m + (i * A + j) * plane);
    winograd_output<A, T>(column, turned);
    ONNXC_UNROLL for (int i = 0; i < T; ++i) half[i * A + j] = turned[i];
  }
  ONNXC_UNROLL for (int i = 0; i < T; ++i) winograd_output<A, T>(half + i * A, out + i * T);
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

/// Floats of scratch for one part; `block` tiles at a time, of kernels of kd slices.
template <int T, int R, int NV, bool plain = false>
constexpr int64_t winograd_scratch(int64_t cin, int64_t block, int64_t kd = 1) {
  constexpr int A = T + R - 1;
  const int64_t u = plain ? detail::winograd_plane((cin < kPlainDepth ? cin : kPlainDepth) * NV * Vec::width) : 0;
  return A * A * (detail::winograd_plane(kd * block * detail::winograd_pitch(cin)) + detail::winograd_plane(block * NV * Vec::width) + u);
}

/// See the head of the file. `plain`: u is w as it is. `deep`: x is a volume. `block`: tiles at a time; 36 * block * cin floats should fit half of L2.
template <int T, int R, int MR, int NV, bool plain = false, bool deep = false, class W, class Epi = Epilogue<Keep>>
ONNXC_ONE_COPY void winograd(Part part, const float* x, const W* u, float* y, float* scratch, ConvParams p, int64_t block, Epi epi = {}) {
  static_assert(plain ? !deep : std::is_same_v<W, float>);
  constexpr int A = T + R - 1, NR = NV * Vec::width;
  constexpr int kKept = plain ? R * R : A * A;  // weights for each pair of channels
  const int64_t pitch = detail::winograd_pitch(p.cin), v_plane = detail::winograd_plane(p.kd * block * pitch), m_plane = detail::winograd_plane(block * NR);
  const int64_t panels = (p.cout + NR - 1) / NR;
  const int64_t down = (p.oh + T - 1) / T, across = (p.ow + T - 1) / T, tiles = p.n * p.od * down * across;
  // Parts take tiles, but for weights that no L2 holds: of those each reads as few as it can, though all transform the whole image then.
  constexpr int64_t kMany = int64_t{1} << 20;  // floats
  const bool by_tiles = tiles >= int64_t{MR} * part.count && (kKept * p.kd * p.cin * p.cout < kMany || panels < part.count);
  const auto [first, last] = by_tiles ? part.slice(tiles) : Part::Range{0, tiles};
  const auto [first_panel, last_panel] = by_tiles ? Part::Range{0, panels} : part.slice(panels);
  float* const v = scratch + part.index * winograd_scratch<T, R, NV, plain>(p.cin, block, p.kd);
  float* const m = v + A * A * v_plane;
  float* const transformed = m + A * A * m_plane;  // of plain weights
  const int64_t depth = plain && kPlainDepth < p.cin ? kPlainDepth : p.cin, u_plane = plain ? detail::winograd_plane(depth * NR) : p.kd * depth * NR;
  for (int64_t from = first; from < last && first_panel < last_panel; from += block) {
    const int64_t count = last - from < block ? last - from : block;
    const GridPlace start(from, down, across);
    GridPlace place = start;
    for (int64_t t = 0; t < count; ++t, place.advance()) {
      const int64_t top = place.y * T - p.pad_top, left = place.x * T - p.pad_left;
      const auto forward = [&](const float* image, float* to) ONNXC_INLINE_LAMBDA {
        const float* rows[A];
        for (int64_t i = 0; i < A; ++i) rows[i] = top + i >= 0 && top + i < p.h ? image + (top + i) * p.w * p.x_pixel : nullptr;
        if (top >= 0 && top + A <= p.h && left >= 0 && left + A <= p.w) detail::winograd_forward<A, true>(rows, left, to, v_plane, p);
        else detail::winograd_forward<A, false>(rows, left, to, v_plane, p);
      };
      if constexpr (!deep) {
        forward(x + place.n * p.h * p.w * p.x_pixel, v + t * pitch);
      } else {
        const int64_t first_slice = place.n / p.od * p.d, front = place.n % p.od - p.pad_front;
        for (int64_t kz = 0; kz < p.kd; ++kz) {
          const int64_t z = front + kz * p.dilation_z;
          float* const to = v + (kz * block + t) * pitch;
          if (z >= 0 && z < p.d) forward(x + (first_slice + z) * p.h * p.w * p.x_pixel, to);
          else detail::winograd_nothing<A>(to, v_plane, p.cin);
        }
      }
    }
    Ahead ahead(u + panels * kKept * p.kd * p.cin * NR, p.weights_end);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      for (int64_t c = 0; c < p.cin; c += depth) {
        const int64_t steps = p.cin - c < depth ? p.cin - c : depth;
        const auto given = panel_of(u, p.scales, panel, p.kd * p.cin * kKept, NR) + c * kKept * NR;
        const float* frequencies = transformed;
        if constexpr (plain) {
          ahead.move(address_of(given + steps * kKept * NR), steps, kKept * NR * int64_t{sizeof(W)} * MR / (A * A * count));
          detail::winograd_weights<A, R, NV>(given, steps, transformed, u_plane);
        } else {
          frequencies = given;
        }
        for (int f = 0; f < A * A; ++f) {
          const float* const uf = frequencies + f * u_plane;
          if constexpr (!plain) ahead.move(uf + u_plane, steps, NR * 4 * MR / count);
          detail::winograd_gemm<MR, NV>(v + f * v_plane + c, pitch, steps, p.kd, block * pitch, uf, ahead, m + f * m_plane, count, c > 0);
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
          detail::winograd_back<A, T>(m + t * NR + j * Vec::width, m_plane, out);
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
