// Convolution of stride 2 by 3x3 kernels after Winograd, by phases. In each direction, inputs at even places meet the
// outer taps: a convolution of stride 1 by two taps, F(T, 2) with E = T + 1 points. Inputs at odd places meet the
// middle tap alone. T outputs take 2 T + 1 products where direct summation needs 3 T; in both directions that is 25 of
// 36 (T = 2) or 81 of 144 (T = 4).
//
//   y = A^T m_even + m_odd,   m_even = (G (w0, w2)) * (B^T (x0, x2, ...)),   m_odd = w1 * (x1, x3, ...)   in each direction
//
//   winograd_stride2<4, 7, 4>(share, x, u, y, v, {.h = 56, .w = 56, .cin = 64, .oh = 28, .ow = 28, .cout = 128, .kh = 3, .kw = 3,
//                                                 .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1, .x_pixel = 64,
//                                                 .y_pixel = 128, .bias = w_bias}, 28, Epilogue<Relu>{});
//
// Products by the middle tap have the same weight at each place. So a pair of channels has (E + 1)^2 weights, 16 or 36
// for 9 taps as in a convolution of stride 1, although it has (2 T + 1)^2 products. u:
// [ceil(cout / NR)][(E + 1)^2][cin][NR] (pack::winograd_stride2), in the order of use: both directions even [E][E];
// even down, odd across [E]; odd down, even across [E]; both odd. The planes of v and m are in that order too, with
// those that share weights next to each other: [E][E], [E][T], [E][T], [T][T].
//
// Parameters, blocks, scratch and untransformed weights are winograd.hpp's. Points are 0, 1 and infinity, and for T = 4
// also -1 and 2. The error relative to the largest |y| is less than direct summation's with three points, and up to
// twice that with five (4e-6 for 512 channels). Times: docs/measurements/2026-11-kernels.md.
#pragma once
#include "winograd.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// o = B^T d of F(T, 2): E of E inputs.
template <int T>
ONNXC_INLINE void winograd_even_input(const Vec* d, Vec* o) {
  static_assert(T == 2 || (T == 4 && contract::winograd_point(5, 3) == 2.0));  // 0, 1 and infinity, or -1 and 2 as well
  if constexpr (T == 2) {
    o[0] = d[1] - d[0];
    o[1] = d[1];
    o[2] = d[2] - d[1];
  } else {
    Vec e[4];  // by x - 2
    ONNXC_UNROLL for (int k = 0; k < 4; ++k) e[k] = fnma(Vec::all(2.0f), d[k], d[k + 1]);
    o[0] = e[2] - e[0];
    o[1] = e[2] + e[1];
    o[2] = e[2] - e[1];
    o[3] = d[3] - d[1];
    o[4] = e[3] - e[1];
  }
}

/// o = A^T m of F(T, 2): T of E.
template <int T>
ONNXC_INLINE void winograd_even_output(const Vec* m, Vec* o) {
  if constexpr (T == 2) {
    o[0] = m[0] + m[1];
    o[1] = m[1] + m[2];
  } else {
    const Vec sum = m[1] + m[2], difference = m[1] - m[2];
    o[0] = (m[0] + sum) + m[3];
    o[1] = fma(Vec::all(2.0f), m[3], difference);
    o[2] = fma(Vec::all(4.0f), m[3], sum);
    o[3] = fma(Vec::all(8.0f), m[3], difference) + m[4];
  }
}

/// o = G (first, last) of F(T, 2): E of the two outer taps.
template <int T>
ONNXC_INLINE void winograd_even_kernel(Vec first, Vec last, Vec* o) {
  if constexpr (T == 2) {
    o[0] = Vec::all(0.0f) - first;
    o[1] = first + last;
    o[2] = last;
  } else {
    const Vec sixth = first * Vec::all(1.0f / 6.0f);
    o[0] = first * Vec::all(0.5f);
    o[1] = (first + last) * Vec::all(-0.5f);
    o[2] = (last - first) * Vec::all(1.0f / 6.0f);
    o[3] = fma(Vec::all(1.0f / 3.0f), last, sixth);
    o[4] = last;
  }
}

