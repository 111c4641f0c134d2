#include "codegen/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/names.h"

namespace onnxc {

std::vector<std::string> variant_names(const std::vector<Variant>& variants) {
  Names scopes(kInterfaceNames);
  std::vector<std::string> names;
  for (const Variant& variant : variants) {
    std::string name;
    for (const auto& [symbol, extent] : variant.dims)
      name += fmt::format("{}{}_{}", name.empty() ? "" : "_", make_identifier(symbol, "dim"), extent);
    if (!variant.equal.empty()) name += name.empty() ? "equal_extents" : "_equal_extents";
    names.push_back(scopes.add(name));
  }
  return names;
}

std::size_t variant_at(const std::vector<Variant>& variants, const Sizes& dimensions) {
  const auto fits = [&](const Variant& variant) {
    return std::ranges::all_of(variant.dims,
                               [&](const auto& dim) {
                                 const auto found = dimensions.find(dim.first);
                                 return found != dimensions.end() && found->second == dim.second;
                               }) &&
           std::ranges::all_of(variant.equal,
                               [&](const auto& pair) { return pair.first.evaluate(dimensions) == pair.second.evaluate(dimensions); });
  };
  return static_cast<std::size_t>(std::ranges::find_if(variants, fits) - variants.begin());
}

std::string condition_text(const Variant& variant) {
  std::string text = sizes_text(variant.dims);
  for (const auto& [a, b] : variant.equal) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", a.text(), b.text());
  return text;
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [symbol, extent] : sizes) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", symbol, extent);
  return text;
}

std::string print_programs(const Compilation& compilation) {
  std::string text = print_program(compilation.program);
  const std::vector<std::string> names = variant_names(compilation.variants);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("variant {}\n{}", names[i], print_program(compilation.variants[i].program));
  return text;
}

}  // namespace onnxc
