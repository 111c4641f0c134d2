// The first convolution of a network after Winograd, along the columns of a planar image of few channels: F(T, R) makes
// T rows of outputs of A = T + R - 1 rows of inputs with A products where direct summation needs T R
// (winograd_transform.hpp). The rows of the image are transformed once for all output channels, which costs next to
// nothing.
//
//   stem_winograd<3, 4, 5, 2>(share, image, u, y, v, {.h = 224, .w = 224, .cin = 3, .oh = 112, .ow = 112, .cout = 64, .kh = 7, .kw = 7,
//                                                     .stride_y = 2, .stride_x = 2, .pad_top = 3, .pad_left = 3, .y_pixel = 64,
//                                                     .bias = w_bias}, Epilogue<Relu>{});
//
// With stride S a column has S phases, whose rows and taps are every S-th: 7 taps of stride 2 are 4 and 3. Each phase
// is a convolution of stride 1, and all phases add to the same frequencies. A phase of more than R taps goes in pieces,
// which add to them too. A piece that ends early is filled with zeros.
//
// x and the parameters are conv_stem's: SX is stride_x, dilations and group are 1. u:
// [ceil(cout / NR)][piece][ci][kx][A][NR], with NR one vector, made at compile time in double (pack::stem_winograd). v:
// stem_winograd_scratch floats of this share, 64-byte aligned, for a band of T output rows: [piece][ci][A][pitch].
//
// A register tile is P neighbours of a row, or half as many at its end: A P accumulators, which become T P outputs in
// registers. A band that the transforms would spoil (winograd_spoilt.hpp) is computed as sums over its windows.
#pragma once
#include "contract/stem.hpp"
#include "conv.hpp"
#include "winograd_spoilt.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// How transformed rows lie in v.
struct StemPlanes {
  int64_t pieces, lead, pitch;  // lead: floats before column 0 of the image

  constexpr StemPlanes(const ConvParams& p, int R, int P)
      : pieces(contract::stem_pieces(p.kh, R, p.stride_y)),
        lead(contract::stem_lead(p.pad_left)),
        pitch(contract::stem_winograd_pitch(p.w, p.ow, p.kw, p.stride_x, p.pad_left, P)) {}
};

/// Which columns of an image may be spoilt in a band, as bits: at most 64 ranges of columns, each of whole vectors.
struct StemSuspects {
  int64_t columns;  // in a range
  uint64_t ranges = 0;

  explicit StemSuspects(int64_t width) : columns((width + 64 * Vec::width - 1) / (64 * Vec::width) * Vec::width) {}
  void add(int64_t column) { ranges |= uint64_t{1} << column / columns; }
  /// Whether one of the columns [first, last) is in such a range.
  bool in(int64_t first, int64_t last) const {
    for (int64_t range = first / columns; range * columns < last; ++range) {
      if (ranges >> range & 1) return true;
    }
    return false;
  }
};

