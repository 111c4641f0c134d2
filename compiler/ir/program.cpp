#include "compiler/ir/program.h"

#include <algorithm>
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

namespace {

void add_host_reasons(const Program& program, const std::vector<Step>& steps, bool inside, std::vector<std::string>& reasons) {
  for (const Step& step : steps) {
    const Call* const call = step.call();
    const bool blocks = std::holds_alternative<If>(step.action) || std::holds_alternative<Loop>(step.action);
    std::string& reason = reasons.emplace_back();
    if (blocks || (call != nullptr && call->device == Device::Cpu)) {
      const auto known = program.host_reasons.find(step.value);  // copies to the caller belong to no value
      reason = known != program.host_reasons.end() ? known->second
               : inside                            ? "it belongs to a branch or a loop, which the host runs"
                                                   : "it gives the caller a value in memory of the host";
    }
    for_each_block(step, [&](const std::vector<Step>& block) { add_host_reasons(program, block, true, reasons); });
  }
}

}  // namespace

std::vector<std::string> host_reasons_of_steps(const Program& program) {
  std::vector<std::string> reasons;
  add_host_reasons(program, program.steps, false, reasons);
  return reasons;
}

bool lie_at_one_place(const Program& program, BufferId a, BufferId b) {
  for (BufferId* buffer : {&a, &b}) {  // a view that begins where its parent does lies there
    while (program[*buffer].parent >= 0 && program[*buffer].offset == Dim(0)) *buffer = program[*buffer].parent;
  }
  const auto is_state = [&](const State& state) {
    const BufferId past = program.inputs[static_cast<std::size_t>(state.past)],
                   present = program.outputs[static_cast<std::size_t>(state.present)];
    return (past == a && present == b) || (past == b && present == a);
  };
  return a == b || std::ranges::any_of(program.states, is_state);
}

}  // namespace onnxc
