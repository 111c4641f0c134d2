#include "compiler/lowering/memory/plan_regions.h"

#include <algorithm>
#include <utility>

#include "compiler/lowering/memory/accesses.h"
#include "compiler/lowering/memory/interval_regions.h"
#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/plan_memory.h"

namespace onnxc {
namespace {

/// The buffers of constants that steps read, but for strings, which are no bytes.
std::vector<BufferId> constants_of(const Program& program, const PerBuffer<double>& accesses) {
  std::vector<BufferId> list;
  for (BufferId id = 0; id < std::ssize(program.buffers); ++id) {
    const Buffer& b = program[id];
    if (b.space == Buffer::Space::Weights && b.parent < 0 && accesses[id] > 0 &&
        !program.weights[static_cast<std::size_t>(b.index)].strings)
      list.push_back(id);
  }
  return list;
}

}  // namespace

bool divides_arena(const Program& program) {
  return !std::ranges::all_of(program.regions, &Region::constants_only);  // true of none
}

void plan_regions(Program& program, std::vector<Region> regions) {
  program.regions = std::move(regions);
  const bool divides = divides_arena(program);
  const PerBuffer<double> accesses = accesses_of(program);
  const std::vector<BufferId> buffers = planned_buffers(program), constants = constants_of(program, accesses);
  const int64_t alignment = program.arena.alignment;
  RegionProblem problem;
  if (divides) {
    problem.intervals = intervals_of(program, buffers, [](Dim d) { return d.value(); });
    for (const BufferId id : buffers) problem.interval_accesses.push_back(accesses[id]);
  }
  for (const BufferId id : constants) {
    problem.constants.push_back(aligned_bytes(program[id].bytes.value(), alignment));
    problem.constant_accesses.push_back(accesses[id]);
  }
  for (const Region& region : program.regions)
    problem.memories.push_back({region.capacity, !region.constants_only, !region.section.empty()});
  const RegionPlan plan = spread_over_regions(problem);

  double all = 0;
  std::vector<double> served(program.regions.size(), 0);
  const auto serve = [&](BufferId id, int region) {
    all += accesses[id];
    if (region >= 0) served[static_cast<std::size_t>(region)] += accesses[id];
  };
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    Buffer& b = program[buffers[i]];
    if (divides) {
      b.region = plan.interval_regions[i];
      b.offset = plan.offsets[i];
    }
    serve(buffers[i], b.region);
  }
  for (std::size_t i = 0; i < constants.size(); ++i) {
    program.weights[static_cast<std::size_t>(program[constants[i]].index)].region = plan.constant_regions[i];
    serve(constants[i], plan.constant_regions[i]);
  }
  int64_t bytes = 0;
  for (std::size_t r = 0; r < program.regions.size(); ++r) {
    Region& region = program.regions[r];
    region.arena_bytes = plan.heights[r];
    region.constant_bytes = plan.constant_bytes[r];
    region.share = all > 0 ? served[r] / all : 0;
    bytes += plan.heights[r];
  }
  if (divides) program.arena.bytes = bytes;
}

}  // namespace onnxc
