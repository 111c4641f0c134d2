// LSTM whose recurrence is a product of bytes, as com.microsoft's DynamicQuantizeLSTM defines it: recurrent.hpp with
//
//   h R = f32(the sum over k of (q[k] - zero_h) (r[k, j] - zeros[j])) * (scale_h * scales[j])
//
// q is h in unsigned bytes, whose range is taken anew in each step, over all sequences of the batch together:
//
//   low, high = min(h, 0), max(h, 0)     scale_h = (high - low) / 255, or 1 if that is 0     zero_h = round(-low / scale_h)
//   q = saturate(round(h / scale_h) + zero_h)     round: half to even
//
// A sequence that was over before the last step counts no more. r [directions, hidden, 4 * hidden] is of signed bytes; scales
// and zeros are [directions, 4 * hidden]. Sums are exact.
#pragma once
#include "recurrent.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// Matrices of bytes of all directions and what describes their columns. It moves from one to the next as a pointer does.
struct ByteMatrices {
  const int8_t* codes;
  const float* scales;
  const int32_t *zeros, *sums;
  const int32_t* lengths;
  int64_t depth;  ///< rows of a matrix as it is stored
  int64_t step = 0;

  ONNXC_ANYWHERE ByteMatrices operator+(int64_t elements) const {
    const int64_t columns = depth > 0 ? elements / depth : 0;
    return {codes + elements, scales + columns, zeros + columns, sums != nullptr ? sums + columns : nullptr, lengths, depth, step};
  }
  /// Whether h of sequence b counts for the range.
  ONNXC_ANYWHERE bool counts(int64_t b) const { return lengths == nullptr || step == 0 || lengths[b] >= step; }
};
ONNXC_ANYWHERE inline ByteMatrices at_step(ByteMatrices r, int64_t step) {
  r.step = step;
  return r;
}

/// How floats from `low` to `high`, which include 0, become bytes.
struct ByteRange {
  float scale, zero;

  ONNXC_ANYWHERE ByteRange(float low, float high) {
    scale = (high - low) / 255.0f;
    if (scale == 0.0f) scale = 1.0f;
    zero = bounded(std::nearbyint(0.0f - low / scale));
  }
  /// A whole number from 0 to 255; of NaN, 0.
  ONNXC_ANYWHERE float code(float x) const { return bounded(std::nearbyint(x / scale) + zero); }

 private:
  ONNXC_ANYWHERE static float bounded(float x) { return x > 0.0f ? x < 255.0f ? x : 255.0f : 0.0f; }
};

struct ScalarByteMath : ScalarMath {
  ONNXC_ANYWHERE static void product(float* out, const float* h, const ByteMatrices& r, int64_t rows, int64_t depth, int64_t columns) {
    float low = 0, high = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; r.counts(i) && k < depth; ++k) {
        const float x = h[i * depth + k];
        low = x < low ? x : low;
        high = x > high ? x : high;
      }
    }
    const ByteRange range(low, high);
    constexpr int64_t kBlock = 32;  // sums that stay in registers
    for (int64_t i = 0; i < rows; ++i, h += depth, out += columns) {
      for (int64_t first = 0; first < columns; first += kBlock) {
        const int64_t count = columns - first < kBlock ? columns - first : kBlock;
        int64_t sums[kBlock] = {};
        for (int64_t k = 0; k < depth; ++k) {
          const auto x = static_cast<int64_t>(range.code(h[k]) - range.zero);
          for (int64_t j = 0; j < count; ++j) sums[j] += x * (int64_t{r.codes[k * columns + first + j]} - r.zeros[first + j]);
        }
        for (int64_t j = 0; j < count; ++j) out[first + j] = static_cast<float>(sums[j]) * (range.scale * r.scales[first + j]);
      }
    }
  }
};

/// The same operands as `lstm`, and of `p` its scales and zeros.
ONNXC_ANYWHERE inline void lstm_bytes(float* y, float* h, float* c, const float* x, const int8_t* r, const float* peepholes,
                                      const float* initial_h, const float* initial_c, const int32_t* lengths, float* gates,
                                      RecurrentParams p) {
  lstm<float, ScalarByteMath>(y, h, c, x, ByteMatrices{r, p.scales, p.zeros, nullptr, lengths, p.hidden}, peepholes, initial_h, initial_c,
                              lengths, gates, p);
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
