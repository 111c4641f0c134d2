// Random numbers without state: element i of a tensor is a function of the seed and i alone (Philox 4x32-10; Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", 2011). So every run gives the same numbers, on any machine and in
// any order.
#pragma once
#include <cmath>

#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// 64 random bits for each `index` under `seed`.
ONNXC_ANYWHERE inline uint64_t random_bits(uint64_t seed, uint64_t index) {
  uint32_t c[4] = {static_cast<uint32_t>(index >> 1), static_cast<uint32_t>(index >> 33), 0, 0};  // a block of 128 bits is two indices
  uint32_t k[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  const int half = static_cast<int>(index & 1) * 2;
  return uint64_t{c[half]} << 32 | c[half + 1];
}

/// A number in [0, 1), a multiple of 2^-digits.
ONNXC_ANYWHERE inline double random_unit(uint64_t seed, uint64_t index, int digits = 53) {
  return std::ldexp(static_cast<double>(random_bits(seed, index) >> (64 - digits)), -digits);
}

/// y[i] is uniform in [low, high), and low where that is empty. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE void random_uniform(Tensor<T> y, int64_t seed, double low, double high, Share share = {}) {
  constexpr int digits = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : 8;  // few enough that no u rounds up to 1
  const auto [first, last] = share.slice(y.count());
  for (int64_t i = first; i < last; ++i) {
    const double u = random_unit(static_cast<uint64_t>(seed), static_cast<uint64_t>(i), digits);
    y.data[i] = fn::cast<T>(low + (high - low) * u);
    if (!(fn::cast<double>(y.data[i]) < high)) y.data[i] = fn::cast<T>(low);
  }
}

/// y[i] is normal with this mean and standard deviation (Box and Muller's method, one number of each pair). A share
/// has some elements of y.
template <class T>
ONNXC_ANYWHERE void random_normal(Tensor<T> y, int64_t seed, double mean, double deviation, Share share = {}) {
  const auto [first, last] = share.slice(y.count());
  for (int64_t i = first; i < last; ++i) {
    const double u = 1 - random_unit(static_cast<uint64_t>(seed), static_cast<uint64_t>(2 * i));  // (0, 1]
    const double v = random_unit(static_cast<uint64_t>(seed), static_cast<uint64_t>(2 * i + 1));
    y.data[i] = fn::cast<T>(mean + deviation * (std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v)));
  }
}

/// y[b, s] is class c with probability exp(x[b, c]) / sum over c of exp(x[b, c]): x is [batches, classes], y [batches,
/// samples]. A row that defines no probabilities (of no classes, or with NaN or +infinity) gives
/// ONNXC_INDEX_OUT_OF_RANGE. A share has some of the rows.
template <class T, class X>
ONNXC_ANYWHERE Status multinomial(Tensor<T> y, Tensor<const X> x, int64_t seed, Share share = {}) {
  const int64_t classes = x.shape[1], samples = y.shape[1];
  const auto [first, last] = share.slice(y.shape[0]);
  for (int64_t b = first; b < last; ++b) {
    const X* const row = x.data + b * classes;
    double most = -HUGE_VAL, total = 0;
    for (int64_t c = 0; c < classes; ++c) most = std::fmax(most, fn::cast<double>(row[c]));
    for (int64_t c = 0; c < classes; ++c) total += std::exp(fn::cast<double>(row[c]) - most);
    if (!(total > 0) || !std::isfinite(total)) return {ONNXC_INDEX_OUT_OF_RANGE};
    for (int64_t s = 0; s < samples; ++s) {
      const double u = random_unit(static_cast<uint64_t>(seed), static_cast<uint64_t>(b * samples + s)) * total;
      double sum = 0;
      int64_t chosen = 0;
      for (int64_t c = 0; c < classes && !(u < sum); ++c) {
        const double p = std::exp(fn::cast<double>(row[c]) - most);
        if (p > 0) chosen = c;  // also the last one that can be, where the sum's rounding leaves u beyond it
        sum += p;
      }
      y.data[b * samples + s] = static_cast<T>(chosen);
    }
  }
  return {};
}

}  // namespace onnxc::scalar
