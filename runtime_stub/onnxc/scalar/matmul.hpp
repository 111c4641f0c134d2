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

/// y[batch, i, j] = sum over s of a[batch, i, s] * b[batch, s, j]; y, and each matrix of a and b, row-major without
/// gaps. Sums run in order of s in product_accumulator<Y, A> and are rounded once. start: what the sums of each column begin from, or null.
template <class Y, class A, class B>
void matmul(Y* y, const A* a, const B* b, MatMulParams p, const int32_t* start = nullptr) {
  using Acc = product_accumulator<Y, A>;
  const int64_t batches = p.batch.count();
  for (int64_t matrix = 0; matrix < batches; ++matrix) {
    int64_t index = matrix, a_at = 0, b_at = 0;
    for (int axis = p.batch.rank - 1; axis >= 0; --axis) {
      a_at += index % p.batch[axis] * p.a_strides[axis];
      b_at += index % p.batch[axis] * p.b_strides[axis];
      index /= p.batch[axis];
    }
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        Acc sum = start != nullptr ? static_cast<Acc>(start[j]) : Acc(0);
        for (int64_t s = 0; s < p.k; ++s) sum += static_cast<Acc>(a[a_at + i * p.k + s]) * static_cast<Acc>(b[b_at + s * p.n + j]);
        y[(matrix * p.m + i) * p.n + j] = static_cast<Y>(sum);
      }
    }
  }
}

}  // namespace onnxc::scalar
