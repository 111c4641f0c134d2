// Convolution of stride 1 after Winograd, F(T, R) in both directions: T x T outputs of A x A inputs, A = T + R - 1,
// with A^2 products where direct summation needs T^2 R^2: F(2,3) 16 for 36, F(4,3) 36 for 144, F(3,4) 36 for 144.
//
//   y = A^T [ (G w G^T) * (B^T x B) ] A,   * elementwise, summed over input channels: a GEMM for each of the A^2 frequencies
//
//   winograd<4, 3, 14, 2>(share, x, u, y, v, {.h = 56, .w = 56, .cin = 64, .oh = 56, .ow = 56, .cout = 64, .pad_top = 1,
//                                             .pad_left = 1, .x_pixel = 64, .y_pixel = 64, .bias = w_bias}, 28, Epilogue<Relu>{});
//
// u = G w G^T is made at compile time, in double: [ceil(cout / NR)][A^2][cin][NR] (pack::winograd), in the order of
// use. Parameters are conv's with a kernel of R x R, strides and dilations 1, group 1; any pads. v: winograd_scratch
// floats of this share, 64-byte aligned.
//
// `many_taps`: a frequency may have several taps, with v [frequency][tap][tile][cin] and u [..][A^2][tap][cin][NR].
// They are the slices of a volume's kernel (stride_z 1), whose depth is not transformed, or the pieces of R x R of a
// larger kernel of any size, the last of them filled with zeros: 6x6 by F(4,3) has 144 products for 576.
//
// `untransformed`: weights may also come as they are, which keeps and streams A^2 / R^2 times fewer bytes, or fewer yet
// where a narrower type holds them (stored.hpp): w [ceil(cout / NR)][cin][tap][R^2][NR] (pack::conv_stem). Then u is
// made here for each block, of winograd_depth channels of a panel at a time. This takes as much time as three to five
// more tiles in each block.
//
// Output tiles are computed in blocks: winograd_blocks.hpp. Register tiles: 7x4 or 14x2 where there are many output
// tiles, 8x2 where there are few, so that no row is wasted. With few tiles and many channels the stream of u bounds the
// kernel, and F(2,3), whose u is smaller, is the better choice. Times: docs/measurements/2026-11-kernels.md.
//
// Error against the exact result, relative to the largest |y|: F(2,3) as direct summation, transforms of six points
// about ten times that (1e-5 for 512 channels). References: winograd_transform.hpp.
#pragma once
#include "winograd_blocks.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Transforms the weights of `steps` channels of a panel, as panel_of returns it, to u: frequency f at u + f * plane.
/// A channel has [R * R][NR] floats, and the next one begins `next` later.
template <int A, int R, int NV, class Row>
ONNXC_NOCLONE void winograd_weights(Row w, int64_t next, int64_t steps, float* u, int64_t plane) {
  constexpr int NR = NV * Vec::width;
  for (int64_t k = 0; k < steps; ++k, w += next, u += NR) {
    for (int64_t j = 0; j < NR; j += Vec::width) {
      Vec half[A * R];
      ONNXC_UNROLL for (int x = 0; x < R; ++x) {
        Vec column[R], transformed[A];
        ONNXC_UNROLL for (int y = 0; y < R; ++y) column[y] = onnxc::load(w + (y * R + x) * NR, j);
        winograd_kernel<A, R>(column, transformed);
        ONNXC_UNROLL for (int i = 0; i < A; ++i) half[i * R + x] = transformed[i];
      }
      float* to = u + j;
      ONNXC_UNROLL for (int i = 0; i < A; ++i, to += A * plane) {
        Vec transformed[A];
        to = opaque(to);
        winograd_kernel<A, R>(half + i * R, transformed);
        ONNXC_UNROLL for (int x = 0; x < A; ++x) transformed[x].store(to + x * plane);
      }
    }
  }
}

/// Transforms the tile of the image that begins at (top, left), and may lie partly outside of it, to v: frequency f at
/// v + f * plane. Returns the squares of what it held.
template <int A, int T, bool inside>
ONNXC_INLINE auto winograd_forward(const WinogradPixels<A, inside>& pixels, float* v, int64_t plane) {
  using Probes = WinogradProbes<T, A - T + 1>;
  WinogradSquares<Probes::count * Probes::count> squares;
  for (int64_t c = 0; c < pixels.p.cin; c += Vec::width) {
    Vec half[A * A], d[A], o[A];
    ONNXC_UNROLL for (int j = 0; j < A; ++j) {
      const int64_t at = pixels.column(j, c);
      ONNXC_UNROLL for (int i = 0; i < A; ++i) {
        d[i] = pixels.load(i, j, at, c);
        if (Probes::at(i) >= 0 && Probes::at(j) >= 0) squares.probe(Probes::at(i) * Probes::count + Probes::at(j), d[i]);
      }
      winograd_input<A>(d, o);
      ONNXC_UNROLL for (int i = 0; i < A; ++i) {
        half[i * A + j] = o[i];
        if (T > 2 && winograd_is_added<A, T>(i)) squares.add(o[i]);
      }
    }
    float* to = v + c;
    ONNXC_UNROLL for (int i = 0; i < A; ++i, to += A * plane) {
      to = opaque(to);
      winograd_input<A>(half + i * A, o);
      ONNXC_UNROLL for (int j = 0; j < A; ++j) {
        o[j].store(to + j * plane);
        if (T == 2 && winograd_is_added<A, T>(i) && winograd_is_added<A, T>(j)) squares.add(o[j]);
      }
    }
  }
  return squares;
}
/// The same. Returns whether the tile is spoilt.
template <int A, int T>
ONNXC_NOCLONE bool winograd_forward(const float* image, int64_t top, int64_t left, float* v, int64_t plane, const ConvParams& p) {
  constexpr int R = A - T + 1;
  const float limit = winograd_spread(p.cin) * (winograd_gain<A>() * (A * A) / (R * R));
  const auto squares = winograd_inside<A>(top, left, p) ? winograd_forward<A, T>(WinogradPixels<A, true>(image, top, left, p), v, plane)
                                                        : winograd_forward<A, T>(WinogradPixels<A, false>(image, top, left, p), v, plane);
  return squares.suspect(limit) && winograd_is_spoilt<A, T, R, 1>(image, top, left, p, sum(squares.all), squares.least());
}

