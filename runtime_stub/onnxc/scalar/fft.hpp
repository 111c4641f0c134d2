// The discrete Fourier transform of any length, in single or double precision.
//
// The length is split into its prime factors, and a Stockham step is taken for each: it reads one buffer and writes the
// other, and leaves the result in order. A step of factor p costs about n * p multiply-adds, so the whole costs
// n * (sum of the prime factors). A prime length is the direct sum, over pairs of elements that share their roots.
// Lengths with a large prime factor go by Bluestein's transform, below.
//
// The roots of unity come from a table that is exact to a rounding, which keeps the error at a few roundings for each
// factor. On CPUs no product is contracted into a multiply-add, so the result is the same on any of them. Where the
// steps are the same, it is that of pocketfft (and so of NumPy), bit for bit.
#pragma once
#include <cmath>

#include "../base.hpp"

#if defined(__clang__)
#define ONNXC_NO_CONTRACTION_FUNCTION
#define ONNXC_NO_CONTRACTION _Pragma("clang fp contract(off)")
#elif defined(__GNUC__)
#define ONNXC_NO_CONTRACTION_FUNCTION __attribute__((optimize("fp-contract=off")))
#define ONNXC_NO_CONTRACTION
#else
#define ONNXC_NO_CONTRACTION_FUNCTION
#define ONNXC_NO_CONTRACTION
#endif

