#include "tools/onnxc/region_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "codegen/names.h"
#include "codegen/regions.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// `64K` as 65,536; empty for what is no size.
std::optional<uint64_t> size_in(std::string text) {
  try {
    if (!CLI::AsSizeValue(false)(text).empty()) return std::nullopt;
  } catch (const CLI::Error&) {
    return std::nullopt;
  }
  uint64_t bytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(bytes) : std::nullopt;
}

}  // namespace

Region parse_region(const std::string& text) {
  const auto bad = [&](const std::string& what, const std::string& remedy) {
    return Error(ErrorCode::RegionOption, fmt::format("--region {}: {}", one_line(text), what), remedy);
  };
  const char* const kForm = "say --region NAME:SIZE, NAME:SIZE:SECTION or NAME:SIZE:SECTION:const";
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t colon = text.find(':', at);
    parts.push_back(text.substr(at, colon == text.npos ? text.npos : colon - at));
    if (colon == text.npos) break;
    at = colon + 1;
  }
  if (parts.size() < 2 || parts.size() > 4 || std::ranges::find(parts, "") != parts.end()) throw bad("it has no name and size", kForm);
  if (parts.size() == 4 && parts[3] != "const") throw bad(fmt::format("'{}' is not `const`", one_line(parts[3])), kForm);
  if (parts.back() == "const" && parts.size() < 4)
    throw bad("a region for constants alone needs a section for them", "say NAME:SIZE:SECTION:const");
  Region region;
  region.name = make_identifier(parts[0], "region");
  if (region.name != parts[0]) throw bad("its name is a member of a struct in the unit", fmt::format("call it {}", region.name));
  if (const std::string problem = region_name_problem(region.name); !problem.empty()) throw bad(problem, "choose another name");
  const std::optional<uint64_t> bytes = size_in(parts[1]);
  if (!bytes) throw bad(fmt::format("'{}' is no size", one_line(parts[1])), "512K and 2MiB are sizes");
  if (*bytes == 0) throw bad("nothing fits into 0 bytes", "leave it out, or give it more");
  constexpr uint64_t kMost = uint64_t{1} << 48;
  if (*bytes > kMost) throw bad("no machine has so much memory", fmt::format("give it at most {} bytes", kMost));
  region.capacity = static_cast<int64_t>(*bytes);
  if (parts.size() > 2) region.section = parts[2];
  const auto of_section = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._$-").find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(region.section, of_section))
    throw bad(fmt::format("'{}' cannot be the name of a section", one_line(region.section)), "letters, digits and ._$- make one");
  for (const std::string_view taken : {".bss", ".text", ".data"}) {  // of zeros, of code, of variables: constants are none of these
    if (region.section == taken || region.section.starts_with(std::string(taken) + "."))
      throw bad(fmt::format("constants cannot lie in {}", one_line(region.section)),
                "name a section of their own, which the linker script places");
  }
  region.constants_only = parts.size() == 4;
  return region;
}

std::vector<Region> parse_regions(const std::vector<std::string>& texts) {
  std::vector<Region> regions;
  for (const std::string& text : texts) {
    Region region = parse_region(text);
    if (std::ranges::find(regions, region.name, &Region::name) != regions.end())
      throw Error(ErrorCode::RegionOption, fmt::format("two regions are called {}", region.name), "give each --region a name of its own");
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace onnxc
