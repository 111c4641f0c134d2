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
    for (const auto& [symbol, extent] : variant.dims) name += fmt::format("{}{}_{}", name.empty() ? "" : "_", make_identifier(symbol, "dim"), extent);
    names.push_back(scopes.add(name));
  }
  return names;
}

std::size_t variant_at(const std::vector<Variant>& variants, const Sizes& dimensions) {
  const auto fits = [&](const Variant& variant) {
    return std::ranges::all_of(variant.dims, [&](const auto& dim) {
      const auto found = dimensions.find(dim.first);
      return found != dimensions.end() && found->second == dim.second;
    });
  };
  return static_cast<std::size_t>(std::ranges::find_if(variants, fits) - variants.begin());
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [symbol, extent] : sizes) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", symbol, extent);
  return text;
}

}  // namespace onnxc
