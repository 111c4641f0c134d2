// Depthwise convolution with the 1x1 convolutions around it, by bands of rows: the inverted residual block of MobileNet
// and its kin, whose middle is several times as wide as its ends.
//
//   expand 1x1 -> depthwise -> project 1x1          either 1x1 may be absent
//
//   depthwise_chain<8, 3, 3, 3, 1, 14, 2>(share, x, expand_w, w, project_w, y, scratch,
//                                         {.conv = {.h = 56, .w = 56, .cin = 144, …}, .cin = 24, .cout = 24, .x_pixel = 24, .y_pixel = 24,
//                                          .expand_bias = b0, .project_bias = b2, .band = 6, .pitch = 144}, Relu6, Relu6, Add);
//
// For each `band` output rows of the depthwise convolution, the kernel expands the input rows that they add into a ring
// of rows (row_bands.hpp), convolves them into `band` rows, and projects these. Channels go by panels of the expanding
// product. Each vector of channels has a ring of its own, which is still in L1 when it is convolved. Where nothing is
// projected, all bands of a panel come before the next panel, and one ring is enough.
//
// MR = 0 leaves a 1x1 out: the depthwise convolution then reads x, or writes y. `conv` holds the depthwise parameters
// (group unused; x_pixel and y_pixel are those of x and y where there is no 1x1). Weights are packed as for gemm and
// depthwise. scratch: depthwise_chain_scratch floats of this share.
//
// kPairs: the panels of project_w hold pairs, as gemm has them. kSums: where nothing is projected, conv.row_sums
// receives sums as in depthwise. kWinograd: behind a 1x1, a 3x3 kernel of stride 1 goes by Winograd; w is packed as for
// depthwise_winograd, and `band` is even.
#pragma once
#include "depthwise_winograd.hpp"
#include "gemm.hpp"
#include "row_bands.hpp"

