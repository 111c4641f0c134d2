// Weights of a low rank.
#pragma once
#include <cstdint>
#include <vector>

#include "tools/model/symmetric.h"

namespace onnxc {

struct Factors {
  std::vector<float> inner, outer;  ///< rank x columns, and rows x rank: outer inner stands for the weights
  std::vector<float> bias;          ///< instead of the old one
};

/// The best factors for outputs of that covariance: y = mean + U U^T (W x + bias - mean), where U are the covariance's first eigenvectors. No other ones of the same
/// rank make a smaller mean squared error. `weights`: rows x columns. `bias` and `mean`: of the outputs; zeros where the layer has no bias, and the covariance is E[y y^T].
Factors low_rank_factors(const std::vector<float>& weights, int64_t rows, int64_t rank, const Matrix& covariance,
                         const std::vector<double>& bias, const std::vector<double>& mean);

}  // namespace onnxc
