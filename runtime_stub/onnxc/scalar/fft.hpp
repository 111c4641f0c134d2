// The discrete Fourier transform of any length, in double.
//
// The length is split into its prime factors, and a Stockham step is taken for each: it reads one buffer and writes the other, and leaves the
// result in order. A step of factor p costs n * p multiply-adds, so the whole n * (sum of the prime factors); a prime length is the direct sum.
// The roots of unity come from a table that is exact to a rounding, which keeps the error at a few roundings for each factor.
#pragma once
#include <cmath>

#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct Complex {
  double re = 0, im = 0;
};

/// exp(-2 pi i k / n), 0 <= k < n: the angle is brought to the first octant, where sine and cosine lose nothing.
inline Complex root_of_unity(int64_t k, int64_t n) {
  const int64_t quadrant = 4 * k / n, rest = 4 * k - quadrant * n;  // the angle is (quadrant + rest / n) * pi / 2
  const bool beyond = 2 * rest > n;
  const double angle = 1.5707963267948966 * (static_cast<double>(beyond ? n - rest : rest) / static_cast<double>(n));
  const double c = beyond ? std::sin(angle) : std::cos(angle), s = beyond ? std::cos(angle) : std::sin(angle);
  switch (quadrant) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

/// A transform of length n in memory of the caller: 6 n doubles. Write the signal to `x`, transform, read it there again.
struct Fft {
  int64_t n = 0;
  Complex *roots = nullptr, *x = nullptr, *other = nullptr;

  Fft(double* memory, int64_t length) : n(length), roots(reinterpret_cast<Complex*>(memory)), x(roots + length), other(x + length) {
    for (int64_t k = 0; k < n; ++k) roots[k] = root_of_unity(k, n);
  }

  /// x[k] = sum of x[i] exp(-+2 pi i k / n), the sign being + for the inverse, which is not scaled.
  void transform(bool inverse) {
    const double sign = inverse ? -1 : 1;
    int64_t rest = n, done = 1;  // rest * done == n
    for (int64_t p = 2; rest > 1;) {
      if (p * p > rest) p = rest;
      if (rest % p != 0) {
        ++p;
        continue;
      }
      const int64_t m = rest / p;
      for (int64_t k = 0; k < m; ++k) {
        for (int64_t j = 0; j < p; ++j) {
          for (int64_t q = 0; q < done; ++q) {
            Complex sum;
            // The root of x[q + done (k + m r)] is that of j (k done + r n / p).
            int64_t at = j * k * done % n;
            const int64_t step = n / p * j % n;
            for (int64_t r = 0; r < p; ++r) {
              const Complex v = x[q + done * (k + m * r)], w = {roots[at].re, sign * roots[at].im};
              sum.re += v.re * w.re - v.im * w.im;
              sum.im += v.re * w.im + v.im * w.re;
              at += step;
              if (at >= n) at -= n;
            }
            other[q + done * (p * k + j)] = sum;
          }
        }
      }
      Complex* const swap = x;
      x = other;
      other = swap;
      rest = m;
      done *= p;
    }
  }
};

}  // namespace onnxc::scalar
