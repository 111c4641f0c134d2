// Two kernels in turn by bands of rows (row_bands.hpp): the ring of rows between them, and the band of rows that is
// kept for a third.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Rows that `band` rows of the second kernel read, with windows of kh rows. Where the first kernel makes
/// `rows_at_once` rows at a time, it may be ahead by all but one of them.
constexpr int64_t ring_rows(int64_t band, int64_t stride_y, int64_t kh, int64_t dilation_y, int64_t rows_at_once = 1) {
  return inputs_under(band, stride_y, kh, dilation_y) + rows_at_once - 1;
}

/// Scratch of a share that pools: a ring of `ring` rows of the first kernel's image.
constexpr int64_t stem_pool_scratch(int64_t ring, int64_t ow, int64_t pitch) { return ring * ow * pitch; }

/// A depthwise convolution of `channels` amid others. w and ow are the columns of its input and output, `pitch` is the
/// distance of pixels in the rows that are kept.
struct ChainShape {
  int64_t kh, stride_y, dilation_y, w, ow, channels, pitch;
  bool projects;  // whether a product comes next
};

constexpr int64_t chain_ring(const ChainShape& s, int64_t band) { return ring_rows(band, s.stride_y, s.kh, s.dilation_y) * s.w; }
/// Rows that are kept for the product.
constexpr int64_t chain_band(const ChainShape& s, int64_t band) { return s.projects ? band * s.ow * s.pitch : 0; }

/// Scratch of a share of depthwise_chain. nr: channels of a panel of the product before, 0 without one. Each of its
/// vectors has a ring. Where a product comes next, all panels have their rings at once, otherwise one panel at a time.
constexpr int64_t depthwise_chain_scratch(const ChainShape& s, int64_t band, int64_t nr) {
  const int64_t channels = nr == 0 ? 0 : s.projects ? round_up(s.channels, nr) : nr;
  return chain_ring(s, band) * channels + chain_band(s, band);
}

/// Scratch of a share of stem_depthwise: whole pixels of the stem lie in one ring.
constexpr int64_t stem_depthwise_scratch(const ChainShape& s, int64_t band) { return chain_ring(s, band) * s.pitch + chain_band(s, band); }

}  // namespace onnxc::contract
