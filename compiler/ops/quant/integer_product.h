// Products of 8-bit integers, as exact as in i32: on bytes (byte_products.h) where the weights are constant, else by the kernels for f32 where
// these are exact, too.
//
// In f32 a sum of products of integers is exact, in any order and with or without fused multiply-adds, as long as
// every partial sum stays within 2^24. With constant weights the largest possible sum is known: the largest |a| times
// the sum of |b| down a column. A convolution whose sums may be larger is cut along its input channels into parts that are
// exact; the parts are added in i32.
#pragma once
#include "compiler/ops/operator.h"
#include "compiler/support/attempt.h"

namespace onnxc {

/// value - zero, elementwise; `zero` is absent or broadcasts to the value. Both are 8-bit integers.
struct Centred {
  ValueId value = kAbsent, zero = kAbsent;
};

/// The sums of `left` times `right` on bytes, as i32 that begin from the i32 `bias` [n]: if `right` is a constant matrix, and `left` has one zero point.
Attempt<ValueId> byte_matmul(GraphBuilder& b, const Centred& left, const Centred& right, ValueId bias = kAbsent);
/// The sums of two operands of bytes that only a run knows, as i32, if each has one zero point, or none.
Attempt<ValueId> centred_matmul(GraphBuilder& b, const Centred& left, const Centred& right);
/// byte_matmul for a convolution, with its attributes and a bias [channels]. The zero point of x must be known if there are pads.
Attempt<ValueId> byte_conv(GraphBuilder& b, const Centred& x, const Centred& w, std::map<std::string, Attribute> attributes,
                           ValueId bias = kAbsent);
/// The same values as u8: i8 moves up by 128, and with it its zero point.
Centred as_unsigned(GraphBuilder& b, const Centred& x);

/// a b as in MatMul: f32 that holds the exact integers, or i32.
ValueId integer_matmul(GraphBuilder& b, const Centred& left, const Centred& right);
/// The convolution of x by w with the window of `attributes`, plus the i32 bias [channels] if there is one: f32 that
/// holds the exact integers, or i32.
ValueId integer_conv(GraphBuilder& b, const Centred& x, const Centred& w, std::map<std::string, Attribute> attributes,
                     ValueId bias = kAbsent);

}  // namespace onnxc
