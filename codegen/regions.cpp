#include "codegen/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "codegen/outline.h"
#include "compiler/lowering/memory/plan_regions.h"

namespace onnxc {
namespace {

/// The regions with a part of the arena.
std::vector<const Region*> parts_of(const Program& program) {
  std::vector<const Region*> parts;
  for (const Region& region : program.regions) {
    if (!region.constants_only) parts.push_back(&region);
  }
  return parts;
}

/// Of the symbol of its constants, which no unit of another namespace has.
std::string image_prefix(const std::string& name_space, const Region& region) {
  return fmt::format("{}_region_{}", name_space, region.name);
}

/// Adds the weights of one image to those of others.
void append(WeightsText& all, WeightsText text) {
  all.declarations += std::move(text.declarations);
  all.header_declarations += text.header_declarations;
  for (const std::string& include : text.includes) {
    if (std::ranges::find(all.includes, include) == all.includes.end()) all.includes.push_back(include);
  }
  all.expressions.merge(text.expressions);
  if (!text.missing.empty()) all.missing = text.missing;
  for (SideFile& file : text.side_files) all.side_files.push_back(std::move(file));
  all.image_bytes += text.image_bytes;
}

}  // namespace

std::string region_text(const Region& region) {
  return fmt::format("{}:{}{}{}{}", region.name, region.capacity, region.section.empty() ? "" : ":", region.section,
                     region.constants_only ? ":const" : "");
}

std::string region_name_problem(const std::string& name) {
  static const std::set<std::string> kBytes{"arena", "max_arena", "self_test", "stack"}, kNamespaces{"onnxc", "std"};
  if (kNamespaces.contains(name)) return fmt::format("{} is a namespace", name);
  return kBytes.contains(name) ? fmt::format("a unit has other {}_bytes", name) : "";
}

std::vector<std::string> names_of_regions(const std::vector<Region>& regions, const std::string& name_space) {
  std::vector<std::string> names{"arenas", "arenas_in", "Arenas", "block"};
  for (const Region& region : regions) {
    for (const char* what : {"bytes", "weights"}) names.push_back(fmt::format("{}_{}", region.name, what));
    names.push_back(image_prefix(name_space, region) + "_weights");
  }
  return names;
}

std::string arenas_declaration(const Program& program) {
  std::string sizes, members, parts, at;
  for (const Region* region : parts_of(program)) {
    sizes += fmt::format("{}{}_bytes = {}", sizes.empty() ? "" : ", ", region->name, region->arena_bytes);
    members += fmt::format("  std::span<std::byte> {};\n", region->name);
    parts += fmt::format("{}block.subspan({}, {}_bytes)", parts.empty() ? "" : ", ", at.empty() ? "0" : at, region->name);
    at += fmt::format("{}{}_bytes", at.empty() ? "" : " + ", region->name);
  }
  return fmt::format(
      "/// Bytes of scratch memory in each region; arena_bytes are those of all together.\n"
      "inline constexpr std::size_t {}, arena_bytes = {}, arena_alignment = {};\n\n"
      "/// Scratch memory in each region, of at least its bytes at a multiple of arena_alignment.\nstruct Arenas {{\n{}}};\n"
      "/// The regions one behind the other in a block of arena_bytes or more, which is what the C interface takes.\n"
      "inline Arenas arenas_in([[maybe_unused]] std::span<std::byte> block) noexcept {{\n  return {{{}}};\n}}\n\n",
      sizes, program.arena.bytes.value(), program.arena.alignment, members, parts);
}

std::string arena_parameter(const Program& program) {
  return !divides_arena(program) ? "std::span<std::byte> arena" : "const Arenas& arenas";
}

std::string arena_checks(const Program& program, bool dims) {
  const auto check = [](const std::string& arena, const std::string& bytes) {
    return fmt::format("  if (const auto status = onnxc::check_arena({}, {}, arena_alignment)) return status;\n", arena, bytes);
  };
  if (!divides_arena(program)) return check("arena", dims ? "arena_bytes(dims)" : "arena_bytes");
  std::string text;
  for (const Region* region : parts_of(program)) text += check("arenas." + region->name, region->name + "_bytes");
  return text;
}

std::string arena_base(const Program& program, const Buffer& buffer) {
  if (!divides_arena(program)) return "arena";
  return fmt::format("arenas.{}.data()", program.regions.at(static_cast<std::size_t>(buffer.region)).name);
}

WeightsText emit_weights_by_region(const std::vector<WeightBlob>& blobs, const WeightsOptions& options, const Program& program) {
  std::map<std::string, int> region_of;
  for (const Weights& w : program.weights) region_of[w.name] = w.region;
  if (std::ranges::all_of(region_of, [](const auto& entry) { return entry.second < 0; })) return emit_weights(blobs, options);
  const auto of = [&](int region) {
    std::vector<WeightBlob> list;
    std::ranges::copy_if(blobs, std::back_inserter(list), [&](const WeightBlob& blob) {
      const auto known = region_of.find(blob.name);
      return (known == region_of.end() ? -1 : known->second) == region;
    });
    return list;
  };
  WeightsText all = emit_weights(of(-1), options);
  for (int r = 0; r < std::ssize(program.regions); ++r) {
    const std::vector<WeightBlob> here = of(r);
    if (here.empty()) continue;
    const Region& region = program.regions[static_cast<std::size_t>(r)];
    WeightsOptions own = options;
    own.form = "section:" + region.section;
    own.prefix = image_prefix(options.prefix, region);
    own.pointer = region.name + "_weights";
    all.declarations += fmt::format("\n// Constants of the region {}: {} bytes.\n", region.name, thousands(region.constant_bytes));
    append(all, emit_weights(here, own));
  }
  all.end = "nullptr";  // which no longer is the end of all
  return all;
}

}  // namespace onnxc
