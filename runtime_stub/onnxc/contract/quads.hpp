// Products of bytes (runtime_stub/onnxc/quad_tile.hpp): what planners pack and provide for them.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Steps of k: the last quad of a row may have fewer bytes.
constexpr int64_t quads(int64_t bytes) { return (bytes + 3) / 4; }

/// Rows of the output whose windows fit the quads of one window: depthwise_bytes computes them together.
constexpr int64_t depthwise_bytes_rows(int64_t kh, int64_t stride_y, int64_t dilation_y) {
  return dilation_y == 1 ? (4 * quads(kh) - kh) / stride_y + 1 : 1;
}
/// The columns of a kernel that depthwise_bytes unrolls; 0 if it does not.
constexpr int64_t depthwise_bytes_unrolled(int64_t kh, int64_t kw) { return kh <= 4 && kw == 3 ? kw : 0; }
/// Columns of the output under which depthwise_bytes keeps quads at a time: whole steps of its pixels.
inline constexpr int64_t kDepthwiseBytesColumns = 32;
/// Quads of a channel that a share of depthwise_bytes keeps for each quad of rows.
constexpr int64_t depthwise_bytes_span(int64_t kw, int64_t stride_x, int64_t dilation_x) {
  return inputs_under(kDepthwiseBytesColumns, stride_x, kw, dilation_x);
}
/// Bytes of its scratch.
constexpr int64_t depthwise_bytes_scratch(int64_t kh, int64_t kw, int64_t stride_x, int64_t dilation_x, int64_t lanes) {
  return 16 * lanes * quads(kh) * depthwise_bytes_span(kw, stride_x, dilation_x);
}

/// Rows of the output that conv_quads computes together: as many as have enough pixels for sixteen tiles of rows, which read a panel of weights.
constexpr int64_t quad_band(int64_t ow) { return ow < 1 ? 1 : (223 + ow) / ow; }

/// Bytes of a row of an image that conv_quads_planar copies, under a row of the output.
constexpr int64_t planar_quads_row(int64_t ow, int64_t stride_x, int64_t kw) { return (ow - 1) * stride_x + 4 * quads(kw); }

}  // namespace onnxc::inline ONNXC_ISA::contract
