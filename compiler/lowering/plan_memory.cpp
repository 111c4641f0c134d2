#include "compiler/lowering/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/lowering/check_coloring.h"
#include "compiler/lowering/interval_coloring.h"
#include "compiler/lowering/interval_stacking.h"

namespace onnxc {
namespace {

constexpr int64_t kAlignment = 64;

/// Arena buffers that are not views and are used at all.
std::vector<BufferId> planned_buffers(const Program& program) {
  std::vector<BufferId> list;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.place == Buffer::Place::Arena && b.parent < 0 && b.first >= 0) list.push_back(static_cast<BufferId>(i));
  }
  return list;
}

void set_lifetimes(Program& program) {
  for (Buffer& b : program.buffers) b.first = b.last = -1;
  for_each_step(program.steps, [&](const Step& step, int number) {
    for_each_pointer(step, [&](const PointerArg& p) {
      Buffer& b = program[root_of(program, p.buffer)];
      if (b.first < 0) b.first = number;
      b.last = std::max(b.last, number + 1);
    });
  });
}

/// What lives outside of a loop and is touched inside lives as long as the loop: the next iteration touches it again.
void extend_over_loops(Program& program) {
  std::vector<std::pair<int, int>> loops;
  const std::function<int(const std::vector<Step>&, int)> walk = [&](const std::vector<Step>& steps, int number) {
    for (const Step& step : steps) {
      const int first = number++;
      for (const auto& block : step.blocks) number = walk(block, number);
      if (step.kind == Step::Kind::Loop) loops.emplace_back(first, number);  // inner ones before outer ones
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

std::map<std::string, Dim> symbols_of(const Program& program) {
  std::map<std::string, Dim> symbols;
  for (const Buffer& b : program.buffers) b.bytes.collect_symbols(symbols);
  return symbols;
}

/// Sizes at which symbolic plans are compared and checked: every symbol small, middling, large, within its bounds.
std::vector<std::map<std::string, int64_t, std::less<>>> samples(const Program& program) {
  std::vector<std::map<std::string, int64_t, std::less<>>> list;
  const auto symbols = symbols_of(program);
  for (int64_t wanted : {1, 4, 7, 16, 64, 128, 1000}) {
    auto& sample = list.emplace_back();
    int64_t skew = 0;
    for (const auto& [name, symbol] : symbols) sample[name] = std::clamp(wanted + skew++ % 3, symbol.min_value(), symbol.max_value());
  }
  return list;
}

std::vector<Interval> intervals_of(const Program& program, const std::vector<BufferId>& list, const std::function<int64_t(Dim)>& size) {
  std::vector<Interval> intervals;
  for (BufferId id : list) {
    const Buffer& b = program[id];
    intervals.push_back({(size(b.bytes) + kAlignment - 1) / kAlignment * kAlignment, b.first, b.last, kAlignment});
  }
  return intervals;
}

/// The arena for sizes as `value` gives them; `offsets` may take where buffers then lie in a symbolic plan.
int64_t arena_bytes_at(const Program& program, const std::function<int64_t(Dim)>& value, std::map<BufferId, int64_t>* offsets = nullptr) {
  if (program.plan_order.empty()) return value(program.arena_bytes);
  std::map<BufferId, int64_t> own;
  std::map<BufferId, int64_t>& at = offsets != nullptr ? *offsets : own;
  int64_t height = 0;
  for (BufferId id : program.plan_order) {
    int64_t& offset = at[id];
    for (BufferId c : program[id].below) offset = std::max(offset, at[c] + value(round_up(program[c].bytes, kAlignment)));
    height = std::max(height, offset + value(round_up(program[id].bytes, kAlignment)));
  }
  return height;
}

}  // namespace

void plan_memory(Program& program) {
  set_lifetimes(program);
  extend_over_loops(program);
  const std::vector<BufferId> list = planned_buffers(program);
  program.arena_alignment = kAlignment;
  program.unshared_bytes = 0;
  for (BufferId id : list) program.unshared_bytes += round_up(program[id].bytes, kAlignment);
  const bool fixed = std::all_of(list.begin(), list.end(), [&](BufferId id) { return program[id].bytes.is_constant(); });
  if (fixed) {
    const auto intervals = intervals_of(program, list, [](Dim d) { return d.value(); });
    const Coloring coloring = color_intervals(intervals);
    for (std::size_t i = 0; i < list.size(); ++i) program[list[i]].offset = coloring.offsets[i];
    program.arena_bytes = coloring.height;
    program.lower_bound = coloring.lower_bound;
    return;
  }
  const auto intervals = intervals_of(program, list, [](Dim) { return int64_t{0}; });
  std::vector<std::vector<int64_t>> sizes;
  for (const auto& sample : samples(program)) {
    sizes.emplace_back();
    for (const Interval& i : intervals_of(program, list, [&](Dim d) { return d.evaluate(sample); })) sizes.back().push_back(i.size);
  }
  const Stacking stacking = stack_intervals(intervals, sizes);
  program.plan_order.clear();
  for (int index : stacking.order) {
    const auto i = static_cast<std::size_t>(index);
    Buffer& b = program[list[i]];
    b.below.clear();
    for (int c : stacking.below[i]) b.below.push_back(list[static_cast<std::size_t>(c)]);
    program.plan_order.push_back(list[i]);
  }
  program.arena_bytes = 0;
  program.lower_bound = 0;
}

int64_t likely_arena_bytes(const Program& program) {
  if (program.plan_order.empty()) return program.arena_bytes.value();
  const auto sizes = likely_sizes(symbols_of(program));
  return arena_bytes_at(program, [&](Dim d) { return d.evaluate(sizes); });
}

void check_plan(const Program& program) {
  const std::vector<BufferId> list = planned_buffers(program);
  const auto check = [&](const std::function<int64_t(Dim)>& value) {
    std::map<BufferId, int64_t> offsets;
    const int64_t height = arena_bytes_at(program, value, &offsets);
    if (program.plan_order.empty()) {
      for (BufferId id : list) offsets[id] = value(program[id].offset);
    }
    Coloring coloring;
    for (BufferId id : list) coloring.offsets.push_back(offsets[id]);
    coloring.height = height;
    if (const auto breach = find_coloring_error(intervals_of(program, list, value), coloring.offsets, coloring.height))
      throw Error(ErrorKind::Internal, "check_plan: " + *breach, "this is a bug in onnxc; please report it with the model");
  };
  // Views stay inside what they view.
  for (const Buffer& b : program.buffers) {
    if (b.parent < 0 || !b.bytes.is_constant() || !b.offset.is_constant() || !program[b.parent].bytes.is_constant()) continue;
    ONNXC_CHECK(b.offset.value() >= 0 && b.offset.value() + b.bytes.value() <= program[b.parent].bytes.value(), "a view lies inside its parent");
  }
  if (program.plan_order.empty()) return check([](Dim d) { return d.value(); });
  for (const auto& sample : samples(program)) check([&](Dim d) { return d.evaluate(sample); });
}

}  // namespace onnxc
