#include "compiler/ir/program.h"

namespace onnxc {

Dim total_macs(const Program& program) {
  Dim macs = 0;
  try {
    for_each_call(program.steps, [&](const Call& call, int) { macs += call.macs; });
  } catch (const SizeOverflow&) {
    return INT64_MAX;
  }
  return macs;
}

double predicted_ns(const Program& program) {
  double sum = 0;
  for_each_call(program.steps, [&](const Call& call, int) { sum += call.cost_ns; });
  return sum;
}

const char* space_name(Buffer::Space space) {
  switch (space) {
    case Buffer::Space::Input: return "input";
    case Buffer::Space::Output: return "output";
    case Buffer::Space::Weights: return "weights";
    case Buffer::Space::Arena: return "arena";
    case Buffer::Space::Heap: return "heap";
    case Buffer::Space::Object: return "object";
  }
  return "?";
}

BufferId root_of(const Program& program, BufferId buffer) {
  while (program[buffer].parent >= 0) buffer = program[buffer].parent;
  return buffer;
}

}  // namespace onnxc
