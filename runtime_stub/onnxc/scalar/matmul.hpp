// MatMul, as ONNX and numpy define it.
#pragma once
#include "../base.hpp"
#include "accumulate.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct MatMulParams {
  int64_t m = 1, n = 1, k = 1;
  Shape batch;                ///< extents of the batch axes of y
  Ints a_strides, b_strides;  ///< of the matrices of a and b along each batch axis, 0 where repeated
};

namespace detail {
/// y[batch, i, j] = element(i, j, the matrix of a, the matrix of b), for this share of y's elements.
template <class Y, class A, class B, class Element>
ONNXC_ANYWHERE void for_each_product(Share share, Y* y, const A* a, const B* b, const MatMulParams& p, Element element) {
  const auto [first, last] = share.slice(p.batch.count() * p.m * p.n);
  if (first >= last) return;
  int64_t row = first / p.n, begin = first % p.n;
  while (row * p.n < last) {
    const int64_t matrix = row / p.m, rows_end = (matrix + 1) * p.m;
    int64_t index = matrix, a_at = 0, b_at = 0;
    for (int axis = p.batch.rank - 1; axis >= 0; --axis) {
      a_at += index % p.batch[axis] * p.a_strides[axis];
      b_at += index % p.batch[axis] * p.b_strides[axis];
      index /= p.batch[axis];
    }
    for (; row < rows_end && row * p.n < last; ++row, begin = 0) {
      const int64_t i = row - matrix * p.m, end = min_of(p.n, last - row * p.n);
      for (int64_t j = begin; j < end; ++j) y[row * p.n + j] = element(i, j, a + a_at, b + b_at);
    }
  }
}
}  // namespace detail

/// y[batch, i, j] = sum over s of a[batch, i, s] * b[batch, s, j]; y, and each matrix of a and b, row-major without
/// gaps. Sums run in order of s in product_accumulator<Y, A> and are rounded once. start: what the sums of each column begin from,
/// or null. A share has some elements of y.
template <class Y, class A, class B>
ONNXC_ANYWHERE void matmul(Y* y, const A* a, const B* b, MatMulParams p, const int32_t* start = nullptr, Share share = {}) {
  using Acc = product_accumulator<Y, A>;
  detail::for_each_product(share, y, a, b, p, [&](int64_t i, int64_t j, const A* left, const B* right) {
    Acc sum = start != nullptr ? static_cast<Acc>(start[j]) : Acc(0);
    for (int64_t s = 0; s < p.k; ++s) sum += static_cast<Acc>(left[i * p.k + s]) * static_cast<Acc>(right[s * p.n + j]);
    return static_cast<Y>(sum);
  });
}

template <class Y, class A, class B>
ONNXC_ANYWHERE void matmul(Y* y, const A* a, const B* b, MatMulParams p, Share share) {
  matmul(y, a, b, p, nullptr, share);
}

/// The same of bytes less their zero points, one for each operand, or null for 0. Sums wrap.
template <class A, class B>
ONNXC_ANYWHERE void centred_matmul(int32_t* y, const A* a, const B* b, const A* a_zero, const B* b_zero, MatMulParams p, Share share = {}) {
  const int32_t za = a_zero != nullptr ? *a_zero : 0, zb = b_zero != nullptr ? *b_zero : 0;
  detail::for_each_product(share, y, a, b, p, [&](int64_t i, int64_t j, const A* left, const B* right) {
    uint32_t sum = 0;
    for (int64_t s = 0; s < p.k; ++s) sum += static_cast<uint32_t>((left[i * p.k + s] - za) * (right[s * p.n + j] - zb));
    return static_cast<int32_t>(sum);
  });
}

}  // namespace onnxc::scalar
