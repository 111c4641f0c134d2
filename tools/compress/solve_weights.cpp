#include "tools/compress/solve_weights.h"

#include <algorithm>
#include <cmath>

#include "tools/model/symmetric.h"

namespace onnxc {
namespace {

constexpr double kNothing = 1e-5;  ///< of the means that a shift is the difference of: a layer without bias gets none for rounding

/// Z, a row for each column that goes.
Matrix estimate(const Matrix& h, int64_t n, const std::vector<int64_t>& left, const std::vector<int64_t>& gone) {
  const auto at = [n](int64_t i, int64_t j) { return static_cast<std::size_t>(i * n + j); };
  const auto s = static_cast<int64_t>(left.size());
  Matrix inner;
  for (const int64_t i : left) {
    for (const int64_t j : left) inner.push_back(h[at(i, j)]);
  }
  const auto root = root_of_inverse(std::move(inner), s);
  Matrix z(gone.size() * left.size());
  if (!root) return z;
  const Matrix inverse = squared(*root, s);
  for (std::size_t i = 0; i < gone.size(); ++i) {
    double* const to = z.data() + static_cast<int64_t>(i) * s;
    for (int64_t k = 0; k < s; ++k) {
      const double factor = h[at(gone[i], left[static_cast<std::size_t>(k)])];
      const double* const row = inverse.data() + k * s;
      for (int64_t j = 0; j < s; ++j) to[j] += factor * row[j];
    }
  }
  return z;
}

}  // namespace

std::vector<float> solve_weights(WeightMatrix& weights, const Moments& moments, const std::vector<bool>& is_removed_column, bool has_bias) {
  std::vector<double> shift(static_cast<std::size_t>(weights.rows)), size(shift.size());
  const int64_t rows = weights.rows / weights.groups;
  for (int64_t g = 0; g < weights.groups; ++g) {
    for (int64_t b = 0; b < moments.blocks(); ++b) {
      const int64_t first = b * moments.columns_of_block(), n = moments.block_columns(b);
      std::vector<int64_t> left, gone;
      for (int64_t c = 0; c < n; ++c)
        (is_removed_column[static_cast<std::size_t>(g * weights.columns + first + c)] ? gone : left).push_back(c);
      if (gone.empty()) continue;
      const Matrix z = estimate(input_covariance(moments, g, b, has_bias), n, left, gone);
      for (int64_t r = g * rows; r < (g + 1) * rows; ++r) {
        float* const w = weights.row(r) + first;
        std::vector<double> added(left.size());
        double mean = 0;
        for (std::size_t i = 0; i < gone.size(); ++i) {
          const double factor = static_cast<double>(w[gone[i]]);
          mean += factor * moments.mean(g, first + gone[i]);
          size[static_cast<std::size_t>(r)] += std::abs(factor * moments.mean(g, first + gone[i]));
          for (std::size_t j = 0; j < left.size(); ++j) added[j] += factor * z[i * left.size() + j];
          w[gone[i]] = 0;
        }
        for (std::size_t j = 0; j < left.size(); ++j) {
          mean -= added[j] * moments.mean(g, first + left[j]);
          w[left[j]] = static_cast<float>(static_cast<double>(w[left[j]]) + added[j]);
        }
        shift[static_cast<std::size_t>(r)] += mean;
      }
    }
  }
  for (std::size_t r = 0; r < shift.size(); ++r) {
    if (std::abs(shift[r]) < kNothing * size[r]) shift[r] = 0;
  }
  return {shift.begin(), shift.end()};
}

}  // namespace onnxc
