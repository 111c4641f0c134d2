// Branches: binary trees of tests on the elements of a row, which a unit writes as nested conditions.
//
//   tree 0: x2 > 2.45 ? x3 > 1.75 ? 2 : 1 : 0        the leaf in which a row ends
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/element_type.h"

namespace onnxc {

struct Branches {
  /// Whether an element is greater than the number, or, for a set, none of the numbers.
  struct Test {
    int32_t feature = 0;  ///< the element of the row
    bool is_set = false;
    bool nan_right = false;           ///< the answer for NaN
    std::vector<uint64_t> numbers{};  ///< bits of `type`
    int32_t left = 0, right = 0;      ///< where the answer is no, and yes: a test, or leaf i as -1 - i
    friend bool operator==(const Test&, const Test&) = default;
  };
  ElementType type = ElementType::F32;  ///< in which elements are compared
  std::vector<Test> tests;              ///< children after their parents
  std::vector<int32_t> roots;           ///< the test with which each tree begins
  friend bool operator==(const Branches&, const Branches&) = default;

  /// `2 trees, 5 tests`
  std::string summary() const;
};

}  // namespace onnxc
