// Least squares for a layer that loses some of its inputs.
#pragma once
#include <vector>

#include "tools/compress/network.h"

namespace onnxc {

/// With S the columns that are left, R those that go and H the inputs' covariance:
///
///   W_S <- W_S + W_R Z,    W_R <- 0,    Z = H_RS H_SS^-1: the least-squares estimate of x_R from x_S
///
/// Returns what is to be added to the bias, by row: the means of what the new weights no longer see.
std::vector<float> solve_weights(WeightMatrix& weights, const Moments& moments, const std::vector<bool>& is_removed_column, bool has_bias);

}  // namespace onnxc
