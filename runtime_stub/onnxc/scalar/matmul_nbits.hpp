// Products with weights of 8, 4 or 2 bits in blocks, which stay packed in memory: com.microsoft's MatMulNBits.
#pragma once
#include <cstddef>

#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct MatMulNBitsParams {
  int64_t m, n, k, block;
};

namespace detail {

template <int Bits>
ONNXC_BOTH int packed_code(const uint8_t* x, int64_t i) {
  constexpr int kPerByte = 8 / Bits;
  return (x[i / kPerByte] >> (i % kPerByte * Bits)) & ((1 << Bits) - 1);
}

/// The zero point of block `number` of a column: packed codes, values of a float type, or the middle of the range.
template <int Bits>
ONNXC_BOTH float zero_of(const uint8_t* zeros, int64_t column, int64_t number, int64_t blocks) {
  return static_cast<float>(packed_code<Bits>(zeros + column * ((blocks * Bits + 7) / 8), number));
}
template <int Bits, class Z>
ONNXC_BOTH float zero_of(const Z* zeros, int64_t column, int64_t number, int64_t blocks) {
  return fn::cast<float>(zeros[column * blocks + number]);
}
template <int Bits>
ONNXC_BOTH float zero_of(std::nullptr_t, int64_t, int64_t, int64_t) {
  return static_cast<float>(1 << (Bits - 1));
}

}  // namespace detail

/// y[i, j] = bias[j] + sum over s of a[i, s] * (w[j, s] - zero[j, s / block]) * scale[j, s / block]. a [m, k], scales
/// [n, blocks] with blocks = ceil(k / block); w [n, blocks, block] of Bits bits, the first of a byte in its lowest
/// bits; zeros packed likewise [n, ceil(blocks * Bits / 8)], or [n, blocks] of a float type, or nullptr; bias [n] or
/// null. Sums in f32. block is a multiple of 16.
template <int Bits, class T, class Zeros>
ONNXC_ANYWHERE void matmul_nbits(Share share, T* y, const T* a, const uint8_t* w, const T* scales, Zeros zeros, const T* bias,
                                 MatMulNBitsParams p) {
  constexpr int64_t kRows = 4, kLanes = 16;
  const int64_t blocks = (p.k + p.block - 1) / p.block, blob = p.block * Bits / 8;
  const auto [first, last] = share.slice(p.n);
  for (int64_t j = first; j < last; ++j) {
    for (int64_t row = 0; row < p.m; row += kRows) {
      const int64_t rows = p.m - row < kRows ? p.m - row : kRows;
      float sum[kRows][kLanes] = {};
      for (int64_t number = 0; number < blocks; ++number) {
        const uint8_t* const codes = w + (j * blocks + number) * blob;
        const float scale = fn::cast<float>(scales[j * blocks + number]), zero = detail::zero_of<Bits>(zeros, j, number, blocks);
        const int64_t start = number * p.block, length = p.k - start < p.block ? p.k - start : p.block;
        for (int64_t s = 0; s < length; s += kLanes) {
          float weights[kLanes];
          for (int64_t lane = 0; lane < kLanes; ++lane)
            weights[lane] = (static_cast<float>(detail::packed_code<Bits>(codes, s + lane)) - zero) * scale;
          const int64_t lanes = length - s < kLanes ? length - s : kLanes;
          for (int64_t r = 0; r < rows; ++r) {
            const T* const from = a + (row + r) * p.k + start + s;
            if (lanes == kLanes) {
              for (int64_t lane = 0; lane < kLanes; ++lane) sum[r][lane] += weights[lane] * fn::cast<float>(from[lane]);
            } else {
              for (int64_t lane = 0; lane < lanes; ++lane) sum[r][lane] += weights[lane] * fn::cast<float>(from[lane]);
            }
          }
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        float total = bias != nullptr ? fn::cast<float>(bias[j]) : 0.0f;
        for (int64_t lane = 0; lane < kLanes; ++lane) total += sum[r][lane];
        y[(row + r) * p.n + j] = fn::cast<T>(total);
      }
    }
  }
}

}  // namespace onnxc::scalar