namespace onnxc::inline ONNXC_ISA::scalar {

template <class W>
struct Complex {
  W re = 0, im = 0;
};

/// exp(-2 pi i k / n), 0 <= k < n: the angle is brought to the first octant, where sine and cosine lose nothing.
template <class W>
ONNXC_ANYWHERE Complex<W> root_of_unity(int64_t k, int64_t n) {
  const int64_t quadrant = 4 * k / n, rest = 4 * k - quadrant * n;  // the angle is (quadrant + rest / n) * pi / 2
  const bool beyond = 2 * rest > n;
  const double angle = 1.5707963267948966 * (static_cast<double>(beyond ? n - rest : rest) / static_cast<double>(n));
  const W c = static_cast<W>(beyond ? std::sin(angle) : std::cos(angle)), s = static_cast<W>(beyond ? std::cos(angle) : std::sin(angle));
  switch (quadrant) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

/// A transform of length n in the caller's memory: 6 n numbers of type W. Write the signal to `x`, transform, and read
/// the result there.
template <class W>
struct Fft {
  int64_t n = 0;
  Complex<W>*roots = nullptr, *x = nullptr, *other = nullptr;

  ONNXC_ANYWHERE Fft(W* memory, int64_t length)
      : n(length), roots(reinterpret_cast<Complex<W>*>(memory)), x(roots + length), other(x + length) {
    for (int64_t k = 0; k < n; ++k) roots[k] = root_of_unity<W>(k, n);
  }

  /// x[k] = sum of x[i] exp(-+2 pi i k / n), the sign being + for the inverse, which is not scaled.
  ONNXC_ANYWHERE void transform(bool inverse) {
    int64_t rest = n, done = 1;  // rest * done == n
    for (int64_t p = 2; rest > 1;) {
      if (p * p > rest) p = rest;
      if (rest % p != 0) {
        ++p;
        continue;
      }
      for (int64_t k = 0; k < rest / p; ++k) {
        for (int64_t q = 0; q < done; ++q) step(p, rest / p, done, k, q, inverse ? W(-1) : W(1));
      }
      Complex<W>* const swap = x;
      x = other;
      other = swap;
      rest /= p;
      done *= p;
    }
  }

 private:
  /// Transforms the p elements x[q + done (k + m r)] and multiplies the j-th by the root of j k done, to other[q + done
  /// (p k + j)].
  ONNXC_ANYWHERE ONNXC_NO_CONTRACTION_FUNCTION void step(int64_t p, int64_t m, int64_t done, int64_t k, int64_t q, W sign) {
    ONNXC_NO_CONTRACTION
    const Complex<W>* const from = x + q + done * k;
    Complex<W>* const to = other + q + done * p * k;
    const int64_t stride = done * m;
    for (int64_t j = 0; j <= p / 2; ++j) {
      // Elements r and p - r have conjugate roots: their sums make `even`, their differences `odd`. Results j and p - j
      // are even + odd and even - odd.
      Complex<W> even = from[0], odd;
      for (int64_t r = 1; 2 * r <= p; ++r) {
        const Complex<W> a = from[stride * r], b = from[stride * (p - r)];
        if (2 * r == p) {  // p == 2
          even.re = j == 0 ? even.re + a.re : even.re - a.re;
          even.im = j == 0 ? even.im + a.im : even.im - a.im;
          continue;
        }
        const Complex<W> sum = {a.re + b.re, a.im + b.im}, difference = {a.re - b.re, a.im - b.im}, w = roots[j * r % p * (n / p)];
        const W im = sign * w.im;
        even.re += j == 0 ? sum.re : w.re * sum.re;
        even.im += j == 0 ? sum.im : w.re * sum.im;
        odd.im += im * difference.re;
        odd.re += im * difference.im;
      }
      odd.re = -odd.re;
      for (int64_t side = 0; side < (j == 0 || 2 * j == p ? 1 : 2); ++side) {
        const int64_t to_j = side == 0 ? j : p - j;
        const Complex<W> v = j == 0 || 2 * j == p ? even
                             : side == 0          ? Complex<W>{even.re + odd.re, even.im + odd.im}
                                                  : Complex<W>{even.re - odd.re, even.im - odd.im};
        const Complex<W> w = roots[to_j * k * done % n];
        const W im = sign * w.im;
        to[done * to_j] = to_j * k == 0 ? v : Complex<W>{v.re * w.re - v.im * im, v.re * im + v.im * w.re};
      }
    }
  }
};

/// Whether a length has a prime factor for which steps cost more than a convolution.
ONNXC_ANYWHERE inline bool has_large_factor(int64_t n) {
  int64_t rest = n;
  for (int64_t p = 2; p * p <= rest;) {
    if (rest % p == 0) rest /= p;
    else ++p;
  }
  return rest > 211;
}

/// Bluestein's transform, whose cost does not depend on the factors of n: 2 i k = i^2 + k^2 - (k - i)^2 turns the sum
/// into a convolution of x[i] w[i] with 1 / w, times w[k], where w[k] = exp(-pi i k^2 / n). The convolution is a
/// product of transforms, whose length is a power of two of at least 2 n - 1.
struct ChirpFft {
  int64_t n = 0, m = 0;
  Complex<double>*x = nullptr, *chirp = nullptr, *kernel = nullptr;
  Fft<double> inner;

  ONNXC_ANYWHERE static int64_t inner_length(int64_t n) {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    return m;
  }
  /// Doubles of memory.
  ONNXC_ANYWHERE static int64_t numbers(int64_t n) { return 4 * n + 8 * inner_length(n); }

  ONNXC_ANYWHERE ChirpFft(double* memory, int64_t length)
      : n(length),
        m(inner_length(length)),
        x(reinterpret_cast<Complex<double>*>(memory)),
        chirp(x + length),
        kernel(chirp + length),
        inner(memory + 4 * length + 2 * inner_length(length), inner_length(length)) {
    for (int64_t k = 0; k < n; ++k) chirp[k] = root_of_unity<double>(k * k % (2 * n), 2 * n);
    for (int64_t k = 0; k < m; ++k) inner.x[k] = {};
    for (int64_t k = 0; k < n; ++k) {
      inner.x[k] = {chirp[k].re, -chirp[k].im};
      if (k != 0) inner.x[m - k] = inner.x[k];
    }
    inner.transform(false);
    for (int64_t k = 0; k < m; ++k) kernel[k] = inner.x[k];
  }

  /// See Fft::transform.
  ONNXC_ANYWHERE void transform(bool inverse) {
    const double sign = inverse ? -1 : 1;  // the inverse is the conjugate of the conjugate's transform
    for (int64_t k = 0; k < m; ++k) inner.x[k] = k < n ? times({x[k].re, sign * x[k].im}, chirp[k]) : Complex<double>{};
    inner.transform(false);
    for (int64_t k = 0; k < m; ++k) inner.x[k] = times(inner.x[k], kernel[k]);
    inner.transform(true);
    for (int64_t k = 0; k < n; ++k) {
      const Complex<double> v = times(inner.x[k], chirp[k]);
      x[k] = {v.re / static_cast<double>(m), sign * v.im / static_cast<double>(m)};
    }
  }

 private:
  ONNXC_ANYWHERE ONNXC_NO_CONTRACTION_FUNCTION static Complex<double> times(Complex<double> a, Complex<double> b) {
    ONNXC_NO_CONTRACTION
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// The doubles in which a transform of length n works that may be a chirp.
ONNXC_ANYWHERE inline int64_t fft_numbers(int64_t n) { return has_large_factor(n) ? ChirpFft::numbers(n) : 6 * n; }

}  // namespace onnxc::scalar
