// Softmax and its logarithm over the last axis, f32, in place if wished. NaN in a row, or a row of -infinity alone, makes
// the row NaN. Results below the smallest normal number are 0.
//
//   onnxc::gpu::softmax_in_warp<8, false>(gpu, scores, y, {.rows = 1536, .n = 128, .x_row = 128, .y_row = 128});
//   onnxc::gpu::softmax_in_block<false>(gpu, ...);     rows of any length
#pragma once
#include <limits>

#include "../fn.hpp"
#include "combine.hpp"
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// x_row, y_row: elements from one row to the next.
struct SoftmaxParams {
  int64_t rows, n;
  int64_t x_row, y_row;
};

namespace detail {

/// A softmax of v, or its logarithm, where `top` is the row's largest value and `sum` that of exp(v - top).
template <bool kLog>
ONNXC_DEVICE float softmax_of(float v, float top, float sum) {
  if constexpr (kLog) return v - top - fn::log(sum);
  const float probability = fn::exp(v - top) / sum;
  return probability < std::numeric_limits<float>::min() ? 0.0f : probability;
}

inline constexpr float kLowest = -std::numeric_limits<float>::infinity();

}  // namespace detail

/// Rows of at most 32 * kItems elements: a warp each, with the row in its registers.
template <int kItems, bool kLog>
struct SoftmaxInWarp {
  static constexpr int kThreads = 128, kWarps = kThreads / 32;
  struct Shared {};
  const float* x;
  float* y;
  SoftmaxParams p;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t step = int64_t{blocks().x} * kWarps;
    for (int64_t row = int64_t{block().x} * kWarps + warp(); row < p.rows; row += step) {
      float v[kItems], top = detail::kLowest, sum = 0;
      ONNXC_UNROLL_DEVICE
      for (int k = 0; k < kItems; ++k) {
        const int i = lane() + k * 32;
        v[k] = i < p.n ? x[row * p.x_row + i] : detail::kLowest;
        top = detail::Largest{}(top, v[k]);
      }
      top = reduce_warp(top, detail::Largest{});
      ONNXC_UNROLL_DEVICE
      for (int k = 0; k < kItems; ++k) sum += lane() + k * 32 < p.n ? fn::exp(v[k] - top) : 0.0f;
      sum = reduce_warp(sum, detail::Added{});
      ONNXC_UNROLL_DEVICE
      for (int k = 0; k < kItems; ++k) {
        if (const int i = lane() + k * 32; i < p.n) y[row * p.y_row + i] = detail::softmax_of<kLog>(v[k], top, sum);
      }
    }
  }
};

/// Rows of any length: a block each, which reads the row three times.
template <bool kLog>
struct SoftmaxInBlock {
  static constexpr int kThreads = 256;
  struct Shared {
    float partial[kThreads / 32];
  };
  const float* x;
  float* y;
  SoftmaxParams p;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    for (int64_t row = block().x; row < p.rows; row += blocks().x) {
      const float* const from = x + row * p.x_row;
      float* const to = y + row * p.y_row;
      float top = detail::kLowest, sum = 0;
      for (int64_t i = thread(); i < p.n; i += kThreads) top = detail::Largest{}(top, from[i]);
      top = reduce_block<kThreads>(top, detail::kLowest, shared.partial, detail::Largest{});
      for (int64_t i = thread(); i < p.n; i += kThreads) sum += fn::exp(from[i] - top);
      sum = reduce_block<kThreads>(sum, 0.0f, shared.partial, detail::Added{});
      for (int64_t i = thread(); i < p.n; i += kThreads) to[i] = detail::softmax_of<kLog>(from[i], top, sum);
    }
  }
};

template <int kItems, bool kLog>
static void softmax_in_warp(Queue& gpu, const float* x, float* y, SoftmaxParams p) noexcept {
  using Kernel = SoftmaxInWarp<kItems, kLog>;
  if (p.rows <= 0 || p.n <= 0) return;
  launch(gpu, Kernel{x, y, p}, grid_for(p.rows, Kernel::kWarps));
}
template <bool kLog>
static void softmax_in_block(Queue& gpu, const float* x, float* y, SoftmaxParams p) noexcept {
  if (p.rows <= 0 || p.n <= 0) return;
  launch(gpu, SoftmaxInBlock<kLog>{x, y, p}, grid_for(p.rows, 1));
}

}  // namespace onnxc::gpu
