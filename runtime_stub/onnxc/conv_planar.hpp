// Convolution of a planar image to few channels, planar too: the first layer of a small network. Vectors run along the
// rows of the image. In other kernels they run over output channels, which would leave most lanes empty here.
//
//   conv_planar<6, 2, 2>(share, image, w, y, padded, {.h = 28, .w = 28, .cin = 1, .oh = 28, .ow = 28, .cout = 6, .kh = 5, .kw = 5,
//                                                     .pad_top = 2, .pad_left = 2, .bias = w_bias}, Epilogue<Relu>{});
//   conv_planar_pool<6, 2>(share, …, Epilogue<Relu>{}, Epilogue<Keep>{})     with max pooling of 2x2, stride 2, behind it, in registers
//
// x: [n, cin, h, w], y: [n, cout, oh, ow], or [n, cout, oh / 2, ow / 2] pooled; w [cin * kh * kw][cout]
// (pack::conv_stem with panels of cout). MR is cout; stride_x 1, group 1; x_pixel and y_pixel are not used. The
// epilogue sees the output as a matrix [n * cout, oh * ow]. With pooling, the epilogue of the convolution has no
// operands, and that of the pool sees [n * cout, oh / 2 * (ow / 2)]. padded: conv_planar_scratch floats of this share.
//
// It is the register tile with exchanged roles: its rows are output channels, its panel is R rows of the image, and
// each step of k is a float further on. R rows share the broadcast weights. The rows that a band of outputs needs are
// first copied with their padding, so that every tap of every vector can be read.
#pragma once
#include "contract/planar.hpp"
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Floats of scratch for one share.
template <int NV>
constexpr int64_t conv_planar_scratch(const ConvParams& p) {
  return contract::planar_scratch(p, NV * Vec::width, Vec::width);
}

namespace detail {

/// Copies the rows of image n that `rows` output rows from `top` on read, to `to`.
template <int NV>
ONNXC_INLINE void planar_copy(const float* x, int64_t n, int64_t top, int64_t rows, float* to, const ConvParams& p) {
  const int64_t pitch = contract::planar_pitch(p, NV * Vec::width), width = pitch - p.pad_left < p.w ? pitch - p.pad_left : int64_t{p.w};
  const auto zeros = [](float* at, float* end) {
    for (; at < end; at += Vec::width) Vec::all(0.0f).store(at);
  };
  // Whole vectors are stored: what one row writes beyond its end, the next one overwrites.
  for (int64_t ci = 0; ci < p.cin; ++ci) {
    for (int64_t line = 0; line < contract::planar_rows(p, rows); ++line) {
      const int64_t iy = top * p.stride_y - p.pad_top + line;
      float* const row = to + ci * contract::planar_plane(p, NV * Vec::width) + line * pitch;
      const bool inside = iy >= 0 && iy < p.h && width > 0;
      zeros(row, row + (inside ? int64_t{p.pad_left} : pitch));
      if (!inside) continue;
      const float* const from = x + ((n * p.cin + ci) * p.h + iy) * p.w;
      for (int64_t i = 0; i < width; i += Vec::width)
        Vec::load(from + i, width - i < Vec::width ? width - i : Vec::width).store(row + p.pad_left + i);
      zeros(row + p.pad_left + (width + Vec::width - 1) / Vec::width * Vec::width, row + pitch);
    }
  }
}

/// acc[channel][row * NV + vector] = R output rows of NV vectors each. The taps of the first begin at `line`.
template <int MR, int NV, int R>
ONNXC_INLINE void planar_tile(Vec (&acc)[MR][R * NV], const float* line, const float* w, const ConvParams& p) {
  const int64_t pitch = contract::planar_pitch(p, NV * Vec::width), plane = contract::planar_plane(p, NV * Vec::width);
  ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
    ONNXC_UNROLL for (int j = 0; j < R * NV; ++j) acc[i][j] = Vec::all(p.bias != nullptr ? p.bias[i] : 0.0f);
  }
  for (int64_t ci = 0; ci < p.cin; ++ci) {
    for (int64_t ky = 0; ky < p.kh; ++ky) {
      const float* tap = line + ci * plane + ky * p.dilation_y * pitch;
      for (int64_t left = p.kw; left > 0; --left, tap += p.dilation_x, w += MR) {
        const float* const at = opaque(tap);
        Vec b[R * NV];
        ONNXC_UNROLL for (int j = 0; j < R * NV; ++j) b[j] = Vec::load(at + j / NV * p.stride_y * pitch + j % NV * Vec::width);
        ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
          const Vec a = Vec::all(w[i]);
          ONNXC_UNROLL for (int j = 0; j < R * NV; ++j) acc[i][j] = fma(a, b[j], acc[i][j]);
        }
      }
    }
  }
}

