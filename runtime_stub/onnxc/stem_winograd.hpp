// The first convolution of a network after Winograd along the columns of a planar image of few channels: F(T, R) makes T rows of outputs of A = T + R - 1 rows of inputs
// with A products where T R are needed (winograd_transform.hpp). The rows of the image are transformed once for all output channels, which costs next to nothing.
//
//   stem_winograd<3, 4, 5, 2>(part, image, u, y, v, {.h = 224, .w = 224, .cin = 3, .oh = 112, .ow = 112, .cout = 64, .kh = 7, .kw = 7, .stride_y = 2,
//                                                    .stride_x = 2, .pad_top = 3, .pad_left = 3, .y_pixel = 64, .bias = w_bias}, Epilogue<Relu>{});
//
// Of stride S a column has S phases, whose rows and taps are every S-th: 7 taps of stride 2 are 4 and 3. Each phase is a convolution of stride 1, and all add to the same
// frequencies; so do pieces of R taps of one that has more. A piece that ends early is filled with zeros.
//
// x, and the parameters, as conv_stem has them: SX is stride_x, dilations and group are 1. u: [ceil(cout / NR)][piece][ci][kx][A][NR], NR a vector, made at compile time, in
// double (pack::stem_winograd). v: stem_winograd_scratch floats of this part, 64-byte aligned: [piece][ci][A][pitch], a band of T output rows. P neighbours of a row at a time,
// or half of them at its end: A P accumulators, which become T P outputs in registers.
#pragma once
#include "conv.hpp"
#include "winograd_transform.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// How transformed rows lie in v.
struct StemPlanes {
  int64_t pieces, lead, pitch;  // lead: floats before column 0 of the image

  /// Pieces begin at the taps t with t % (R stride) < stride.
  constexpr StemPlanes(const ConvParams& p, int R, int P) {
    const int64_t span = R * p.stride_y, rest = p.kh % span;
    pieces = p.kh / span * p.stride_y + (rest < p.stride_y ? rest : p.stride_y);
    lead = (p.pad_left + 15) / 16 * 16;
    const int64_t read = lead - p.pad_left + ((p.ow + P - 1) / P * P - 1) * p.stride_x + p.kw, written = lead + (p.w + 15) / 16 * 16;
    pitch = ((read > written ? read : written) + 31) / 32 * 32 + 16;  // no pages: rows would share sets of the first cache
  }
};

/// Rows of `image` from `top` on, which may lie beside it, to v.
template <int A, int R>
ONNXC_INLINE void stem_winograd_forward(const float* image, int64_t top, float* v, const StemPlanes& planes, const ConvParams& p) {
  for (int64_t tap = 0; tap < p.kh; ++tap) {
    if (tap % (R * p.stride_y) >= p.stride_y) continue;
    for (int64_t ci = 0; ci < p.cin; ++ci, v += A * planes.pitch) {
      const float* rows[A];
      for (int64_t i = 0; i < A; ++i) {
        const int64_t iy = top + tap + i * p.stride_y;
        rows[i] = iy >= 0 && iy < p.h ? image + (ci * p.h + iy) * p.w : nullptr;
      }
      const auto zeros = [&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
        for (; from < to; from += Vec::width) {
          for (int i = 0; i < A; ++i) Vec::all(0.0f).store(v + i * planes.pitch + from);
        }
      };
      zeros(0, planes.lead);
      int64_t c = 0;
      for (; c < p.w; c += Vec::width) {
        const int64_t lanes = p.w - c;
        Vec in[A], out[A];
        ONNXC_UNROLL for (int i = 0; i < A; ++i) in[i] = rows[i] == nullptr ? Vec::all(0.0f) : lanes >= Vec::width ? Vec::load(rows[i] + c) : Vec::load(rows[i] + c, lanes);
        winograd_input<A>(in, out);
        ONNXC_UNROLL for (int i = 0; i < A; ++i) out[i].store(v + i * planes.pitch + planes.lead + c);
      }
      zeros(planes.lead + c, planes.pitch);
    }
  }
}