/// Finds the R x R taps from which a vector of output channels of transformed weights was made, frequency f at
/// u + f * plane.
template <int A, int R>
ONNXC_INLINE void winograd_kernel_of(const float* u, int64_t plane, Vec* taps) {
  Vec half[A * R], line[A], found[R];
  for (int i = 0; i < A; ++i) {
    for (int j = 0; j < A; ++j) line[j] = Vec::load(u + (i * A + j) * plane);
    winograd_taps_of<A, R>(line, half + i * R);
  }
  for (int x = 0; x < R; ++x) {
    for (int i = 0; i < A; ++i) line[i] = half[i * R + x];
    winograd_taps_of<A, R>(line, found);
    for (int y = 0; y < R; ++y) taps[y * R + x] = found[y];
  }
  winograd_clear_zeros(taps, R * R);
}

/// Transforms one vector of channels of one tile from m, frequency f at m + f * plane, back to T x T outputs.
template <int A, int T>
ONNXC_INLINE void winograd_back(const float* m, int64_t plane, Vec (&out)[T * T]) {
  Vec half[T * A];
  ONNXC_UNROLL for (int j = 0; j < A; ++j, m += plane) {
    Vec column[A], transformed[T];
    m = opaque(m);
    ONNXC_UNROLL for (int i = 0; i < A; ++i) column[i] = Vec::load(m + i * A * plane);
    winograd_output<A, T>(column, transformed);
    ONNXC_UNROLL for (int i = 0; i < T; ++i) half[i * A + j] = transformed[i];
  }
  ONNXC_UNROLL for (int i = 0; i < T; ++i) winograd_output<A, T>(half + i * A, out + i * T);
}

/// F(T, R) in the form that winograd_blocks asks for: a tile has T x T outputs, tiles are `step` inputs apart, and
/// there are `kept` transformed weights for each pair of channels, or `taps` untransformed ones.
template <int T, int R>
struct WinogradForm {
  static constexpr contract::WinogradForm sizes{T, R};
  static constexpr int A = sizes.points(), outputs = T, kernel_extent = R, step = T, stride = 1, frequencies = A * A, kept = A * A,
                       taps = R * R;

  /// Returns whether the tile is spoilt.
  static bool forward(const float* image, int64_t top, int64_t left, float* v, int64_t plane, const ConvParams& p) {
    return winograd_forward<A, T>(image, top, left, v, plane, p);
  }
  static ONNXC_INLINE void kernel_of(const float* u, int64_t plane, Vec* w) { winograd_kernel_of<A, R>(u, plane, w); }
  template <int NV, class Row>
  static void weights(Row w, int64_t next, int64_t steps, float* u, int64_t plane) {
    winograd_weights<A, R, NV>(w, next, steps, u, plane);
  }
  template <int MR, int NV>
  static void products(const WinogradProducts& g, Prefetcher& ahead, bool fetch, bool onto) {
    winograd_products<MR, NV>(g, frequencies, ahead, fetch, onto);
  }
  static ONNXC_INLINE void back(const float* m, int64_t plane, Vec (&out)[T * T]) { winograd_back<A, T>(m, plane, out); }
};

}  // namespace detail

/// Floats of scratch for one share, for `block` tiles at a time and `taps` slices or pieces of the kernel.
template <int T, int R, int NV, bool untransformed = false>
constexpr int64_t winograd_scratch(int64_t cin, int64_t block, int64_t taps = 1) {
  return detail::winograd_room<detail::WinogradForm<T, R>, NV, untransformed>(cin, block, taps);
}

/// See the head of the file. `untransformed`: u holds w as it is. `many_taps`: there may be slices or pieces. `block`:
/// tiles at a time; A^2 * block * cin floats should fit half of L2.
template <int T, int R, int MR, int NV, bool untransformed = false, bool many_taps = false, class W, class Epi = Epilogue<Keep>>
ONNXC_NOCLONE void winograd(Share share, const float* x, const W* u, float* y, float* v, ConvParams p, int64_t block, Epi epi = {}) {
  detail::winograd_blocks<detail::WinogradForm<T, R>, MR, NV, untransformed, many_taps>(share, x, u, y, v, p, block, epi);
}

}  // namespace onnxc
