#include "codegen/constant_args.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {

std::size_t ConstantArgs::number_of(const std::string& members) {
  const auto found = std::ranges::find(members_, members);
  const auto number = static_cast<std::size_t>(found - members_.begin()) + 1;
  if (found == members_.end()) members_.push_back(members);
  return number;
}

std::string ConstantArgs::add(const std::string& members) { return fmt::format("onnxc::ConstantOf<Params{}>{{}}", number_of(members)); }

std::string ConstantArgs::add_array(const std::string& elements, const std::string& type, std::size_t count) {
  return fmt::format("Params{}::value<{}[{}]>", number_of(elements), type, count);
}

std::string ConstantArgs::definitions() const {
  std::string text;
  for (std::size_t i = 0; i < members_.size(); ++i)
    text += fmt::format("struct Params{} {{\n  template <class T> static constexpr T value{{{}}};\n}};\n", i + 1, members_[i]);
  return text.empty() ? "" : "// Parameters of steps.\n" + text + "\n";
}

}  // namespace onnxc
