#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// Replaces cast<T>(round(x / scale) + zero), of floats and an integer type of 8 or 16 bits, by Fn::Quantize, with a scale of 1 where the division stays as it is,
/// and cast<f32>(that) - zero of unsigned bytes by Fn::ByteSteps. This is what QuantizeLinear computes, and most of DequantizeLinear. The functions of the
/// runtime need no division on vectors, and give the same bits for constants that are tried here.
/// `small_core`: what pays where vectors are short. A Relu before a quantisation that saturates at 0 goes, and a byte moves up by 128 as an integer.
void find_quantize(Program& program, bool small_core = false);
/// The same expression with these functions.
Expr with_quantize(Expr expr, bool small_core = false);

}  // namespace onnxc
