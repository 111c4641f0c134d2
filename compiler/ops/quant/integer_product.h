// Products of 8-bit integers, exact as in i32, by the kernels for f32 where these are exact too.
//
// A sum of products of integers is exact in f32, in any order and with or without fused multiply-adds, while every partial sum stays within 2^24. With
// constant weights the largest sum is known: the largest |a| times the sum of |b| down a column. A product whose sums may be larger is cut along its inner
// axis into parts that are exact, which are added in i32.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// value - zero, elementwise; `zero` is absent or broadcasts to the value. Both are 8-bit integers.
struct Centred {
  ValueId value = kAbsent, zero = kAbsent;
};

/// a b as MatMul has it: f32 that holds the exact integers, or i32.
ValueId integer_matmul(GraphBuilder& b, const Centred& left, const Centred& right);
/// The convolution of x by w with the window of `attributes`, and the i32 bias [channels] where there is one: f32 that holds the exact integers, or i32.
ValueId integer_conv(GraphBuilder& b, const Centred& x, const Centred& w, std::map<std::string, Attribute> attributes,
                     ValueId bias = kAbsent);

}  // namespace onnxc