/// Calls band(image, top, rows) for what the share has of the `units` rows of each image, by bands of at most `most`
/// rows.
template <class Band>
ONNXC_INLINE void planar_bands(Share share, int64_t images, int64_t units, int64_t most, Band band) {
  const auto [first, last] = share.slice(images * units);
  for (int64_t unit = first, rows = 0; unit < last; unit += rows) {
    const int64_t top = unit % units, left = last - unit < units - top ? last - unit : units - top;
    rows = left < most ? left : most;
    band(unit / units, top, rows);
  }
}

}  // namespace detail

/// See the head of the file. R: output rows at a time.
template <int MR, int NV, int R, class Epi = Epilogue<Keep>>
void conv_planar(Share share, const float* x, const float* w, float* y, float* padded, ConvParams p, Epi epi = {}) {
  constexpr int64_t NR = NV * Vec::width;
  detail::planar_bands(share, p.n, p.oh, contract::kPlanarBand, [&](int64_t n, int64_t top, int64_t rows) {
    detail::planar_copy<NV>(x, n, top, rows, padded, p);
    const auto at = [&]<int rows_of_tile>(int64_t oy) ONNXC_INLINE_LAMBDA {
      for (int64_t ox = 0; ox < p.ow; ox += NR) {
        Vec acc[MR][rows_of_tile * NV];
        detail::planar_tile<MR, NV, rows_of_tile>(acc, padded + oy * p.stride_y * contract::planar_pitch(p, NV * Vec::width) + ox, w, p);
        ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
          ONNXC_UNROLL for (int j = 0; j < rows_of_tile * NV; ++j) {
            const int64_t row = n * MR + i, column = ox + j % NV * Vec::width, col = (top + oy + j / NV) * p.ow + column;
            finish_lanes(epi, acc[i][j], row, col, y + row * p.oh * p.ow + col, p.ow - column);
          }
        }
      }
    };
    int64_t oy = 0;
    for (; oy + R <= rows; oy += R) at.template operator()<R>(oy);
    for (; oy < rows; ++oy) at.template operator()<1>(oy);
  });
}

/// See the head of the file. epi: of the convolution, without operands; then: of the pool.
template <int MR, int NV, class Epi = Epilogue<Keep>, class Then = Epilogue<Keep>>
void conv_planar_pool(Share share, const float* x, const float* w, float* y, float* padded, ConvParams p, Epi epi = {}, Then then = {}) {
  static_assert(Vec::width > 1 || NV % 2 == 0, "a window of two pixels lies in one vector or in two");
  constexpr int64_t NR = NV * Vec::width;
  const int64_t height = p.oh / 2, width = p.ow / 2;
  detail::planar_bands(share, p.n, height, contract::kPlanarBand / 2, [&](int64_t n, int64_t top, int64_t rows) {
    detail::planar_copy<NV>(x, n, 2 * top, 2 * rows, padded, p);
    for (int64_t oy = 0; oy < rows; ++oy) {
      for (int64_t ox = 0; ox < width; ox += NR / 2) {
        Vec acc[MR][2 * NV];
        detail::planar_tile<MR, NV, 2>(acc, padded + 2 * oy * p.stride_y * contract::planar_pitch(p, NV * Vec::width) + 2 * ox, w, p);
        ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
          ONNXC_UNROLL for (int j = 0; j < 2 * NV; ++j) acc[i][j] = epi(Lanes{}, acc[i][j], 0);
          Vec larger[NV + 1];
          ONNXC_UNROLL for (int j = 0; j < NV; ++j) larger[j] = fn::max(acc[i][j], acc[i][NV + j]);
          larger[NV] = larger[NV - 1];
          ONNXC_UNROLL for (int j = 0; j < NV; j += 2) {
            const int64_t row = n * MR + i, column = ox + j / 2 * Vec::width, col = (top + oy) * width + column;
            const int64_t lanes = width - column, most = j + 1 < NV ? Vec::width : Vec::width / 2;
            const Vec pooled = fn::max(evens(larger[j], larger[j + 1]), odds(larger[j], larger[j + 1]));
            finish_lanes(then, pooled, row, col, y + row * height * width + col, lanes < most ? lanes : most);
          }
        }
      }
    }
  });
}

}  // namespace onnxc
