// Layer and root-mean-square normalisation over the last axis, f32, in place if wished.
//
//   onnxc::gpu::norm<true>(gpu, x, y, {.rows = 128, .n = 768, .x_row = 768, .y_row = 768, .epsilon = 1e-5f, .scale = w0, .bias = w1});
//
// y[r][i] = (x[r][i] - mean) / sqrt(variance + epsilon) * scale[i] + bias[i]; not centred, the mean counts as 0. A row has
// a block, which reads it three times: mean and variance are sums of their own, as the variance is one of differences.
#pragma once
#include <cmath>

#include "combine.hpp"
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// x_row, y_row: elements from one row to the next. scale, bias: n values; mean, inverse_deviation: one for each row; each
/// may be null.
struct NormParams {
  int64_t rows, n;
  int64_t x_row, y_row;
  float epsilon = 1e-5f;
  const float* scale = nullptr;
  const float* bias = nullptr;
  float* mean = nullptr;
  float* inverse_deviation = nullptr;
};

template <bool kCentred>
struct Norm {
  static constexpr int kThreads = 256;
  struct Shared {
    float partial[kThreads / 32];
  };
  const float* x;
  float* y;
  NormParams p;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    for (int64_t row = block().x; row < p.rows; row += blocks().x) {
      const float* const from = x + row * p.x_row;
      float* const to = y + row * p.y_row;
      const float count = static_cast<float>(p.n);
      float mean = 0, squares = 0;
      if constexpr (kCentred) {
        for (int64_t i = thread(); i < p.n; i += kThreads) mean += from[i];
        mean = reduce_block<kThreads>(mean, 0.0f, shared.partial, detail::Added{}) / count;
      }
      for (int64_t i = thread(); i < p.n; i += kThreads) {
        const float d = from[i] - mean;
        squares += d * d;
      }
      squares = reduce_block<kThreads>(squares, 0.0f, shared.partial, detail::Added{});
      const float inverse = 1 / sqrtf(squares / count + p.epsilon);
      for (int64_t i = thread(); i < p.n; i += kThreads) {
        const float d = (from[i] - mean) * inverse * (p.scale != nullptr ? p.scale[i] : 1.0f);
        to[i] = d + (p.bias != nullptr ? p.bias[i] : 0.0f);
      }
      if (thread() != 0) continue;
      if (p.mean != nullptr) p.mean[row] = mean;
      if (p.inverse_deviation != nullptr) p.inverse_deviation[row] = inverse;
    }
  }
};

template <bool kCentred>
static void norm(Queue& gpu, const float* x, float* y, NormParams p) noexcept {
  if (p.rows <= 0) return;
  launch(gpu, Norm<kCentred>{x, y, p}, grid_for(p.rows, 1));
}

}  // namespace onnxc::gpu