namespace onnxc::inline ONNXC_ISA {

struct DepthwiseChainParams {
  ConvParams conv;
  int64_t cin = 0, cout = 0;           // of the 1x1 convolutions: input and output channels
  int64_t x_pixel = 0, y_pixel = 0;    // elements between pixels of x and y
  const float* expand_bias = nullptr;  // padded to whole panels, or null
  const float* project_bias = nullptr;
  int64_t band = 1;   // rows
  int64_t pitch = 0;  // elements between pixels of the band; no multiple of 2 KiB, as those share cache sets
};

namespace detail {

template <int NV, bool kPairs = false>
constexpr int64_t panels(int64_t n) {
  constexpr int NR = Tile<1, NV, kPairs>::NR;
  return (n + NR - 1) / NR;
}

/// Convolves rows [top, bottom) of an image, the first of which is row `row` of y, two vectors of channels at a time,
/// so that three rows of them stay in L1 (21 KiB for 112 pixels and 16 lanes). line(iy): where row iy of x begins.
template <int KH, int KW, int SX, bool kSums, class Line, class Epi>
ONNXC_INLINE void depthwise_blocks(int64_t top, int64_t bottom, int64_t row, Line line, const float* w, float* y, const ConvParams& p,
                                   const Epi& epi) {
  constexpr int kPixels = 7;
  for (int64_t from = 0; from < p.cout; from += 2 * Vec::width) {
    const int64_t to = from + 2 * Vec::width < p.cout ? from + 2 * Vec::width : int64_t{p.cout};
    for (int64_t oy = top; oy < bottom; ++oy) {
      const float* lines[KH];
      depthwise_lines<KH>(lines, oy, p, line);
      int64_t channel = from;
      for (; channel + Vec::width <= to; channel += Vec::width)
        depthwise_row<KH, KW, SX, kPixels, kSums, true>(lines, w, y, row + oy - top, channel, Vec::width, nullptr, 0, p, epi);
      if (channel < to)
        depthwise_row<KH, KW, SX, kPixels, kSums, false>(lines, w, y, row + oy - top, channel, to - channel, nullptr, 0, p, epi);
    }
  }
}

/// Computes a row of one vector of channels from lines that hold these channels alone. It is a function of its own
/// because g++ 12 would keep its pointers on the stack amid the products around it.
template <int KH, int KW, int SX, bool kSums, class Epi>
ONNXC_NOCLONE void depthwise_line(const float* const (&lines)[KH], const float* w, float* y, int64_t row, int64_t channel,
                                  const ConvParams& p, const Epi& epi) {
  constexpr int kPixels = 7;
  const int64_t lanes = p.cout - channel;
  if (lanes >= Vec::width)
    depthwise_row<KH, KW, SX, kPixels, kSums, true, Vec::width>(lines, w, y, row, channel, Vec::width, nullptr, 0, p, epi);
  else depthwise_row<KH, KW, SX, kPixels, kSums, false, Vec::width>(lines, w, y, row, channel, lanes, nullptr, 0, p, epi);
}

/// Computes rows [top, bottom) of one vector of channels. line(iy): where row iy of these channels begins.
template <int KH, int KW, int SX, bool kSums, bool kWinograd, class Line, class Epi>
ONNXC_INLINE void depthwise_vector(int64_t top, int64_t bottom, int64_t row, Line line, const float* w, float* y, int64_t channel,
                                   const ConvParams& p, const Epi& epi) {
  if constexpr (kWinograd) return depthwise_winograd_band<kSums>(top, bottom, row, line, Vec::width, w, y, channel, p, epi);
  for (int64_t oy = top; oy < bottom; ++oy) {
    const float* lines[KH];
    depthwise_lines<KH>(lines, oy, p, line);
    depthwise_line<KH, KW, SX, kSums>(lines, w, y, row + oy - top, channel, p, epi);
  }
}

/// Multiplies `rows` pixels at x by one panel of w. Vector j of pixel i goes to planes + j * plane + i * Vec::width.
template <int MR, int NV, class Epi>
ONNXC_NOCLONE void expand_panel(const float* x, int64_t x_pixel, int64_t k, int64_t rows, const float* w, const float* bias, float* planes,
                                int64_t plane, const Epi& epi) {
  const Prefetcher ahead(w);
  for_each_tile<MR>(x, x_pixel, rows, TileOrder{}, [&]<int R>(const auto& pixels, int64_t i) ONNXC_INLINE_LAMBDA {
    Tile<R, NV> tile;
    tile.start(bias);
    tile.add(pixels, k, w, ahead);
    float* to = planes + i * Vec::width;
    ONNXC_UNROLL for (int j = 0; j < NV; ++j, to += plane) {
      to = opaque(to);
      ONNXC_UNROLL for (int r = 0; r < R; ++r) {
        if ((R == MR && !ONNXC_MICRO) || i + r < rows) finish_vector(epi, tile.acc[r][j], i + r, j * Vec::width, to + r * Vec::width);
      }
    }
  });
}

/// Projects `rows` rows of pixels at `middle`, the first of which is row `row` of y.
template <int MR, int NV, bool kPairs, class Epi>
ONNXC_OUTLINE void project_band(int64_t row, int64_t rows, const float* middle, const float* w, float* y, const DepthwiseChainParams& p,
                                const Epi& epi) {
  gemm_block<MR, NV, kPairs>(row * p.conv.ow, rows * p.conv.ow, 0, panels<NV, kPairs>(p.cout), middle, w, y, nullptr,
                             {.m = 0, .n = p.cout, .k = p.conv.cout, .lda = p.pitch, .ldc = p.y_pixel, .bias = p.project_bias}, TileOrder{},
                             epi);
}

/// The parameters of the depthwise convolution within a chain. The pixels of its input are x_pixel elements apart.
template <bool kProjects>
ONNXC_INLINE ConvParams inner_params(const DepthwiseChainParams& p, int64_t x_pixel) {
  ConvParams conv = p.conv;
  conv.x_pixel = x_pixel;
  conv.y_pixel = kProjects ? p.pitch : p.y_pixel;
  return conv;
}

constexpr contract::ChainShape chain_shape(const DepthwiseChainParams& p, bool projects) {
  const ConvParams& c = p.conv;
  return {.kh = c.kh,
          .stride_y = c.stride_y,
          .dilation_y = c.dilation_y,
          .w = c.w,
          .ow = c.ow,
          .channels = c.cin,
          .pitch = p.pitch,
          .projects = projects};
}

}  // namespace detail

/// Floats of scratch for one share. `expanding`: vectors in a panel of the 1x1 before, 0: there is none; `projects`:
/// whether there is a 1x1 behind.
constexpr int64_t depthwise_chain_scratch(const DepthwiseChainParams& p, int64_t expanding, bool projects) {
  return contract::depthwise_chain_scratch(detail::chain_shape(p, projects), p.band, expanding * Vec::width);
}

/// See the head of the file. x must not overlap y.
template <int MR1, int NV1, int KH, int KW, int SX, int MR2, int NV2, bool kPairs = false, bool kSums = false, bool kWinograd = false,
          class Epi1 = Epilogue<Keep>, class Epi2 = Epilogue<Keep>, class Epi3 = Epilogue<Keep>>
void depthwise_chain(Share share, const float* x, const float* expand_w, const float* w, const float* project_w, float* y, float* scratch,
                     DepthwiseChainParams p, Epi1 epi1 = {}, Epi2 epi2 = {}, Epi3 epi3 = {}) {
  constexpr bool kExpands = MR1 > 0, kProjects = MR2 > 0;
  constexpr int64_t NR = NV1 * Vec::width;
  static_assert(!kProjects || !kSums);
  static_assert(!kWinograd || (kExpands && KH == 3 && KW == 3 && SX == 1));
  float* const middle = kProjects ? scratch : y;
  float* const rings = scratch + contract::chain_band(detail::chain_shape(p, kProjects), p.band);
  const ConvParams conv = detail::inner_params<kProjects>(p, p.x_pixel);
  const int64_t ring = ring_rows(conv, p.band), line = conv.w * Vec::width, plane = ring * line;
  // Computes the channels of a panel, from `from` on: expands them into a ring for each vector, and convolves these
  // while they are in L1.
  [[maybe_unused]] const auto panel = [&](int64_t from, float* planes, int64_t image, int64_t top, int64_t bottom,
                                          const auto& fresh) ONNXC_INLINE_LAMBDA {
    fresh([&](int64_t row, int64_t count, int64_t slot) ONNXC_INLINE_LAMBDA {
      detail::expand_panel<MR1, NV1>(x + (image * conv.h + row) * conv.w * p.x_pixel, p.x_pixel, p.cin, count * conv.w,
                                     expand_w + from * p.cin, p.expand_bias != nullptr ? p.expand_bias + from : kZeros,
                                     planes + slot * line, plane, epi1);
    });
    for (int64_t channel = from; channel < from + NR && channel < conv.cout; channel += Vec::width, planes += plane) {
      detail::depthwise_vector<KH, KW, SX, kSums, kWinograd>(
          top, bottom, kProjects ? 0 : image * conv.oh + top, [&](int64_t iy) { return planes + iy % ring * line; }, w, middle, channel,
          conv, epi2);
    }
  };
  if constexpr (kExpands && !kProjects) {
    for (int64_t from = 0; from < conv.cin; from += NR)
      detail::by_bands<kWinograd ? 2 : 1>(share, conv, p.band,
                                          [&](int64_t image, int64_t top, int64_t bottom, const auto& fresh)
                                              ONNXC_INLINE_LAMBDA { panel(from, rings, image, top, bottom, fresh); });
  } else {
    detail::by_bands<kWinograd ? 2 : 1>(
        share, conv, p.band, [&](int64_t image, int64_t top, int64_t bottom, [[maybe_unused]] const auto& fresh) ONNXC_INLINE_LAMBDA {
          if constexpr (kExpands) {
            for (int64_t from = 0; from < conv.cin; from += NR) panel(from, rings + from / Vec::width * plane, image, top, bottom, fresh);
          } else {
            detail::depthwise_blocks<KH, KW, SX, kSums>(
                top, bottom, kProjects ? 0 : image * conv.oh + top,
                [&](int64_t iy) { return x + (image * conv.h + iy) * conv.w * p.x_pixel; }, w, middle, conv, epi2);
          }
          if constexpr (kProjects)
            detail::project_band<MR2, NV2, kPairs>(image * conv.oh + top, bottom - top, middle, project_w, y, p, epi3);
        });
  }
}

}  // namespace onnxc
