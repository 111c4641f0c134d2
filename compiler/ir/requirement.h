// Requirement: what a model requires of extents that only a run knows. The emitted unit checks it, and names it if it
// does not hold.
#pragma once
#include <string>

#include "compiler/ir/dim.h"

namespace onnxc {

struct Requirement {
  enum class Kind {
    Equal,       ///< a == b
    OneOrEqual,  ///< a is 1 or b: it is broadcast to b
    Broadcast,   ///< a == b, or either is 1
    Differ,      ///< a != b
    NotNegative  ///< a >= 0; b is not used
  };
  Dim a, b;
  Kind kind = Kind::Equal;
  std::string who{};  ///< who requires it: `MatMul 'scores'`

  friend bool operator==(const Requirement& x, const Requirement& y) { return x.a == y.a && x.b == y.b && x.kind == y.kind; }
};

/// `mask_batch is 1 or batch`
std::string text(const Requirement& requirement);

}  // namespace onnxc
