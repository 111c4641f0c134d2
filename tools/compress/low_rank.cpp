#include "tools/compress/low_rank.h"

namespace onnxc {

Factors low_rank_factors(const std::vector<float>& weights, int64_t rows, int64_t rank, const Matrix& covariance,
                         const std::vector<double>& bias, const std::vector<double>& mean) {
  const auto m = static_cast<std::size_t>(rows), n = weights.size() / m, r = static_cast<std::size_t>(rank);
  Matrix vectors;
  eigenvalues(covariance, rows, &vectors);
  Factors factors{std::vector<float>(r * n), std::vector<float>(m * r), {}};
  std::vector<double> centre = mean;
  for (std::size_t k = 0; k < r; ++k) {
    const double* const u = vectors.data() + k * m;
    std::vector<double> row(n);
    double along = 0;
    for (std::size_t i = 0; i < m; ++i) {
      factors.outer[i * r + k] = static_cast<float>(u[i]);
      along += u[i] * (bias[i] - mean[i]);
      for (std::size_t c = 0; c < n; ++c) row[c] += u[i] * static_cast<double>(weights[i * n + c]);
    }
    for (std::size_t c = 0; c < n; ++c) factors.inner[k * n + c] = static_cast<float>(row[c]);
    for (std::size_t i = 0; i < m; ++i) centre[i] += u[i] * along;
  }
  factors.bias.assign(centre.begin(), centre.end());
  return factors;
}

}  // namespace onnxc