/// Transforms a tile, as winograd_forward does.
template <int T, bool inside>
ONNXC_INLINE auto winograd_stride2_forward(const WinogradPixels<2 * T + 1, inside>& pixels, float* v, int64_t plane) {
  constexpr int E = T + 1;
  using Probes = WinogradProbes<T, 3, 2>;  // of even pixels
  WinogradSquares<Probes::count * Probes::count> squares;
  for (int64_t c = 0; c < pixels.p.cin; c += Vec::width) {
    Vec half[E * E], d[E], o[E];
    ONNXC_UNROLL for (int j = 0; j < E; ++j) {
      const int64_t at = pixels.column(2 * j, c);
      ONNXC_UNROLL for (int i = 0; i < E; ++i) {
        d[i] = pixels.load(2 * i, 2 * j, at, c);
        if (Probes::at(2 * i) >= 0 && Probes::at(2 * j) >= 0) squares.probe(Probes::at(2 * i) * Probes::count + Probes::at(2 * j), d[i]);
      }
      winograd_even_input<T>(d, o);
      ONNXC_UNROLL for (int i = 0; i < E; ++i) {
        half[i * E + j] = o[i];
        if (T > 2 && winograd_is_added<E, T>(i)) squares.add(o[i]);
      }
    }
    float* to = v + c;
    ONNXC_UNROLL for (int i = 0; i < E; ++i, to += E * plane) {
      to = opaque(to);
      winograd_even_input<T>(half + i * E, o);
      ONNXC_UNROLL for (int j = 0; j < E; ++j) {
        o[j].store(to + j * plane);
        if (T == 2 && winograd_is_added<E, T>(i) && winograd_is_added<E, T>(j)) squares.add(o[j]);
      }
    }
    ONNXC_UNROLL for (int j = 0; j < T; ++j) {  // odd columns: their even rows, then their odd rows
      const int64_t at = pixels.column(2 * j + 1, c);
      ONNXC_UNROLL for (int i = 0; i < E; ++i) d[i] = pixels.load(2 * i, 2 * j + 1, at, c);
      winograd_even_input<T>(d, o);
      float* const even = opaque(to + j * plane);
      ONNXC_UNROLL for (int i = 0; i < E; ++i) {
        o[i].store(even + i * T * plane);
        if (winograd_is_added<E, T>(i)) squares.add(o[i]);
      }
      float* const odd = opaque(to + (2 * E * T + j) * plane);
      ONNXC_UNROLL for (int i = 0; i < T; ++i) pixels.load(2 * i + 1, 2 * j + 1, at, c).store(odd + i * T * plane);
    }
    to += E * T * plane;
    ONNXC_UNROLL for (int i = 0; i < T; ++i) {  // odd rows of even columns
      const int64_t at = pixels.column(0, c);
      ONNXC_UNROLL for (int j = 0; j < E; ++j) d[j] = pixels.load(2 * i + 1, 2 * j, at + 2 * j * pixels.p.x_pixel, c);
      winograd_even_input<T>(d, o);
      float* const even = opaque(to + i * plane);
      ONNXC_UNROLL for (int j = 0; j < E; ++j) {
        o[j].store(even + j * T * plane);
        if (winograd_is_added<E, T>(j)) squares.add(o[j]);
      }
    }
  }
  return squares;
}
template <int T>
ONNXC_NOCLONE bool winograd_stride2_forward(const float* image, int64_t top, int64_t left, float* v, int64_t plane, const ConvParams& p) {
  constexpr int A = 2 * T + 1;
  const float limit = winograd_spread(p.cin) * (A * A) / 9;  // each pixel has a part of at least its square
  const auto squares = winograd_inside<A>(top, left, p)
                           ? winograd_stride2_forward<T>(WinogradPixels<A, true>(image, top, left, p), v, plane)
                           : winograd_stride2_forward<T>(WinogradPixels<A, false>(image, top, left, p), v, plane);
  return squares.suspect(limit) && winograd_is_spoilt<A, T, 3, 2>(image, top, left, p, sum(squares.all), squares.least());
}

/// Finds the taps, as winograd_kernel_of does. The outer taps of each direction are at points 0 and infinity, and the
/// middle one is kept as it is.
template <int T>
ONNXC_INLINE void winograd_stride2_kernel_of(const float* u, int64_t plane, Vec* taps) {
  constexpr int E = T + 1;
  constexpr float kFirst = T == 2 ? -1.0f : 2.0f;
  const auto frequency = [&](int y, int x) ONNXC_INLINE_LAMBDA {  // of taps y and x
    const int i = y == 0 ? 0 : E - 1, j = x == 0 ? 0 : E - 1;
    const int at = y == 1 ? (x == 1 ? E * E + 2 * E : E * E + E + j) : x == 1 ? E * E + i : i * E + j;
    return Vec::load(u + at * plane);
  };
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) taps[y * 3 + x] = frequency(y, x) * Vec::all((y == 0 ? kFirst : 1.0f) * (x == 0 ? kFirst : 1.0f));
  }
}

/// Transforms the weights of a panel to u, as winograd_weights does.
template <int T, int NV, class Row>
ONNXC_NOCLONE void winograd_stride2_weights(Row w, int64_t next, int64_t steps, float* u, int64_t plane) {
  constexpr int E = T + 1, NR = NV * Vec::width;
  for (int64_t k = 0; k < steps; ++k, w += next, u += NR) {
    for (int64_t j = 0; j < NR; j += Vec::width) {
      const auto tap = [&](int y, int x) ONNXC_INLINE_LAMBDA { return onnxc::load(w + (y * 3 + x) * NR, j); };
      Vec half[3][E + 1], o[E];  // down each column: E of the outer taps, the middle one
      ONNXC_UNROLL for (int x = 0; x < 3; ++x) {
        winograd_even_kernel<T>(tap(0, x), tap(2, x), half[x]);
        half[x][E] = tap(1, x);
      }
      float* to = u + j;
      ONNXC_UNROLL for (
          int i = 0; i <= E;
          ++i) {  // of row i: E of the outer taps, and the middle one, behind those of all even rows or behind those of this one
        winograd_even_kernel<T>(half[0][i], half[2][i], o);
        to = opaque(to);
        float* const even = to + (i < E ? 0 : E) * plane;
        ONNXC_UNROLL for (int x = 0; x < E; ++x) o[x].store(even + x * plane);
        half[1][i].store(i < E ? opaque(u + j + (E * E + i) * plane) : even + E * plane);
        to += E * plane;
      }
    }
  }
}

