// What all packing of weights is made of.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace onnxc::pack {

inline float at(std::span<const float> values, int64_t i) { return values[static_cast<std::size_t>(i)]; }

/// Appends the panels of one matrix [k, n] whose element (row, column) is element(row, column); zeros where the last panel has no column.
template <class Element>
void append_panels(std::vector<float>& out, int64_t k, int64_t n, int64_t nr, Element element) {
  for (int64_t first = 0; first < n; first += nr) {
    for (int64_t row = 0; row < k; ++row) {
      for (int64_t column = first; column < first + nr; ++column) out.push_back(column < n ? element(row, column) : 0.0f);
    }
  }
}

}  // namespace onnxc::pack
