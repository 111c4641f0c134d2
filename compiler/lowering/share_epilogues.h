// Kernels whose epilogues differ in numbers alone become one.
//
// Each layer of a quantised network has scales and zero points of its own, and as many instances of a kernel. Where numbers of one place
// differ, they become operands:
//
//   quantize<u8>(mul(cast<f32>(x0), f32(0.25)), f32(1), f32(3))    quantize<u8>(mul(cast<f32>(x0), f32(0.5)), f32(1), f32(3))
//   quantize<u8>(mul(cast<f32>(x0), x1), f32(1), f32(3)) with x1 = 0.25, 0.5
//
// Before, sums and products get their operands in one order, so that equal epilogues are found to be equal.
//
// Results are the same bits. A number in memory takes an instruction more for each element, so this is for machines with little memory.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

void share_epilogues(Program& program);

}  // namespace onnxc
