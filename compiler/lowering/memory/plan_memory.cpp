#include "compiler/lowering/memory/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/lowering/memory/check_coloring.h"
#include "compiler/lowering/memory/interval_coloring.h"
#include "compiler/lowering/memory/interval_stacking.h"
#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/plan_regions.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

void set_lifetimes(Program& program) {
  for (Buffer& b : program.buffers) b.first = b.last = -1;
  std::vector<int> begin, end;  // of the steps that are concurrent with each step
  for_each_step(program.steps, [&](const Step& step, int number) {
    begin.push_back(is_concurrent(step) ? begin.back() : number);
    end.push_back(number + 1);
  });
  for (std::size_t at = end.size(); at-- > 1;) {
    if (begin[at - 1] == begin[at]) end[at - 1] = end[at];
  }
  for_each_step(program.steps, [&](const Step& step, int number) {
    for_each_pointer(step, [&](const PointerArg& p) {
      Buffer& b = program[root_of(program, p.buffer)];
      const auto at = static_cast<std::size_t>(number);
      if (b.first < 0) b.first = begin[at];
      b.last = std::max(b.last, end[at]);
    });
  });
}

/// A buffer that lives outside a loop and is touched inside it lives as long as the loop, since the next iteration
/// touches it again.
void extend_over_loops(Program& program) {
  std::vector<std::pair<int, int>> loops;
  const std::function<int(const std::vector<Step>&, int)> walk = [&](const std::vector<Step>& steps, int number) {
    for (const Step& step : steps) {
      const int first = number++;
      for_each_block(step, [&](const std::vector<Step>& block) { number = walk(block, number); });
      if (std::holds_alternative<Loop>(step.action)) loops.emplace_back(first, number);  // inner ones before outer ones
    }
    return number;
  };
  walk(program.steps, 0);
  for (const auto& [first, last] : loops) {
    for (Buffer& b : program.buffers) {
      const bool inside = b.first >= first && b.last <= last, apart = b.last <= first || b.first >= last;
      if (b.first < 0 || inside || apart) continue;
      b.first = std::min(b.first, first);
      b.last = std::max(b.last, last);
    }
  }
}

/// Refuses a program that is too large even at the smallest sizes, and names the largest buffer.
[[noreturn]] void refuse_endless(const Program& program, const std::vector<BufferId>& list) {
  const BufferId largest = *std::ranges::max_element(list, {}, [&](BufferId id) { return program[id].bytes.min_value(); });
  throw Error(
      ErrorCode::ArenaLimit,
      fmt::format("the arena would take more than {} bytes, '{}' alone {}", kEndless, program[largest].name, program[largest].bytes.text()),
      "see --max-arena");
}

/// The arena of the lowest placement.
int64_t least_bytes(const Program& program, Device device, const SizeOf& size) {
  const Arena& arena = program.arena_of(device);
  if (arena.placements.empty()) return arena.bytes.value();
  const PerBuffer<int64_t> sizes = sizes_of(program, planned_buffers(program, device), size);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Placement& placement : arena.placements) least = std::min(least, offsets_at(placement, sizes, arena.alignment).bytes);
  return least;
}

/// Lifetimes are known.
void plan_arena(Program& program, Device device) {
  const std::vector<BufferId> list = planned_buffers(program, device);
  Arena& arena = program.arena_of(device);
  arena = {.alignment = arena.alignment};
  try {
    for (BufferId id : list) arena.unshared_bytes += round_up(program[id].bytes, arena.alignment);
  } catch (const SizeOverflow&) {
    refuse_endless(program, list);
  }
  const bool fixed = std::all_of(list.begin(), list.end(), [&](BufferId id) { return program[id].bytes.is_constant(); });
  if (fixed) {
    const auto intervals = intervals_of(program, list, [](Dim d) { return d.value(); });
    const Coloring coloring = color_intervals(intervals);
    for (std::size_t i = 0; i < list.size(); ++i) program[list[i]].offset = coloring.offsets[i];
    arena.bytes = coloring.height;
    arena.lower_bound = coloring.lower_bound;
    return;
  }
  const auto intervals = intervals_of(program, list, [](Dim) { return int64_t{0}; });
  std::vector<std::vector<int64_t>> sizes;
  const std::size_t count = std::clamp<std::size_t>(50'000 / list.size(), 32, 1'000);
  for (const Sizes& sample : samples(program, list, count)) {
    sizes.emplace_back();
    for (const Interval& i : intervals_of(program, list, [&](Dim d) { return d.evaluate(sample); })) sizes.back().push_back(i.size);
  }
  if (sizes.empty()) refuse_endless(program, list);
  for (const Stacking& stacking : stack_intervals(intervals, sizes)) {
    Placement& placement = arena.placements.emplace_back();
    for (int index : stacking.order) {
      const auto i = static_cast<std::size_t>(index);
      auto& offset = placement.offsets.emplace_back(Placement::Offset{list[i], {}});
      for (int c : stacking.below[i]) offset.below.push_back(list[static_cast<std::size_t>(c)]);
    }
  }
}

