// GPTQ in closed form. The error of a row of weights is d^T H d, where d are the differences and H the inputs' second moments. Columns are rounded from the first
// to the last, and what rounding column i misses is made good by those that are still free:
//
//   e = (w_i - rounded(w_i)) / R_ii        w_j -= e R_ij  for j > i        with R upper triangular, R^T R = H^-1
//
// See root_of_inverse; rows cost n^2/2 each.
#include "tools/quantize/rounding.h"

#include <algorithm>
#include <cmath>

#include "tools/model/symmetric.h"

namespace onnxc {
namespace {

constexpr double kRoundingDamping = 0.01;  ///< of the mean of H's diagonal, added to it: few samples give an H without inverse

/// The R of above, or nothing where H is too far from positive definite.
std::optional<std::vector<double>> error_feedback(std::vector<double> h, int64_t n) {
  add_to_diagonal(h, n, kRoundingDamping * mean_of_diagonal(h, n));
  return root_of_inverse(std::move(h), n);
}

double squared_error(const float* values, int64_t n, double scale, int most) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(values[i]),
                 code = std::clamp(std::nearbyint(x / scale), -static_cast<double>(most), static_cast<double>(most));
    sum += (x - code * scale) * (x - code * scale);
  }
  return sum;
}

/// The scale of some weights. With 8 bits the greatest one decides; with few bits clipping it may be better for the rest.
float choose_scale(const float* values, int64_t n, int most, bool may_clip) {
  double greatest = 0;
  for (int64_t i = 0; i < n; ++i) greatest = std::max(greatest, std::abs(static_cast<double>(values[i])));
  if (greatest == 0) return 1;  // any: all codes are 0
  double best = greatest / most, least = HUGE_VAL;
  constexpr int kTries = 20;
  for (int i = 0; may_clip && i < kTries; ++i) {
    const double scale = greatest / most * (1 - 0.02 * i), error = squared_error(values, n, scale, most);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return static_cast<float>(best);
}

int8_t code_of(double value, float scale, int most) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyint(value / static_cast<double>(scale)), -static_cast<double>(most), static_cast<double>(most)));
}

/// Rounds `n` columns from `first` of a row, whose errors `feedback` spreads.
void round_row(RoundedWeights& rounded, int64_t r, int64_t first, int64_t n, const float* weights, const double* feedback, int most) {
  std::vector<double> left(weights, weights + n);
  for (int64_t i = 0; i < n; ++i) {
    const std::size_t scale = rounded.scale_index(r, first + i);
    const int8_t code = code_of(left[static_cast<std::size_t>(i)], rounded.scales[scale], most);
    rounded.codes[static_cast<std::size_t>(r * rounded.columns + first + i)] = code;
    if (feedback == nullptr) continue;
    const double* const row = feedback + i * n;
    const double error =
        (left[static_cast<std::size_t>(i)] - static_cast<double>(code) * static_cast<double>(rounded.scales[scale])) / row[i];
    for (int64_t j = i + 1; j < n; ++j) left[static_cast<std::size_t>(j)] -= error * row[j];
  }
}

}  // namespace

std::optional<RoundedWeights> round_weights(const WeightMatrix& weights, const RoundingOptions& options, const Moments* moments) {
  const int most = (1 << (options.bits - 1)) - 1;
  RoundedWeights rounded{weights.rows, weights.columns, options.block, options.per_row, {}, {}};
  rounded.codes.resize(weights.values.size());
  const bool may_clip = options.bits < 8;
  if (!options.per_row)
    rounded.scales.push_back(choose_scale(weights.values.data(), static_cast<int64_t>(weights.values.size()), most, may_clip));
  for (int64_t r = 0; options.per_row && r < weights.rows; ++r) {
    const int64_t step = options.block == 0 ? std::max<int64_t>(1, weights.columns) : options.block;
    for (int64_t c = 0; c < weights.columns; c += step)
      rounded.scales.push_back(choose_scale(weights.row(r) + c, std::min(step, weights.columns - c), most, may_clip));
  }
  if (!std::ranges::all_of(rounded.scales, [](float s) { return s > 1e-30f && s < 1e30f; })) return std::nullopt;

  const int64_t block = moments == nullptr ? std::max<int64_t>(1, weights.columns) : moments->columns_of_block();
  for (int64_t first = 0; first < weights.columns; first += block) {
    const int64_t n = std::min(block, weights.columns - first);
    std::optional<std::vector<double>> feedback;
    int64_t feedback_group = -1;
    for (int64_t r = 0; r < weights.rows; ++r) {
      if (const int64_t group = weights.group_of(r); moments != nullptr && group != feedback_group) {
        feedback = error_feedback(moments->block(group, first / block), n);
        feedback_group = group;
      }
      round_row(rounded, r, first, n, weights.row(r) + first, feedback ? feedback->data() : nullptr, most);
    }
  }
  return rounded;
}

}  // namespace onnxc
