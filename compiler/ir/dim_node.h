// What the parts of Dim share: dim.cpp creates expressions and simplifies them, dim_bounds.cpp computes their bounds,
// and dim_text.cpp writes and parses them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/dim.h"
#include "compiler/support/checked.h"

namespace onnxc {

struct Dim::Node {
  Kind kind;
  int64_t value;     // Constant; Product: its coefficient
  std::string name;  // Symbol
  std::vector<Dim> args;
  mutable int64_t min, max;
  std::string text;
  // The generation of symbols' bounds from which min and max were computed.
  mutable uint64_t bounded_at = 0;
  mutable bool run_time = false;
  mutable std::optional<Dim> limit{};
};

/// Closed bounds; INT64_MIN and INT64_MAX stand for the infinities.
struct DimBounds {
  int64_t min, max;
};
DimBounds bounds_of(Dim::Kind kind, int64_t value, const std::vector<Dim>& args);
/// Call it when bounds of a symbol are stated anew: bounds of expressions are then computed again on demand.
void forget_bounds();

/// While it lives, other graphs may state bounds and limits of symbols that have the same names, those of runs too. At its end what was
/// stated before holds again.
class KeptBounds {
 public:
  KeptBounds();
  ~KeptBounds();
  KeptBounds(const KeptBounds&) = delete;
  KeptBounds& operator=(const KeptBounds&) = delete;

 private:
  struct Stated {
    const Dim::Node* node;
    int64_t min, max;
    std::optional<Dim> limit;
  };
  std::vector<Stated> stated_;
};

std::string text_of(Dim::Kind kind, int64_t value, const std::string& name, const std::vector<Dim>& args);

inline int64_t floor_of(int64_t a, int64_t b) {
  if (b == -1) return checked_mul(a, b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t ceil_of(int64_t a, int64_t b) {
  if (b == -1) return checked_mul(a, b);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

}  // namespace onnxc