/// No two buffers of the device that are live in one step overlap.
void check_arena(const Program& program, Device device) {
  const std::vector<BufferId> list = planned_buffers(program, device);
  const Arena& arena = program.arena_of(device);
  const auto check = [&](const std::vector<int64_t>& offsets, int64_t bytes, const SizeOf& value) {
    if (const auto breach = find_coloring_error(intervals_of(program, list, value), offsets, bytes))
      throw Error(ErrorKind::Internal, "check_plan: " + *breach, "this is a bug in onnxc; please report it with the model");
  };
  std::vector<int64_t> offsets(list.size());
  if (arena.placements.empty()) {
    std::ranges::transform(list, offsets.begin(), [&](BufferId id) { return program[id].offset.value(); });
    return check(offsets, arena.bytes.value(), [](Dim d) { return d.value(); });
  }
  constexpr std::size_t kChecked = 16;
  for (const Sizes& sample : samples(program, list, kChecked)) {
    const auto value = [&](Dim d) { return d.evaluate(sample); };
    const PerBuffer<int64_t> sizes = sizes_of(program, list, value);
    for (const Placement& placement : arena.placements) {
      const ArenaOffsets at = offsets_at(placement, sizes, arena.alignment);
      std::ranges::transform(list, offsets.begin(), [&](BufferId id) { return at.offsets[id]; });
      check(offsets, at.bytes, value);
    }
  }
}

}  // namespace

std::vector<BufferId> planned_buffers(const Program& program, Device device) {
  std::vector<BufferId> list;
  for (BufferId id = 0; id < std::ssize(program.buffers); ++id) {
    const Buffer& b = program[id];
    if (b.space == Buffer::Space::Arena && b.device == device && b.parent < 0 && b.first >= 0) list.push_back(id);
  }
  return list;
}

void plan_memory(Program& program) {
  set_lifetimes(program);
  extend_over_loops(program);
  for (const Device device : kDevices) plan_arena(program, device);
}

int64_t arena_bytes_at(const Program& program, const Sizes& sizes, Device device) {
  return least_bytes(program, device, [&](Dim d) { return d.evaluate(sizes); });
}

int64_t most_arena_bytes(const Program& program, Device device) {
  return least_bytes(program, device, [](Dim d) { return d.is_constant() ? d.value() : std::min(d.max_value(), kEndless); });
}

LikelyArena likely_arena(const Program& program, Device device) {
  const std::vector<BufferId> list = planned_buffers(program, device);
  const Arena& arena = program.arena_of(device);
  LikelyArena result{likely_sizes(symbols_of(program, list))};
  for (int64_t n = 16; n > 0 && !are_plausible(program, result.sizes, device); n /= 2)
    result.sizes = sizes_near(n, symbols_of(program, list));
  result.bytes = arena_bytes_at(program, result.sizes, device);
  result.lower_bound = arena.placements.empty() ? arena.lower_bound.value() : plan_at(program, result.sizes, {}, device).lower_bound;
  return result;
}

Coloring plan_at(const Program& program, const Sizes& sizes, const ColoringOptions& options, Device device) {
  return color_intervals(intervals_of(program, planned_buffers(program, device), [&](Dim d) { return d.evaluate(sizes); }), options);
}

void check_plan(const Program& program) {
  // Views lie inside the buffers they view.
  for (const Buffer& b : program.buffers) {
    if (b.parent < 0 || !b.bytes.is_constant() || !b.offset.is_constant() || !program[b.parent].bytes.is_constant()) continue;
    ONNXC_CHECK(b.offset.value() >= 0 && b.offset.value() + b.bytes.value() <= program[b.parent].bytes.value(),
                "a view lies inside its parent");
  }
  for (const Device device : kDevices) {
    if (!divides_arena(program)) check_arena(program, device);
  }
  check_regions(program);
}

}  // namespace onnxc
