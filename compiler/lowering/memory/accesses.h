// How often a run touches each byte of its memory, estimated: what decides which memory a buffer deserves.
#pragma once
#include "compiler/ir/program.h"

namespace onnxc {

/// The bytes that a run reads and writes of each buffer, views counted with what they lie in. Sizes are constant. An estimate:
///
///   - a step touches every element of what it reads or writes once, at least;
///   - the operands of a step with multiply-adds are read for them: a load serves four, which share it in registers;
///   - so is scratch memory, which a step writes and nobody else reads. What is copied there is read a quarter as often as that;
///   - where each result takes fewer multiply-adds than its operand has channels, these are convolved apart, and nothing is shared;
///   - what an epilogue or a parameter points to is read once for each element of the result;
///   - the steps of a Loop count as often as it runs, where that is known; those of both branches of an If count.
///
/// A Gather counts its whole table.
PerBuffer<double> accesses_of(const Program& program);

}  // namespace onnxc
