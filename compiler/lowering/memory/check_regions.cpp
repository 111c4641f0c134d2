#include <fmt/format.h>

#include "compiler/lowering/memory/check_coloring.h"
#include "compiler/lowering/memory/plan_regions.h"
#include "compiler/support/error.h"

namespace onnxc {
namespace {

[[noreturn]] void report_breach(const std::string& what) {
  throw Error(ErrorKind::Internal, "check_regions: " + what, "this is a bug in onnxc; please report it with the model");
}

int64_t round_up_to(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

void check_parts(const Program& program) {
  std::vector<Interval> intervals;
  std::vector<int> regions;
  std::vector<int64_t> offsets, heights;
  for (const Buffer& b : program.buffers) {
    if (b.space != Buffer::Space::Arena || b.parent >= 0 || b.first < 0) continue;
    intervals.push_back({round_up_to(b.bytes.value(), program.arena.alignment), b.first, b.last, program.arena.alignment});
    regions.push_back(b.region);
    offsets.push_back(b.offset.value());
    if (b.region >= 0 && b.region < std::ssize(program.regions) && program.regions[static_cast<std::size_t>(b.region)].constants_only)
      report_breach(fmt::format("'{}' lies in a region for constants", b.name));
  }
  int64_t all = 0;
  for (const Region& region : program.regions) {
    heights.push_back(region.arena_bytes);
    all += region.arena_bytes;
    if (region.arena_bytes % program.arena.alignment != 0)
      report_breach(fmt::format("a part of the arena has {} bytes", region.arena_bytes));
  }
  if (const auto breach = find_region_error(intervals, regions, offsets, heights)) report_breach(*breach);
  if (program.arena.bytes.value() != all)
    report_breach(fmt::format("the arena has {} bytes, its parts {}", program.arena.bytes.value(), all));
}

void check_constants(const Program& program) {
  std::vector<int64_t> bytes(program.regions.size(), 0);
  for (const Buffer& b : program.buffers) {
    if (b.space != Buffer::Space::Weights || b.parent >= 0) continue;
    const Weights& w = program.weights[static_cast<std::size_t>(b.index)];
    if (w.region < 0) continue;
    if (w.region >= std::ssize(program.regions)) report_breach(fmt::format("{} lies in region {}", w.name, w.region));
    const Region& region = program.regions[static_cast<std::size_t>(w.region)];
    if (region.section.empty() || w.strings) report_breach(fmt::format("{} cannot lie in region {}", w.name, region.name));
    bytes[static_cast<std::size_t>(w.region)] += round_up_to(b.bytes.value(), program.arena.alignment);
  }
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    const Region& region = program.regions[r];
    if (region.constant_bytes != bytes[r])
      report_breach(fmt::format("region {} says {} bytes of constants, not {}", region.name, region.constant_bytes, bytes[r]));
    if (region.arena_bytes + region.constant_bytes > region.capacity)
      report_breach(fmt::format("region {} holds more than it can", region.name));
  }
}

}  // namespace

void check_regions(const Program& program) {
  if (divides_arena(program)) check_parts(program);
  check_constants(program);
}

}  // namespace onnxc
