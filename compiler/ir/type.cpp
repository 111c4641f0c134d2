#include "compiler/ir/type.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {

bool is_static(const Extents& extents) {
  return std::all_of(extents.begin(), extents.end(), [](Dim d) { return d.is_constant(); });
}

bool Type::is_static() const { return is_tensor() && ranked && onnxc::is_static(extents); }

double least_bytes(const Type& type) {
  if (!type.is_tensor() || !type.ranked) return 0;
  double bytes = held_bits(type.element) / 8;
  for (Dim d : type.extents) bytes *= static_cast<double>(std::max<int64_t>(1, d.min_value()));
  return bytes;
}

Dim element_count(const Extents& extents) {
  Dim n = 1;
  for (Dim d : extents) n *= d;
  return n;
}

std::vector<int64_t> values(const Extents& extents) {
  std::vector<int64_t> result;
  for (Dim d : extents) result.push_back(d.value());
  return result;
}

std::string text(const Extents& extents) {
  std::string list;
  for (Dim d : extents) list += (list.empty() ? "" : ", ") + d.text();
  return "[" + list + "]";
}

std::string Type::text() const {
  switch (kind) {
    case Kind::Unknown: return "?";
    case Kind::Tensor: return std::string(name(element)) + (ranked ? onnxc::text(extents) : "[*]");
    case Kind::Sequence: return fmt::format("seq({})", nested[0].text());
    case Kind::Optional: return fmt::format("optional({})", nested[0].text());
    case Kind::Map: return fmt::format("map({}, {})", name(element), nested[0].text());
  }
  return "?";
}

}  // namespace onnxc
