// Depthwise convolution with the 1x1 convolutions around it, by bands of rows: the inverted residual block of MobileNet and its kin, whose middle is
// several times as wide as its ends.
//
//   expand 1x1 -> depthwise -> project 1x1          either 1x1 may be absent
//
//   depthwise_chain<8, 3, 3, 3, 1, 14, 2>(part, x, expand_w, w, project_w, y, scratch, {.conv = {.h = 56, .w = 56, .cin = 144, …}, .cin = 24, .cout = 24,
//                                         .x_pixel = 24, .y_pixel = 24, .expand_bias = b0, .project_bias = b2, .band = 6, .pitch = 144}, Relu6, Relu6, Add);
//
// For `band` output rows of the depthwise convolution: expand the input rows that they add into a ring of rows, convolve into `band` rows, project these.
// Ring and band stay in L2 where the wide images would leave it. Every element is computed once, by the same chains of multiply-adds as by the three
// kernels alone: the results are the same.
//
// MR = 0 leaves a 1x1 out: the depthwise convolution then reads x, or writes y. `conv` holds the depthwise parameters (group unused; x_pixel and y_pixel are
// those of x and y where there is no 1x1). Weights are packed as for gemm and depthwise. scratch: depthwise_chain_scratch floats for each part.
//
// Parts take bands; the first of a part expands the rows above it, too.
#pragma once
#include "depthwise.hpp"
#include "gemm.hpp"

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

template <int NV>
constexpr int64_t panels(int64_t n) { return (n + NV * Vec::width - 1) / (NV * Vec::width); }
constexpr int64_t chain_ring(const ConvParams& p, int64_t band) { return (band - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1; }

}  // namespace detail

/// Floats of scratch for one part. `expands`, `projects`: which of the two there are.
constexpr int64_t depthwise_chain_scratch(const DepthwiseChainParams& p, bool expands, bool projects) {
  return ((expands ? detail::chain_ring(p.conv, p.band) * p.conv.w : 0) + (projects ? p.band * p.conv.ow : 0)) * p.pitch;
}

/// See the head of the file. x must not overlap y.
template <int MR1, int NV1, int KH, int KW, int SX, int MR2, int NV2, class Epi1, class Epi2, class Epi3>
void depthwise_chain(Part part, const float* x, const float* expand_w, const float* w, const float* project_w, float* y, float* scratch, DepthwiseChainParams p,
                     Epi1 epi1, Epi2 epi2, Epi3 epi3) {
  constexpr bool kExpands = MR1 > 0, kProjects = MR2 > 0;
  constexpr int kPixels = 7;
  const ConvParams& conv = p.conv;
  const int64_t pitch = p.pitch, ring = detail::chain_ring(conv, p.band), bands = (conv.oh + p.band - 1) / p.band;
  float* const rows = scratch + part.index * depthwise_chain_scratch(p, kExpands, kProjects);
  float* const middle = rows + (kExpands ? ring * conv.w * pitch : 0);
  ConvParams inner = conv;
  inner.x_pixel = kExpands ? pitch : p.x_pixel;
  inner.y_pixel = kProjects ? pitch : p.y_pixel;
  const auto [first, last] = part.slice(conv.n * bands);
  int64_t expanded = 0;  // rows of the image so far
  for (int64_t b = first; b < last; ++b) {
    const int64_t image = b / bands, top = b % bands * p.band, bottom = top + p.band < conv.oh ? top + p.band : conv.oh;
    const int64_t above = top * conv.stride_y - conv.pad_top, below = (bottom - 1) * conv.stride_y - conv.pad_top + (KH - 1) * conv.dilation_y + 1;
    const int64_t from = above > 0 ? above : 0, to = below < conv.h ? below : conv.h;
    if constexpr (kExpands) {
      if (b == first || top == 0 || expanded < from) expanded = from;
      while (expanded < to) {  // up to where the ring begins anew
        const int64_t slot = expanded % ring, count = ring - slot < to - expanded ? ring - slot : to - expanded;
        const float* const in = x + (image * conv.h + expanded) * conv.w * p.x_pixel;
        detail::gemm_block<MR1, NV1>(0, count * conv.w, 0, detail::panels<NV1>(conv.cin), in, expand_w, rows + slot * conv.w * pitch, nullptr,
                                     {.m = count * conv.w, .n = conv.cin, .k = p.cin, .lda = p.x_pixel, .ldc = pitch, .bias = p.expand_bias}, epi1);
        expanded += count;
      }
    }
    const int64_t pixel = (image * conv.oh + top) * conv.ow;  // of the output, the band's first
    const int64_t start = kProjects ? 0 : pixel;
    float* const out = kProjects ? middle : y;
    for (int64_t block = 0; block < conv.cout; block += 4 * Vec::width) {
      const int64_t end = block + 4 * Vec::width < conv.cout ? block + 4 * Vec::width : conv.cout;
      for (int64_t oy = top; oy < bottom; ++oy) {
        const float* lines[KH];
        detail::depthwise_lines<KH>(lines, oy, conv, [&](int64_t iy) {
          return kExpands ? rows + iy % ring * conv.w * pitch : x + (image * conv.h + iy) * conv.w * p.x_pixel;
        });
        const int64_t row = start + (oy - top) * conv.ow;
        int64_t channel = block;
        for (; channel + Vec::width <= end; channel += Vec::width)
          detail::depthwise_row<KH, KW, SX, kPixels, true>(lines, w, out, row, channel, Vec::width, nullptr, 0, inner, epi2);
        if (channel < end) detail::depthwise_row<KH, KW, SX, kPixels, false>(lines, w, out, row, channel, end - channel, nullptr, 0, inner, epi2);
      }
    }
    if constexpr (kProjects) {
      detail::gemm_block<MR2, NV2>(pixel, (bottom - top) * conv.ow, 0, detail::panels<NV2>(p.cout), middle, project_w, y, nullptr,
                                   {.m = 0, .n = p.cout, .k = conv.cout, .lda = pitch, .ldc = p.y_pixel, .bias = p.project_bias}, epi3);
    }
  }
}

}  // namespace onnxc
