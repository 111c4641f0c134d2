// Depthwise convolution with the 1x1 convolutions around it, by bands of rows: the inverted residual block of MobileNet and its kin, whose middle is
// several times as wide as its ends.
//
//   expand 1x1 -> depthwise -> project 1x1          either 1x1 may be absent
//
//   depthwise_chain<8, 3, 3, 3, 1, 14, 2>(part, x, expand_w, w, project_w, y, rows, {.conv = {.h = 56, .w = 56, .cin = 144, …}, .cin = 24, .cout = 24,
//                                         .x_pixel = 24, .y_pixel = 24, .expand_bias = b0, .project_bias = b2, .band = 6, .pitch = 144}, Relu6, Relu6, Add);
//
// For `band` output rows of the depthwise convolution: expand the input rows that they add into a ring of rows (row_bands.hpp), convolve into `band` rows, project
// these.
//
// kPairs: of the panels of project_w, as gemm has it. kSums: where nothing is projected, conv.row_sums as depthwise has them. MR = 0 leaves a 1x1 out: the depthwise convolution then reads x, or writes y. `conv` holds the depthwise parameters (group unused; x_pixel and y_pixel are
// those of x and y where there is no 1x1). Weights are packed as for gemm and depthwise. rows: depthwise_chain_scratch floats of this part.
#pragma once
#include "depthwise.hpp"
#include "gemm.hpp"
#include "row_bands.hpp"

namespace onnxc::inline ONNXC_ISA {

struct DepthwiseChainParams {
  ConvParams conv;
  int64_t cin = 0, cout = 0;            // of the 1x1 convolutions: input and output channels
  int64_t x_pixel = 0, y_pixel = 0;     // elements between pixels of x and y
  const float* expand_bias = nullptr;   // padded to whole panels, or null
  const float* project_bias = nullptr;
  int64_t band = 1;                     // rows
  int64_t pitch = 0;                    // elements between pixels of the ring and the band; off multiples of 2 KiB, which share cache sets
};

namespace detail {

template <int NV, bool kPairs = false>
constexpr int64_t panels(int64_t n) {
  constexpr int NR = Tile<1, NV, kPairs>::NR;
  return (n + NR - 1) / NR;
}

/// The depthwise convolution and what follows, rows `top` to `bottom` of an image. line(iy): where a row of its input is, whose pixels lie x_pixel apart. MR = 0: `middle`
/// is y.
template <int KH, int KW, int SX, int MR, int NV, bool kPairs, bool kSums, class Line, class Epi1, class Epi2>
ONNXC_INLINE void depthwise_band(int64_t image, int64_t top, int64_t bottom, Line line, int64_t x_pixel, const float* w, const float* project_w, float* middle, float* y,
                                 const DepthwiseChainParams& p, const Epi1& epi, const Epi2& project_epi) {
  constexpr int kPixels = 7;
  constexpr bool kProjects = MR > 0;
  static_assert(!kProjects || !kSums);
  ConvParams conv = p.conv;
  conv.x_pixel = x_pixel;
  conv.y_pixel = kProjects ? p.pitch : p.y_pixel;
  const int64_t first = image * conv.oh + top;  // of the output's rows
  // Two vectors of channels at a time: three rows of them stay in L1 (112 pixels: 21 KiB; with four vectors mobilenet_v2 takes 3 % longer on Zen 5).
  for (int64_t block = 0; block < conv.cout; block += 2 * Vec::width) {
    const int64_t end = block + 2 * Vec::width < conv.cout ? block + 2 * Vec::width : conv.cout;
    for (int64_t oy = top; oy < bottom; ++oy) {
      const float* lines[KH];
      depthwise_lines<KH>(lines, oy, conv, line);
      const int64_t row = (kProjects ? 0 : first) + oy - top;
      int64_t channel = block;
      for (; channel + Vec::width <= end; channel += Vec::width)
        depthwise_row<KH, KW, SX, kPixels, kSums, true>(lines, w, middle, row, channel, Vec::width, nullptr, 0, conv, epi);
      if (channel < end) depthwise_row<KH, KW, SX, kPixels, kSums, false>(lines, w, middle, row, channel, end - channel, nullptr, 0, conv, epi);
    }
  }
  if constexpr (kProjects) {
    gemm_block<MR, NV, kPairs>(first * conv.ow, (bottom - top) * conv.ow, 0, panels<NV, kPairs>(p.cout), middle, project_w, y, nullptr,
                       {.m = 0, .n = p.cout, .k = conv.cout, .lda = p.pitch, .ldc = p.y_pixel, .bias = p.project_bias}, project_epi);
  }
}

}  // namespace detail

/// Floats of scratch for one part. `expands`, `projects`: whether there is something before and behind.
constexpr int64_t depthwise_chain_scratch(const DepthwiseChainParams& p, bool expands, bool projects) {
  return ((expands ? ring_rows(p.conv, p.band) * p.conv.w : 0) + (projects ? p.band * p.conv.ow : 0)) * p.pitch;
}

/// See the head of the file. x must not overlap y.
template <int MR1, int NV1, int KH, int KW, int SX, int MR2, int NV2, bool kPairs = false, bool kSums = false, class Epi1, class Epi2, class Epi3>
void depthwise_chain(Part part, const float* x, const float* expand_w, const float* w, const float* project_w, float* y, float* rows, DepthwiseChainParams p,
                     Epi1 epi1, Epi2 epi2, Epi3 epi3) {
  constexpr bool kExpands = MR1 > 0, kProjects = MR2 > 0;
  const ConvParams& conv = p.conv;
  const int64_t ring = ring_rows(conv, p.band), line = conv.w * p.pitch;
  float* const middle = kProjects ? rows + (kExpands ? ring * line : 0) : y;
  const auto expand = [&](int64_t image, int64_t row, int64_t count, int64_t slot) {
    if constexpr (kExpands) {
      const float* const in = x + (image * conv.h + row) * conv.w * p.x_pixel;
      detail::gemm_block<MR1, NV1>(0, count * conv.w, 0, detail::panels<NV1>(conv.cin), in, expand_w, rows + slot * line, nullptr,
                                   {.m = count * conv.w, .n = conv.cin, .k = p.cin, .lda = p.x_pixel, .ldc = p.pitch, .bias = p.expand_bias}, epi1);
    }
  };
  detail::by_bands(part, conv, p.band, expand, [&](int64_t image, int64_t top, int64_t bottom) {
    const auto address = [&](int64_t iy) { return kExpands ? rows + iy % ring * line : x + (image * conv.h + iy) * conv.w * p.x_pixel; };
    detail::depthwise_band<KH, KW, SX, MR2, NV2, kPairs, kSums>(image, top, bottom, address, kExpands ? p.pitch : p.x_pixel, w, project_w, middle, y, p, epi2, epi3);
  });
}

}  // namespace onnxc
