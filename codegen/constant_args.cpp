#include "codegen/constant_args.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {

std::string ConstantArgs::add(const std::string& members) {
  const auto found = std::ranges::find(members_, members);
  const std::ptrdiff_t number = found - members_.begin();
  if (found == members_.end()) members_.push_back(members);
  return fmt::format("onnxc::ConstantOf<Params{}>{{}}", number + 1);
}

std::string ConstantArgs::definitions() const {
  std::string text;
  for (std::size_t i = 0; i < members_.size(); ++i)
    text += fmt::format("struct Params{} {{\n  template <class T> static constexpr T value{{{}}};\n}};\n", i + 1, members_[i]);
  return text.empty() ? "" : "// Parameters of steps.\n" + text + "\n";
}

}  // namespace onnxc