/// Transforms one vector of channels of one tile from m back to T x T outputs.
template <int T>
ONNXC_INLINE void winograd_stride2_back(const float* m, int64_t plane, Vec (&out)[T * T]) {
  constexpr int E = T + 1;
  Vec half[T * E], d[E], o[T];
  ONNXC_UNROLL for (int j = 0; j < E; ++j) {
    const float* const column = opaque(m + j * plane);
    ONNXC_UNROLL for (int i = 0; i < E; ++i) d[i] = Vec::load(column + i * E * plane);
    winograd_even_output<T>(d, o);
    ONNXC_UNROLL for (int i = 0; i < T; ++i) half[i * E + j] = o[i];
  }
  ONNXC_UNROLL for (int i = 0; i < T; ++i) winograd_even_output<T>(half + i * E, out + i * T);
  m += E * E * plane;
  ONNXC_UNROLL for (int side = 0; side < 2; ++side) {  // even down, odd across; odd down, even across
    ONNXC_UNROLL for (int j = 0; j < T; ++j) {
      const float* const line = opaque(m + j * plane);
      ONNXC_UNROLL for (int i = 0; i < E; ++i) d[i] = Vec::load(line + i * T * plane);
      winograd_even_output<T>(d, o);
      ONNXC_UNROLL for (int i = 0; i < T; ++i) {
        Vec& sum = side == 0 ? out[i * T + j] : out[j * T + i];
        sum = sum + o[i];
      }
    }
    m += E * T * plane;
  }
  ONNXC_UNROLL for (int i = 0; i < T; ++i) {
    const float* const row = opaque(m + i * T * plane);
    ONNXC_UNROLL for (int j = 0; j < T; ++j) out[i * T + j] = out[i * T + j] + Vec::load(row + j * plane);
  }
}

/// What winograd_blocks asks for; see WinogradForm.
template <int T>
struct WinogradStride2Form {
  static constexpr contract::WinogradForm sizes{T, 3, 2};
  static constexpr int E = T + 1, outputs = T, kernel_extent = 3, step = 2 * T, stride = 2, frequencies = sizes.points() * sizes.points(),
                       kept = sizes.kept() * sizes.kept(), taps = 9;

  static bool forward(const float* image, int64_t top, int64_t left, float* v, int64_t plane, const ConvParams& p) {
    return winograd_stride2_forward<T>(image, top, left, v, plane, p);
  }
  static ONNXC_INLINE void kernel_of(const float* u, int64_t plane, Vec* w) { winograd_stride2_kernel_of<T>(u, plane, w); }
  template <int NV, class Row>
  static void weights(Row w, int64_t next, int64_t steps, float* u, int64_t plane) {
    winograd_stride2_weights<T, NV>(w, next, steps, u, plane);
  }
  template <int MR, int NV>
  static void products(const WinogradProducts& even, Prefetcher& ahead, bool fetch, bool onto) {
    winograd_products<MR, NV>(even, E * E, ahead, fetch, onto);
    const WinogradProducts mixed = even.after(E * E, T);
    winograd_products<MR, NV>(mixed, 2 * E * T, ahead, fetch, onto);
    winograd_products<MR, NV>(mixed.after(2 * E * T, T * T), T * T, ahead, fetch, onto);
  }
  static ONNXC_INLINE void back(const float* m, int64_t plane, Vec (&out)[T * T]) { winograd_stride2_back<T>(m, plane, out); }
};

}  // namespace detail

/// Floats of scratch for one share; `block` tiles at a time.
template <int T, int NV, bool untransformed = false>
constexpr int64_t winograd_stride2_scratch(int64_t cin, int64_t block) {
  return detail::winograd_room<detail::WinogradStride2Form<T>, NV, untransformed>(cin, block, 1);
}

/// See the head of the file; `untransformed` and `block` as winograd has them.
template <int T, int MR, int NV, bool untransformed = false, class W, class Epi = Epilogue<Keep>>
ONNXC_NOCLONE void winograd_stride2(Share share, const float* x, const W* u, float* y, float* v, ConvParams p, int64_t block,
                                    Epi epi = {}) {
  detail::winograd_blocks<detail::WinogradStride2Form<T>, MR, NV, untransformed, false>(share, x, u, y, v, p, block, epi);
}

}  // namespace onnxc
