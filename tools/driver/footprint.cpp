#include "tools/driver/footprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/outline.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/elf_file.h"

namespace onnxc {
namespace {

/// The innermost name of a function without its template arguments: what a reader recognises.
std::string short_name(const std::string& function) {
  const std::string name = function.substr(0, function.find_first_of("<("));
  return name.substr(name.find_last_of(" :") + 1);
}

}  // namespace

std::string stack_path(const StackBound& stack) {
  std::vector<std::string> names;
  for (const std::string& function : stack.path) names.push_back(one_line(short_name(function)));
  return fmt::format("{}", fmt::join(names, " > "));
}

Footprint footprint_of(std::string_view object, std::string_view call_graph) {
  Footprint footprint;
  for (const ElfFile::Section& section : read_elf(object).sections) {
    if (!section.is_allocated) continue;
    int64_t& kind = section.is_code       ? footprint.code
                    : !section.has_bytes  ? footprint.zeroed
                    : section.is_writable ? footprint.data
                                          : footprint.constants;
    kind += section.bytes;
  }
  if (call_graph.empty()) footprint.stack.why = "only g++ tells how much stack functions take";
  else footprint.stack = stack_bound(call_graph);
  return footprint;
}

int64_t Footprint::copied_constants() const {
  int64_t bytes = 0;
  for (const Region& region : regions) bytes += region.constants_only ? 0 : region.constant_bytes;
  return bytes;
}

std::string text(const Footprint& f) {
  const std::string stack = f.stack.bytes ? thousands(*f.stack.bytes) : "unknown, since " + f.stack.why;
  const bool bounded = f.arena < kEndless;
  std::string regions;
  for (const Region& region : f.regions)
    regions += fmt::format("{} {} {} of {} (arena {}, constants {})", regions.empty() ? "; regions" : ",", region.name,
                           thousands(region.arena_bytes + region.constant_bytes), thousands(region.capacity), thousands(region.arena_bytes),
                           thousands(region.constant_bytes));
  return fmt::format("flash {} (code {}, constants {}, weights {}{}); RAM {} (arena {}, stack {}{}{}){}; by {}", thousands(f.flash()),
                     thousands(f.code), thousands(f.constants), thousands(f.weights), f.data > 0 ? ", data " + thousands(f.data) : "",
                     bounded && f.stack.bytes ? thousands(f.ram()) : "unknown", bounded ? thousands(f.arena) : "without a bound", stack,
                     f.data + f.zeroed > 0 ? ", variables " + thousands(f.data + f.zeroed) : "",
                     f.copied_constants() > 0 ? ", constants " + thousands(f.copied_constants()) : "", regions, f.compiler);
}

void check_footprint(const Footprint& f, const FootprintLimits& limits) {
  const auto refuse = [](const char* what, int64_t bytes, int64_t most, const std::string& why, const char* option) {
    throw Error(ErrorCode::FootprintLimit, fmt::format("{} would take {} bytes, more than {}{}", what, bytes, most, why),
                std::string("see ") + option);
  };
  if (limits.flash && f.flash() > *limits.flash)
    refuse("the unit", f.flash(), *limits.flash,
           fmt::format(" of flash: code {}, constants {}, weights {}", f.code, f.constants, f.weights), "--max-flash");
  if (limits.stack || limits.ram) {
    if (!f.stack.bytes)
      throw Error(ErrorCode::StackWithoutBound, "the stack has no bound: " + f.stack.why,
                  "compile with g++, or leave --max-stack and --max-ram out");
  }
  if (limits.stack && *f.stack.bytes > *limits.stack)
    refuse("the stack", *f.stack.bytes, *limits.stack, ": " + stack_path(f.stack), "--max-stack");
  if (limits.ram && f.arena >= kEndless)
    throw Error(ErrorCode::ArenaWithoutBound, "the arena has no bound", "--dim NAME=… fixes or bounds the dimensions that it depends on");
  if (limits.ram && f.ram() > *limits.ram)
    refuse("the unit", f.ram(), *limits.ram,
           fmt::format(" of RAM: arena {}, stack {}, variables {}{}", f.arena, *f.stack.bytes, f.data + f.zeroed,
                       f.copied_constants() > 0 ? fmt::format(", constants of regions {}", f.copied_constants()) : ""),
           "--max-ram");
}

}  // namespace onnxc
