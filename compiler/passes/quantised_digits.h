// Values of 16 bits in products by weights of 8 bits, as two digits of u8:
//
//   x = 256 high + low        sum (x - zero) w  =  256 sum (high - zero_high) w  +  sum (low - zero_low) w
//
// Both sums are those of bytes, exact in i32, and are joined in f32, where 256 times a sum is as exact as the sum. i16 moves up by 32768 and becomes u16.
// Two products of bytes take half of the multiply-adds of one product of floats where an instruction multiplies four bytes in each lane, and more than these elsewhere.
#pragma once
#include "compiler/ops/quant/integer_product.h"
#include "compiler/passes/quantised_graph.h"

namespace onnxc {

struct Digits {
  Centred high, low;
};

/// The digits of x and of its zero point, which must be known; empty otherwise.
std::optional<Digits> digits_of(GraphBuilder& b, const Dequantised& x);
/// 256 high + low in f32, of sums in i32.
ValueId join_digits(GraphBuilder& b, ValueId high, ValueId low);

/// Whether a Conv, a MatMul or a Gemm by constant weights is faster by digits than in floats.
bool is_faster_by_digits(const Graph& graph, const Node& node);

}  // namespace onnxc
