// The transforms of Winograd's convolutions F(T, R), with T outputs of A = T + R - 1 inputs and a kernel of R taps: 4,
// 6 or 8 points.
//
//   y = A^T [ (G w) * (B^T d) ],   A = 4: points 0, 1, -1, infinity
//                                  A = 6: points 0, 3/4, -3/4, 3/2, -3/2, infinity
//                                  A = 8: points 0, 1, -1, 2, -2, 1/2, -1/2, infinity
//
// After Toom and Cook: row i of B^T has the coefficients of M_i(x), the product of x - p_j over all finite points but
// p_i, and the last row has those of the product over all of them. Column i of A^T and row i of G have the powers of
// p_i, those of G divided by M_i(p_i). B^T depends on the points alone, so a transformed image serves all kernels with
// as many points. Points come in pairs p, -p, whose rows share all sums: one of the even powers, one of the odd ones.
// With six points, both directions multiply the error; 3/4 and 3/2, whose powers are exact, then have half of the error
// of 1 and 2. References: S. Winograd 1980; A. Lavin, S. Gray, arXiv 1509.09308; B. Barabasz et al., arXiv 1803.10986
// (points).
#pragma once
#include "contract/winograd.hpp"
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

/// A polynomial in z = x^2: c[k] is the coefficient of z^k, the leading one is 1.
struct EvenPolynomial {
  float c[4] = {1.0f};
  int degree = 0;
  constexpr void times_root(float square) {
    ++degree;
    for (int k = degree; k >= 0; --k) c[k] = (k > 0 ? c[k - 1] : 0.0f) - square * c[k];
  }
  constexpr float at(float z) const {
    float sum = 0;
    for (int k = degree; k >= 0; --k) sum = sum * z + c[k];
    return sum;
  }
};

/// The constants of the transforms of A points.
template <int A>
struct WinogradPoints {
  static constexpr int pairs = (A - 2) / 2;
  static constexpr int kMostTaps = 8;
  /// The product of x^2 - p^2 over all pairs, and over all but one.
  EvenPolynomial all, others[pairs];
  /// power[i][k] = p^k and weight[i] = 1 / M(p) of pair i.
  float power[pairs][kMostTaps] = {}, weight[pairs] = {};

  constexpr WinogradPoints() {
    const auto point = [](int pair) { return static_cast<float>(contract::winograd_point(A, 2 * pair + 1)); };
    for (int i = 0; i < pairs; ++i) {
      all.times_root(point(i) * point(i));
      for (int j = 0; j < pairs; ++j) {
        if (j != i) others[i].times_root(point(j) * point(j));
      }
      power[i][0] = 1.0f;
      for (int k = 1; k < kMostTaps; ++k) power[i][k] = power[i][k - 1] * point(i);
      weight[i] = 1.0f / (2.0f * power[i][2] * others[i].at(power[i][2]));
    }
  }
};
template <int A>
inline constexpr WinogradPoints<A> kWinograd;

/// sum + c x, without a product where c is 1 or -1; c and -c share a register.
ONNXC_INLINE Vec add_times(float c, Vec x, Vec sum) {
  if (c == 1.0f) return sum + x;
  if (c == -1.0f) return sum - x;
  return c > 0 ? fma(Vec::all(c), x, sum) : fnma(Vec::all(-c), x, sum);
}

/// The polynomial q applied to d: d[0], d[2], ... stand for the powers of z.
ONNXC_INLINE Vec every_other(const EvenPolynomial& q, const Vec* d) {
  Vec sum = d[2 * q.degree];
  ONNXC_UNROLL for (int k = q.degree - 1; k >= 0; --k) sum = add_times(q.c[k], d[2 * k], sum);
  return sum;
}

/// o = B^T d for one row or column.
template <int A>
ONNXC_INLINE void winograd_input(const Vec* d, Vec* o) {
  constexpr const WinogradPoints<A>& points = kWinograd<A>;
  o[0] = every_other(points.all, d);
  ONNXC_UNROLL for (int i = 0; i < points.pairs; ++i) {
    const Vec even = every_other(points.others[i], d + 2), steps = every_other(points.others[i], d + 1);
    const Vec odd = points.power[i][1] == 1.0f
                        ? steps
                        : steps * Vec::all(points.power[i][1]);  // faster than two fused sums, which overwrite what both read
    o[2 * i + 1] = even + odd;
    o[2 * i + 2] = even - odd;
  }
  o[A - 1] = every_other(points.all, d + 1);
}

/// o = A^T m for one row or column: T of A.
template <int A, int T>
ONNXC_INLINE void winograd_output(const Vec* m, Vec* o) {
  constexpr const WinogradPoints<A>& points = kWinograd<A>;
  Vec sum[points.pairs], difference[points.pairs];
  ONNXC_UNROLL for (int i = 0; i < points.pairs; ++i) {
    sum[i] = m[2 * i + 1] + m[2 * i + 2];
    difference[i] = m[2 * i + 1] - m[2 * i + 2];
  }
  ONNXC_UNROLL for (int k = 0; k < T; ++k) {
    const Vec* const of = k % 2 == 0 ? sum : difference;
    Vec total = k == 0 ? m[0] + of[0] : points.power[0][k] == 1.0f ? of[0] : of[0] * Vec::all(points.power[0][k]);
    ONNXC_UNROLL for (int i = 1; i < points.pairs; ++i) total = add_times(points.power[i][k], of[i], total);
    o[k] = k == T - 1 ? total + m[A - 1] : total;
  }
}

/// o = G w for one row or column: A of R.
template <int A, int R>
ONNXC_INLINE void winograd_kernel(const Vec* w, Vec* o) {
  constexpr const WinogradPoints<A>& points = kWinograd<A>;
  o[0] = w[0] * Vec::all(1.0f / points.all.c[0]);
  ONNXC_UNROLL for (int i = 0; i < points.pairs; ++i) {
    Vec even = w[0] * Vec::all(points.weight[i]), odd = w[1] * Vec::all(points.weight[i] * points.power[i][1]);
    ONNXC_UNROLL for (int k = 2; k < R; ++k) {
      Vec& sum = k % 2 == 0 ? even : odd;
      sum = fma(Vec::all(points.weight[i] * points.power[i][k]), w[k], sum);
    }
    o[2 * i + 1] = even + odd;
    o[2 * i + 2] = even - odd;
  }
  o[A - 1] = w[R - 1];
}

}  // namespace onnxc::inline ONNXC_ISA::detail