/// Whether a band is spoilt: some outputs have windows whose values are far less than others in their columns, or
/// something is not finite. The rows of the band begin at `top` of the image. `suspects`: where to look.
template <int T>
ONNXC_NOCLONE bool stem_winograd_is_spoilt(const float* image, int64_t top, const StemSuspects& suspects, const ConvParams& p) {
  constexpr int64_t kOutputs = 16, kColumns = 512;
  const int64_t columns = (kOutputs - 1) * p.stride_x + p.kw;
  if (columns > kColumns) return true;  // wider than any stem
  const float limit = winograd_spread(p.cin), finite = std::numeric_limits<float>::max();
  for (int64_t ox = 0; ox < p.ow; ox += kOutputs) {
    const int64_t left = ox * p.stride_x - p.pad_left, first = left < 0 ? 0 : left, last = left + columns < p.w ? left + columns : int64_t{p.w};
    if (!suspects.in(first, last)) continue;
    // Squares of each column: over all rows, and over those of each output. Then sums over kw columns, from each one
    // on.
    alignas(64) float sums[T + 1][kColumns + 2 * Vec::width] = {};
    for (int64_t c = first; c < last; c += Vec::width) {
      const int64_t lanes = last - c;
      Vec of[T + 1];
      for (Vec& v : of) v = Vec::all(0.0f);
      for (int64_t r = 0; r < (T - 1) * p.stride_y + p.kh; ++r) {
        if (top + r < 0 || top + r >= p.h) continue;
        const float* x = image + (top + r) * p.w + c;
        Vec squares = Vec::all(0.0f);
        for (int64_t ci = 0; ci < p.cin; ++ci, x += p.h * p.w) {
          const Vec v = lanes >= Vec::width ? Vec::load(x) : Vec::load(x, lanes);
          squares = fma(v, v, squares);
        }
        of[T] = of[T] + squares;
        ONNXC_UNROLL for (int t = 0; t < T; ++t) {
          if (r >= t * p.stride_y && r < t * p.stride_y + p.kh) of[t] = of[t] + squares;
        }
      }
      for (int t = 0; t <= T; ++t) of[t].store(sums[t] + (c - left));
    }
    for (int64_t c = 0; c < columns - p.kw + 1; c += Vec::width) {
      Vec of[T + 1];
      for (int t = 0; t <= T; ++t) {
        of[t] = Vec::load(sums[t] + c);
        for (int64_t k = 1; k < p.kw; ++k) of[t] = of[t] + Vec::load(sums[t] + c + k);
      }
      Mask doubtful = ~(of[T] <= Vec::all(finite));
      for (int t = 0; t < T; ++t) doubtful = doubtful | ((of[t] > Vec::all(0.0f)) & (of[T] > of[t] * Vec::all(limit)));
      if (!any(doubtful)) continue;
      alignas(64) float windows[T + 1][Vec::width];
      for (int t = 0; t <= T; ++t) of[t].store(windows[t]);
      for (int64_t i = 0; i < Vec::width; ++i) {
        if ((c + i) % p.stride_x != 0 || (c + i) / p.stride_x >= (p.ow - ox < kOutputs ? p.ow - ox : kOutputs)) continue;  // no output
        if (!(windows[T][i] <= finite)) return true;
        for (int t = 0; t < T; ++t) {
          if (windows[t][i] > 0 && windows[T][i] > limit * windows[t][i]) return true;
        }
      }
    }
  }
  return false;
}

/// Transforms the rows of `image` from `top` on, some of which may lie outside of it, to v. Returns whether the band is
/// spoilt.
template <int A, int R>
ONNXC_INLINE bool stem_winograd_forward(const float* image, int64_t top, float* v, const StemPlanes& planes, const ConvParams& p) {
  constexpr int T = A - R + 1;
  using Probes = WinogradProbes<T, R>;
  const float limit = winograd_spread(p.cin) * winograd_gain<A>();  // a spoilt band has a column that exceeds this by itself
  StemSuspects suspects(p.w);
  const auto zeros = [&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
    for (int64_t line = 0; line < planes.pieces * p.cin * A; ++line) {
      for (int64_t c = from; c < to; c += Vec::width) Vec::all(0.0f).store(v + line * planes.pitch + c);
    }
  };
  zeros(0, planes.lead);
  int64_t c = 0;
  for (; c < p.w; c += Vec::width) {
    const int64_t lanes = p.w - c;
    float* to = v + planes.lead + c;
    WinogradSquares<Probes::count>
        squares;  // of all pieces and channels: the more there are, the fewer columns look like outliers by chance
    for (int64_t tap = 0; tap < p.kh; ++tap) {
      if (!contract::stem_piece_begins(tap, R, p.stride_y)) continue;
      for (int64_t ci = 0; ci < p.cin; ++ci, to += A * planes.pitch) {
        Vec in[A], out[A];
        ONNXC_UNROLL for (int i = 0; i < A; ++i) {
          const int64_t iy = top + tap + i * p.stride_y;
          const float* const x = image + (ci * p.h + iy) * p.w + c;
          in[i] = iy < 0 || iy >= p.h ? Vec::all(0.0f) : lanes >= Vec::width ? Vec::load(x) : Vec::load(x, lanes);
        }
        winograd_input<A>(in, out);
        ONNXC_UNROLL for (int i = 0; i < A; ++i) {
          out[i].store(to + i * planes.pitch);
          if (Probes::at(i) >= 0) squares.probe(Probes::at(i), in[i]);
          if (winograd_is_added<A, T>(i)) squares.add(out[i]);
        }
      }
    }
    if (squares.suspect_lanes(limit)) suspects.add(c);
  }
  zeros(planes.lead + c, planes.pitch);
  return suspects.ranges != 0 && stem_winograd_is_spoilt<T>(image, top, suspects, p);
}

