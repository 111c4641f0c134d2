#include "compiler/ir/requirement.h"

#include <fmt/format.h>

namespace onnxc {

std::string text(const Requirement& r) {
  switch (r.kind) {
    case Requirement::Kind::Equal: return fmt::format("{} equals {}", r.a.text(), r.b.text());
    case Requirement::Kind::OneOrEqual: return fmt::format("{} is 1 or equals {}", r.a.text(), r.b.text());
    case Requirement::Kind::Broadcast: return fmt::format("{} equals {}, or one of them is 1", r.a.text(), r.b.text());
    case Requirement::Kind::Differ: return fmt::format("{} is not {}", r.a.text(), r.b.text());
    case Requirement::Kind::NotNegative: return fmt::format("{} is not negative", r.a.text());
  }
  return "";
}

}  // namespace onnxc
