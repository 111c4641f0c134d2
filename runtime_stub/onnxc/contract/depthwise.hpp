// Depthwise convolutions: the copied rows of depthwise_any (depthwise.hpp).
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Neighbours that depthwise_any computes at once, and columns of the output under which it copies the image at a time.
inline constexpr int kDepthwiseAnyPixels = 8, kDepthwiseAnyColumns = 64;

/// Pixels of a row under `columns` columns of the output, in whole steps.
constexpr int64_t depthwise_any_span(int64_t columns, int64_t kw, int64_t stride_x, int64_t dilation_x) {
  return inputs_under(round_up(columns, kDepthwiseAnyPixels), stride_x, kw, dilation_x);
}
/// Rows of the image that are kept at a time.
constexpr int64_t depthwise_any_rows(int64_t kh, int64_t dilation_y) { return inputs_under(1, 1, kh, dilation_y); }

/// Scratch of a share: a vector of channels of each pixel.
constexpr int64_t depthwise_any_scratch(int64_t kh, int64_t kw, int64_t stride_x, int64_t dilation_y, int64_t dilation_x, int64_t lanes) {
  return depthwise_any_rows(kh, dilation_y) * depthwise_any_span(kDepthwiseAnyColumns, kw, stride_x, dilation_x) * lanes;
}

}  // namespace onnxc::contract