/// Computes rows [top, top + height) of P pixels from ox on, of one vector of output channels, by the taps from which u
/// was made. `image` and `at` are those of stem_winograd_band.
template <int T, int R, int P, class Epi>
ONNXC_NOCLONE void stem_winograd_direct(const float* image, const float* u, float* y, int64_t ox, int64_t top, int64_t channel,
                                        int64_t height, const int64_t (&at)[T], const StemPlanes& planes, const ConvParams& p,
                                        const Epi& epi) {
  constexpr int A = T + R - 1;
  Vec sums[T * P], frequencies[A], w[R];
  for (Vec& sum : sums) sum = p.bias != nullptr ? Vec::load(p.bias + channel) : Vec::all(0.0f);
  u += channel * planes.pieces * p.cin * p.kw * A;
  for (int64_t tap = 0; tap < p.kh; ++tap) {
    if (!contract::stem_piece_begins(tap, R, p.stride_y)) continue;
    for (int64_t k = 0; k < p.cin * p.kw; ++k, u += A * Vec::width) {
      for (int f = 0; f < A; ++f) frequencies[f] = Vec::load(u + f * Vec::width);
      winograd_taps_of<A, R>(frequencies, w);
      winograd_clear_zeros(w, R);
      for (int64_t i = 0; i < T * P; ++i) {
        const int64_t ix = (ox + i % P) * p.stride_x - p.pad_left + k % p.kw;
        for (int64_t r = 0; r < R && tap + r * p.stride_y < p.kh; ++r) {
          const int64_t iy = (top + i / P + r) * p.stride_y - p.pad_top + tap;
          if (iy >= 0 && iy < p.h && ix >= 0 && ix < p.w) sums[i] = fma(Vec::all(image[(k / p.kw * p.h + iy) * p.w + ix]), w[r], sums[i]);
        }
      }
    }
  }
  for (int64_t i = 0; i < T * P; ++i) {
    const int64_t row = at[i / P < height ? i / P : 0] + ox + i % P;
    if (i / P < height && ox + i % P < p.ow) finish_lanes(epi, sums[i], row, channel, y + row * p.y_pixel + channel, p.cout - channel);
  }
}

/// Multiplies the frequencies of P pixels, the first of which meets the first tap at `v`, by `lines` times kw taps.
template <int A, int P, int SX>
ONNXC_INLINE void stem_winograd_products(const float* v, int64_t pitch, int64_t lines, int64_t kw, const float* u, Vec (&acc)[P][A]) {
  ONNXC_UNROLL for (int i = 0; i < P; ++i) { ONNXC_UNROLL for (int f = 0; f < A; ++f) acc[i][f] = Vec::all(0.0f); }
  for (int64_t line = 0; line < lines; ++line, v += A * pitch) {
    for (int64_t kx = 0; kx < kw; ++kx, u += A * Vec::width) {
      const float* pixel = v + kx;
      ONNXC_UNROLL for (int f = 0; f < A; ++f, pixel += pitch) {
        pixel = opaque(pixel);  // the others are displacements from it
        Vec w = Vec::load(u + f * Vec::width);
        pin(w);  // g++ 12 would load it for each product, and broadcast in an instruction of its own
        ONNXC_UNROLL for (int i = 0; i < P; ++i) acc[i][f] = fma(Vec::all(pixel[i * SX]), w, acc[i][f]);
      }
    }
  }
}

