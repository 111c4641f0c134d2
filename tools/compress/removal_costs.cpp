#include "tools/compress/removal_costs.h"

#include <algorithm>
#include <set>

namespace onnxc {
namespace {

/// The inverse of a positive definite matrix; zeros where rounding made it something else.
Matrix inverse(Matrix h, int64_t n) {
  const auto root = root_of_inverse(std::move(h), n);
  return root ? squared(*root, n) : Matrix(static_cast<std::size_t>(n * n));
}

}  // namespace

void RemovalCosts::add(const Matrix& covariance, Matrix weights_squared, const std::vector<int>& sets, double signal) {
  Part part;
  part.n = static_cast<int64_t>(sets.size());
  part.inverse = inverse(covariance, part.n);
  part.weights = std::move(weights_squared);
  part.signal = signal;
  for (std::size_t c = 0; c < sets.size(); ++c) part.columns[sets[c]].push_back(static_cast<int64_t>(c));
  for (const auto& [set, columns] : part.columns) parts_of_[static_cast<std::size_t>(set)].push_back(parts_.size());
  parts_.push_back(std::move(part));
}

Matrix RemovalCosts::pick(const Matrix& matrix, int64_t n, const std::vector<int64_t>& columns) {
  Matrix picked;
  for (const int64_t i : columns) {
    for (const int64_t j : columns) picked.push_back(matrix[static_cast<std::size_t>(i * n + j)]);
  }
  return picked;
}

Matrix RemovalCosts::conditional(const Part& part, const std::vector<int64_t>& columns) {
  return inverse(pick(part.inverse, part.n, columns), static_cast<int64_t>(columns.size()));
}

double RemovalCosts::cost(int set) const {
  double sum = 0;
  for (const std::size_t p : parts_of_[static_cast<std::size_t>(set)]) {
    const Part& part = parts_[p];
    const std::vector<int64_t>& columns = part.columns.at(set);
    const Matrix covariance = conditional(part, columns), weights = pick(part.weights, part.n, columns);
    double error = 0;
    for (std::size_t i = 0; i < covariance.size(); ++i) error += covariance[i] * weights[i];
    sum += std::max(0.0, error) / part.signal;
  }
  return sum;
}

void RemovalCosts::remove(int set) {
  for (const std::size_t p : parts_of_[static_cast<std::size_t>(set)]) {
    Part& part = parts_[p];
    const std::vector<int64_t> columns = part.columns.at(set);
    const auto n = static_cast<std::size_t>(part.n), t = columns.size();
    const Matrix covariance = conditional(part, columns);
    Matrix spread(t * n), old_inverse(t * n), old_weights(t * n);  // C G_R:, and rows R of G and of M
    for (std::size_t i = 0; i < t; ++i) {
      const auto row = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(columns[i]) * n), to = static_cast<std::ptrdiff_t>(i * n);
      std::copy_n(part.inverse.begin() + row, n, old_inverse.begin() + to);
      std::copy_n(part.weights.begin() + row, n, old_weights.begin() + to);
    }
    for (std::size_t i = 0; i < t; ++i) {
      for (std::size_t k = 0; k < t; ++k) {
        const double factor = covariance[i * t + k];
        for (std::size_t j = 0; j < n; ++j) spread[i * n + j] += factor * old_inverse[k * n + j];
      }
    }
    // M <- M - K^T M_R: - M_:R K + K^T M_RR K, as M - K^T (M_R: - M_RR K) - M_:R K.
    Matrix middle = old_weights;
    for (std::size_t i = 0; i < t; ++i) {
      for (std::size_t k = 0; k < t; ++k) {
        const double factor = old_weights[i * n + static_cast<std::size_t>(columns[k])];
        for (std::size_t j = 0; j < n; ++j) middle[i * n + j] -= factor * spread[k * n + j];
      }
    }
    for (std::size_t row = 0; row < n; ++row) {
      double *const g = part.inverse.data() + row * n, *const m = part.weights.data() + row * n;
      for (std::size_t i = 0; i < t; ++i) {
        const double inverse_factor = old_inverse[i * n + row], spread_factor = spread[i * n + row],
                     weights_factor = old_weights[i * n + row];
        const double *const k = spread.data() + i * n, *const d = middle.data() + i * n;
        for (std::size_t j = 0; j < n; ++j) {
          g[j] -= inverse_factor * k[j];
          m[j] -= spread_factor * d[j] + weights_factor * k[j];
        }
      }
    }
    part.columns.erase(set);
  }
  parts_of_[static_cast<std::size_t>(set)].clear();
}

std::vector<int> RemovalCosts::beside(int set) const {
  std::set<int> found;
  for (const std::size_t p : parts_of_[static_cast<std::size_t>(set)]) {
    for (const auto& [other, columns] : parts_[p].columns) found.insert(other);
  }
  found.erase(set);
  return {found.begin(), found.end()};
}

}  // namespace onnxc
