// CumSum and CumProd, as ONNX defines them.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct CumulativeParams {
  bool exclusive = false;  ///< y[i] combines only the elements before i
  bool reverse = false;    ///< from the end of the axis
};

/// y[a, i, b] = x[a, 0, b] (op) ... (op) x[a, i, b] along the axis that `axis` names, in that order, each result
/// rounded to T. y may be x's memory. An axis out of range gives ONNXC_INDEX_OUT_OF_RANGE. A share
/// has some of the lines (a, b).
template <class T, class I, class Op>
ONNXC_ANYWHERE Status cumulate(Tensor<T> y, Tensor<const T> x, Tensor<const I> axis, CumulativeParams params, T identity, Op op,
                               Share share) {
  const int64_t given = static_cast<int64_t>(axis.data[0]), a = given < 0 ? given + x.shape.rank : given;
  if (a < 0 || a >= x.shape.rank) return {ONNXC_INDEX_OUT_OF_RANGE};
  const int k = static_cast<int>(a);
  const int64_t outer = x.shape.count(0, k), n = x.shape[k], inner = x.shape.count(k + 1, x.shape.rank);
  const auto [first, last] = share.slice(outer * inner);
  if (first >= last) return {};
  int64_t p = first / inner, s = first % inner;
  for (int64_t line = first; line < last; ++line) {
    T sum = identity;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = (p * n + (params.reverse ? n - 1 - step : step)) * inner + s;
      const T next = step == 0 ? x.data[i] : op(sum, x.data[i]);
      y.data[i] = params.exclusive ? sum : next;
      sum = next;
    }
    if (++s < inner) continue;
    s = 0;
    ++p;
  }
  return {};
}

template <class T, class I>
ONNXC_ANYWHERE Status cum_sum(Tensor<T> y, Tensor<const T> x, Tensor<const I> axis, CumulativeParams params, Share share = {}) {
  return cumulate(y, x, axis, params, fn::cast<T>(0), [](T a, T b) { return fn::add(a, b); }, share);
}
template <class T, class I>
ONNXC_ANYWHERE Status cum_prod(Tensor<T> y, Tensor<const T> x, Tensor<const I> axis, CumulativeParams params, Share share = {}) {
  return cumulate(y, x, axis, params, fn::cast<T>(1), [](T a, T b) { return fn::mul(a, b); }, share);
}

}  // namespace onnxc::scalar
