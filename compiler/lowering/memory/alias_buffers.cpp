#include <algorithm>
#include <map>

#include "compiler/lowering/memory/plan_memory.h"

namespace onnxc {

void alias_buffers(Program& program) {
  // The first and the last step that touch each root buffer. Steps of blocks count here, but nothing inside blocks is
  // shared, since a step there may run again or not at all.
  std::map<BufferId, int> first_use, last_use;
  for_each_step(program.steps, [&](const Step& step, int number) {
    for_each_pointer(step, [&](const PointerArg& p) {
      first_use.emplace(root_of(program, p.buffer), number);
      int& last = last_use[root_of(program, p.buffer)];
      last = std::max(last, number);
    });
  });
  int number = 0;
  for (Step& step : program.steps) {
    const int here = number++;
    for_each_block(step, [&](const std::vector<Step>& block) { number = for_each_step(block, [](const Step&, int) {}, number); });
    if (step.call() == nullptr) continue;
    for (const auto& [written, read] : step.call()->may_share) {
      Buffer& out = program[written];
      const BufferId source = root_of(program, read);
      if (out.space != Buffer::Space::Arena || out.parent >= 0 || first_use[written] != here) continue;
      if (program[source].space != Buffer::Space::Arena || source == written || last_use[source] != here) continue;
      if (read != source && !(program[read].offset == Dim(0) && program[read].parent == source)) continue;
      if (!always_at_least(program[source].bytes, out.bytes)) continue;
      // If another operand of the step lies in the same memory, the two may be read in different orders, so nothing
      // is shared.
      int uses = 0;
      for_each_pointer(step, [&](const PointerArg& p) { uses += root_of(program, p.buffer) == source; });
      if (uses != 1) continue;
      out.parent = source;
      out.offset = 0;
      last_use[source] = std::max(last_use[source], last_use[written]);
      break;
    }
  }
}

}  // namespace onnxc
