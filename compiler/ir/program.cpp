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

const char* place_name(Buffer::Place place) {
  switch (place) {
    case Buffer::Place::Input: return "input";
    case Buffer::Place::Output: return "output";
    case Buffer::Place::Weights: return "weights";
    case Buffer::Place::Arena: return "arena";
    case Buffer::Place::Heap: return "heap";
    case Buffer::Place::Object: return "object";
  }
  return "?";
}

BufferId root_of(const Program& program, BufferId buffer) {
  while (program[buffer].parent >= 0) buffer = program[buffer].parent;
  return buffer;
}

}  // namespace onnxc
