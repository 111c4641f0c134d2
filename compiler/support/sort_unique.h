#pragma once

#include <algorithm>

namespace onnxc {

/// Sorts a vector and keeps one of each value. (std::ranges::unique does not compile with clang 14.)
template <class Vector>
void sort_unique(Vector& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace onnxc