/// The frequencies of P pixels, the first of which meets the first tap at `v`; `lines` times kw taps. At the point 1 the bias is the bias of all outputs.
template <int A, int P, int SX>
ONNXC_INLINE void stem_winograd_products(const float* v, int64_t pitch, int64_t lines, int64_t kw, const float* u, Vec bias, Vec (&acc)[P][A]) {
  ONNXC_UNROLL for (int i = 0; i < P; ++i) {
    ONNXC_UNROLL for (int f = 0; f < A; ++f) acc[i][f] = f == 1 ? bias : Vec::all(0.0f);
  }
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

/// P pixels of a row from ox on, of one vector of output channels, in T rows at most: row t to pixels at[t] and on of y.
template <int T, int R, int P, int SX, class Epi>
ONNXC_INLINE void stem_winograd_tile(const float* u, float* y, const float* v, int64_t ox, int64_t channel, int64_t height, const int64_t (&at)[T], const StemPlanes& planes,
                                     const ConvParams& p, const Epi& epi) {
  constexpr int A = T + R - 1, NR = Vec::width;
  const int64_t lines = planes.pieces * p.cin;
  const Vec bias = p.bias != nullptr ? Vec::load(p.bias + channel) : Vec::all(0.0f);
  Vec acc[P][A], out[T];
  stem_winograd_products<A, P, SX>(v + planes.lead - p.pad_left + ox * SX, planes.pitch, lines, p.kw, u + channel * lines * p.kw * A, bias, acc);
  if (height == T && ox + P <= p.ow && channel + NR <= p.cout) {
    ONNXC_UNROLL for (int i = 0; i < P; ++i) {
      winograd_output<A, T>(acc[i], out);
      ONNXC_UNROLL for (int t = 0; t < T; ++t) finish_vector(epi, out[t], at[t] + ox + i, channel, opaque(y + (at[t] + ox + i) * p.y_pixel + channel));
    }
    return;
  }
  alignas(64) float tile[T][P * NR];
  ONNXC_UNROLL for (int i = 0; i < P; ++i) {
    winograd_output<A, T>(acc[i], out);
    ONNXC_UNROLL for (int t = 0; t < T; ++t) out[t].store(tile[t] + i * NR);
  }
  for (int64_t t = 0; t < height; ++t) {
    for (int64_t i = 0; i < P && ox + i < p.ow; ++i) {
      const int64_t row = at[t] + ox + i;
      finish_lanes(epi, Vec::load(tile[t] + i * NR), row, channel, y + row * p.y_pixel + channel, p.cout - channel);
    }
  }
}

/// Output rows [top, top + height) of `image`, at most T: row top + t to pixels at[t] and on of y.
template <int T, int R, int P, int SX, class Epi>
ONNXC_INLINE void stem_winograd_band(const float* image, const float* u, float* y, float* v, int64_t top, int64_t height, const int64_t (&at)[T], const StemPlanes& planes,
                                     const ConvParams& p, const Epi& epi) {
  constexpr int kHalf = (P + 1) / 2;
  stem_winograd_forward<T + R - 1, R>(image, top * p.stride_y - p.pad_top, v, planes, p);
  for (int64_t channel = 0; channel < p.cout; channel += Vec::width) {
    int64_t ox = 0;
    for (; ox + kHalf < p.ow; ox += P) stem_winograd_tile<T, R, P, SX>(u, y, v, ox, channel, height, at, planes, p, epi);
    if (ox < p.ow) stem_winograd_tile<T, R, kHalf, SX>(u, y, v, ox, channel, height, at, planes, p, epi);
  }
}

}  // namespace detail

/// Floats of scratch for one part.
template <int T, int R, int P>
constexpr int64_t stem_winograd_scratch(const ConvParams& p) {
  const detail::StemPlanes planes(p, R, P);
  return planes.pieces * p.cin * (T + R - 1) * planes.pitch;
}

/// See the head of the file.
template <int T, int R, int P, int SX, class Epi = Epilogue<Keep>>
void stem_winograd(Part part, const float* x, const float* u, float* y, float* v, ConvParams p, Epi epi = {}) {
  const detail::StemPlanes planes(p, R, P);
  const int64_t bands = (p.oh + T - 1) / T;
  const auto [first, last] = part.slice(p.n * bands);
  for (int64_t band = first; band < last; ++band) {
    const int64_t n = band / bands, top = band % bands * T;
    int64_t at[T];
    for (int64_t t = 0; t < T; ++t) at[t] = (n * p.oh + top + t) * p.ow;
    detail::stem_winograd_band<T, R, P, SX>(x + n * p.cin * p.h * p.w, u, y, v, top, p.oh - top < T ? p.oh - top : T, at, planes, p, epi);
  }
}

}  // namespace onnxc
