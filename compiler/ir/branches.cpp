#include "compiler/ir/branches.h"

#include <fmt/format.h>

namespace onnxc {

std::string Branches::summary() const {
  return fmt::format("{} tree{}, {} test{}", roots.size(), roots.size() == 1 ? "" : "s", tests.size(), tests.size() == 1 ? "" : "s");
}

}  // namespace onnxc
