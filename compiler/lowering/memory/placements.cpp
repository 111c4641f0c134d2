#include "compiler/lowering/memory/placements.h"

#include <algorithm>

#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/support/checked.h"
#include "compiler/support/random.h"

namespace onnxc {

std::map<std::string, Dim> symbols_of(const Program& program, const std::vector<BufferId>& list) {
  std::map<std::string, Dim> symbols;
  for (BufferId id : list) program[id].bytes.collect_symbols(symbols);
  return symbols;
}

bool are_plausible(const Program& program, const Sizes& sizes, Device device) {
  try {
    return program.arena_of(device).unshared_bytes.evaluate(sizes) <= kEndless;
  } catch (const SizeOverflow&) {
    return false;
  }
}

std::vector<Sizes> samples(const Program& program, const std::vector<BufferId>& list, std::size_t count) {
  const auto symbols = symbols_of(program, list);
  const Device device = list.empty() ? Device::Cpu : program[list.front()].device;
  std::vector<Sizes> samples;
  const auto add = [&](auto&& wanted) {
    Sizes sample;
    for (const auto& [name, symbol] : symbols)
      sample[name] = std::clamp<int64_t>(wanted(sample.size()), symbol.min_value(), symbol.max_value());
    if (std::ranges::find(samples, sample) == samples.end() && are_plausible(program, sample, device)) samples.push_back(std::move(sample));
  };
  for (int64_t n : {64, 1, 1000, 7}) add([&](std::size_t k) { return n + static_cast<int64_t>(k % 3); });
  for (std::size_t large : {0, 1}) add([&](std::size_t k) { return k % 2 == large ? 300 : 2; });
  for (int64_t n : {16, 200}) add([&](std::size_t) { return n; });
  Random random(symbols.size());
  for (std::size_t i = samples.size(); i < count; ++i) {
    add([&](std::size_t) {
      const int64_t magnitude = int64_t{1} << random.below(11);
      return magnitude + static_cast<int64_t>(random.below(static_cast<std::size_t>(magnitude)));
    });
  }
  if (samples.empty()) add([](std::size_t) { return 0; });
  return samples;
}

std::vector<Interval> intervals_of(const Program& program, const std::vector<BufferId>& list, const SizeOf& size) {
  std::vector<Interval> intervals;
  for (BufferId id : list) {
    const Buffer& b = program[id];
    const int64_t alignment = program.arena_of(b.device).alignment;
    intervals.push_back({aligned_bytes(size(b.bytes), alignment), b.first, b.last, alignment});
  }
  return intervals;
}

PerBuffer<int64_t> sizes_of(const Program& program, const std::vector<BufferId>& list, const SizeOf& size) {
  PerBuffer<int64_t> sizes(program.buffers.size(), 0);
  for (BufferId id : list) sizes[id] = aligned_bytes(size(program[id].bytes), program.arena_of(program[id].device).alignment);
  return sizes;
}

ArenaOffsets offsets_at(const Placement& placement, const PerBuffer<int64_t>& sizes, int64_t alignment) {
  ArenaOffsets arena;
  arena.offsets.resize(sizes.size());
  for (const auto& [id, below, centre] : placement.offsets) {
    int64_t offset = 0;
    for (BufferId c : below) offset = std::max(offset, arena.offsets[c] + sizes[c]);
    if (centre >= 0) offset = std::max(offset, arena.offsets[centre] + aligned_bytes((sizes[centre] - sizes[id]) / 2, alignment));
    arena.offsets[id] = offset;
    arena.bytes = std::max(arena.bytes, offset + sizes[id]);
  }
  return arena;
}

}  // namespace onnxc