/// Computes P pixels of a row from ox on, of one vector of output channels, in `height` rows, at most T: row t goes to
/// pixels at[t] and on of y.
template <int T, int R, int P, int SX, class Epi>
ONNXC_INLINE void stem_winograd_tile(const float* u, float* y, const float* v, int64_t ox, int64_t channel, int64_t height,
                                     const int64_t (&at)[T], const StemPlanes& planes, const ConvParams& p, const Epi& epi) {
  constexpr int A = T + R - 1, NR = Vec::width;
  const int64_t lines = planes.pieces * p.cin;
  const Vec bias = p.bias != nullptr ? Vec::load(p.bias + channel) : Vec::all(0.0f);
  Vec acc[P][A], out[T];
  stem_winograd_products<A, P, SX>(v + planes.lead - p.pad_left + ox * SX, planes.pitch, lines, p.kw, u + channel * lines * p.kw * A, acc);
  if (height == T && ox + P <= p.ow && channel + NR <= p.cout) {
    ONNXC_UNROLL for (int i = 0; i < P; ++i) {
      winograd_output<A, T>(acc[i], out);
      ONNXC_UNROLL for (int t = 0; t < T; ++t)
          finish_vector(epi, out[t] + bias, at[t] + ox + i, channel, opaque(y + (at[t] + ox + i) * p.y_pixel + channel));
    }
    return;
  }
  alignas(64) float tile[T][P * NR];
  ONNXC_UNROLL for (int i = 0; i < P; ++i) {
    winograd_output<A, T>(acc[i], out);
    ONNXC_UNROLL for (int t = 0; t < T; ++t)(out[t] + bias).store(tile[t] + i * NR);
  }
  for (int64_t t = 0; t < height; ++t) {
    for (int64_t i = 0; i < P && ox + i < p.ow; ++i) {
      const int64_t row = at[t] + ox + i;
      finish_lanes(epi, Vec::load(tile[t] + i * NR), row, channel, y + row * p.y_pixel + channel, p.cout - channel);
    }
  }
}

/// Computes output rows [top, top + height) of `image`, at most T: row top + t goes to pixels at[t] and on of y.
template <int T, int R, int P, int SX, class Epi>
ONNXC_INLINE void stem_winograd_band(const float* image, const float* u, float* y, float* v, int64_t top, int64_t height,
                                     const int64_t (&at)[T], const StemPlanes& planes, const ConvParams& p, const Epi& epi) {
  constexpr int kHalf = (P + 1) / 2;
  const bool spoilt = stem_winograd_forward<T + R - 1, R>(image, top * p.stride_y - p.pad_top, v, planes, p);
  for (int64_t channel = 0; channel < p.cout; channel += Vec::width) {
    int64_t ox = 0;
    for (; spoilt && ox < p.ow; ox += P) stem_winograd_direct<T, R, P>(image, u, y, ox, top, channel, height, at, planes, p, epi);
    for (; ox + kHalf < p.ow; ox += P) stem_winograd_tile<T, R, P, SX>(u, y, v, ox, channel, height, at, planes, p, epi);
    if (ox < p.ow) stem_winograd_tile<T, R, kHalf, SX>(u, y, v, ox, channel, height, at, planes, p, epi);
  }
}

}  // namespace detail

/// Floats of scratch for one share.
template <int T, int R, int P>
constexpr int64_t stem_winograd_scratch(const ConvParams& p) {
  const detail::StemPlanes planes(p, R, P);
  return contract::stem_winograd_rows(planes.pieces, p.cin, T + R - 1) * planes.pitch;
}

/// See the head of the file.
template <int T, int R, int P, int SX, class Epi = Epilogue<Keep>>
void stem_winograd(Share share, const float* x, const float* u, float* y, float* v, ConvParams p, Epi epi = {}) {
  const detail::StemPlanes planes(p, R, P);
  const int64_t bands = (p.oh + T - 1) / T;
  const auto [first, last] = share.slice(p.n * bands);
  for (int64_t band = first; band < last; ++band) {
    const int64_t n = band / bands, top = band % bands * T;
    int64_t at[T];
    for (int64_t t = 0; t < T; ++t) at[t] = (n * p.oh + top + t) * p.ow;
    detail::stem_winograd_band<T, R, P, SX>(x + n * p.cin * p.h * p.w, u, y, v, top, p.oh - top < T ? p.oh - top : T, at, planes, p, epi);
  }
}

}  // namespace onnxc
