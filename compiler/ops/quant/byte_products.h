// Products of bytes: what quantised convolutions and matrix products come down to.
//
//   onnxc.ByteConv     x: u8, w: i8, start: i32 [channels]     sums = start + the convolution of x by w, x being `outside` beyond its borders
//   onnxc.ByteMatMul   a: u8, w: i8 [k, n], start: i32 [n]     sums = start + a w
//
// w is constant. The sums are i32 and must not overflow; an epilogue sees them as such. Zero points and biases are in `start`, which may be absent.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// Whether a ByteConv with weights of these extents can have kernels beside the scalar one: its groups have whole quads of channels, or each channel
/// is a group of its own.
bool has_byte_groups(const Extents& weights, int64_t group);

/// Whether a ByteConv, or ByteMatMul, has kernels beside the scalar one.
bool has_fast_byte_product(const Graph& graph, const Node& node);

}  // namespace onnxc
