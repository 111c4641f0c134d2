#include "codegen/outline.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp_text.h"
#include "codegen/names.h"
#include "codegen/steps.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/memory/plan_regions.h"

namespace onnxc {

std::string thousands(int64_t n) {
  std::string digits = std::to_string(n), out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

namespace {

/// What of the arena lies in the region; -1: all, where it is one block.
std::string buffer_rows(const Program& program, int region) {
  std::string text;
  for (BufferId id : planned_buffers(program)) {
    const Buffer& b = program[id];
    if (b.region != region) continue;
    text += fmt::format("// {:>10} {:>12}   {:<10} {} {} {}\n", thousands(b.offset.value()), thousands(b.bytes.value()),
                        fmt::format("[{}, {})", b.first + 1, b.last + 1), comment_text(b.name, 60), name(b.element),
                        comment_text(onnxc::text(b.extents)));
  }
  return region < 0 || !text.empty() ? "//     offset        bytes   live       tensor\n" + text : "";
}

std::string constant_rows(const Program& program, int region) {
  std::string text;
  for (const Weights& w : program.weights) {
    if (w.region != region) continue;
    text += fmt::format("// {:>10} {:>12}              {} {}\n", "constant", thousands(static_cast<int64_t>(w.bytes.size())),
                        comment_text(w.from, 60), name(w.element));
  }
  return text;
}

std::string region_line(const Region& region) {
  return fmt::format("//\n// Region {}: of {} bytes {} for the arena, {} for constants{}; {:.1f} % of all accesses, by estimate.\n",
                     region.name, thousands(region.capacity), thousands(region.arena_bytes), thousands(region.constant_bytes),
                     region.section.empty() ? "" : " in " + region.section, 100 * region.share);
}

}  // namespace

std::string outline(const Program& program) {
  std::string text = "//\n";
  const auto quality = [](int64_t arena, int64_t bound) {
    const double gap = 100.0 * static_cast<double>(arena - bound) / static_cast<double>(std::max<int64_t>(bound, 1));
    return arena == bound ? std::string("proved minimal") : fmt::format("{:.1f} % above the lower bound {}", gap, thousands(bound));
  };
  if (!program.arena.placements.empty()) {
    const LikelyArena likely = likely_arena(program);
    std::string sizes;
    for (const auto& [symbol, size] : likely.sizes) sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", symbol, size);
    text += fmt::format("// Memory: see plan() for the arena's layout; {} buffers. At {}: {} bytes, {}.\n",
                        program.arena.placements.front().offsets.size(), comment_text(sizes), thousands(likely.bytes),
                        quality(likely.bytes, likely.lower_bound));
  } else {
    const int64_t arena = program.arena.bytes.value();
    text += fmt::format("// Memory: {} bytes of arena, {} ({} without sharing).\n", thousands(arena),
                        quality(arena, program.arena.lower_bound.value()), thousands(program.arena.unshared_bytes.value()));
    if (!divides_arena(program)) text += buffer_rows(program, -1);
    for (std::size_t r = 0; r < program.regions.size(); ++r)
      text += region_line(program.regions[r]) + buffer_rows(program, static_cast<int>(r)) + constant_rows(program, static_cast<int>(r));
  }
  const Dim macs = total_macs(program);
  const int count = for_each_step(program.steps, [](const Step&, int) {});
  text += fmt::format("// Steps: {}, {} multiply-adds.\n", count,
                      macs.is_constant() ? thousands(macs.value()) : comment_text(macs.text(), 200));
  for_each_step(program.steps, [&](const Step& s, int number) {
    text += fmt::format("//   {:>4}  {:<20} {}\n", number + 1, step_label(s), comment_text(s.what, kLongestStep));
  });
  return text + "\n";
}

}  // namespace onnxc
