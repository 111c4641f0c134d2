// Gather of rows from a constant table of floats that is stored narrower: rows are widened as they are picked.
//
//   y[i, j] = table[indices[i], j]      i < count, j < columns
//
//   gather_rows(y, table, indices, {.rows = 30522, .columns = 768, .count = 128});
//
// table [rows][columns] of float16 or bfloat16, or of int8_t with a factor for each row (GatherRowsParams::scales).
// Each element is read as the float that it stands for (stored.hpp). No alignment is needed; y overlaps nothing. A
// negative index counts from the end; one outside [-rows, rows) gives ONNXC_INDEX_OUT_OF_RANGE.
#pragma once
#include "passed.hpp"
#include "stored.hpp"

namespace onnxc::inline ONNXC_ISA {

struct GatherRowsParams {
  int64_t rows = 0, columns = 0, count = 0;
  const float* scales = nullptr;  // of the rows, where the table is of int8_t
};

template <class T, class I>
Status gather_rows(float* y, const T* table, const I* indices, Passed<GatherRowsParams> p) {
  for (int64_t i = 0; i < p.count; ++i, y += p.columns) {
    const int64_t given = static_cast<int64_t>(indices[i]), row = given < 0 ? given + p.rows : given;
    if (row < 0 || row >= p.rows) return {ONNXC_INDEX_OUT_OF_RANGE};
    const T* const from = table + row * p.columns;
    int64_t j = 0;
    if constexpr (std::is_same_v<T, int8_t>) {
      const Vec scale = Vec::all(p.scales[row]);
      for (; j + Vec::width <= p.columns; j += Vec::width) (widen(from + j) * scale).store(y + j);
      for (; j < p.columns; ++j) y[j] = static_cast<float>(from[j]) * p.scales[row];
    } else {
      for (; j + Vec::width <= p.columns; j += Vec::width) widen(from + j).store(y + j);
      for (; j < p.columns; ++j) y[j] = static_cast<float>(from[j]);
    }
  }
  return {};
}

}  // namespace onnxc
