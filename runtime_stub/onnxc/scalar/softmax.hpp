// Softmax and its logarithm along any axis, as ONNX defines them.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

namespace detail {
/// Calls finish(v, top, sum) for each value v of each line of x [outer, n, inner] along the middle axis. top is the
/// largest value of the line, sum is that of exp(v - top) over it, in double.
template <class T, class Finish>
ONNXC_ANYWHERE void softmax_lines(Share share, T* y, const T* x, int64_t outer, int64_t n, int64_t inner, Finish finish) {
  const auto [first, last] = share.slice(outer * inner);
  for (int64_t line = first; line < last; ++line) {
    const int64_t at = line / inner * n * inner + line % inner;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < n; ++i) top = fn::max(top, fn::cast<double>(x[at + i * inner]));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(fn::cast<double>(x[at + i * inner]) - top);
    for (int64_t i = 0; i < n; ++i) y[at + i * inner] = fn::cast<T>(finish(fn::cast<double>(x[at + i * inner]), top, sum));
  }
}
}  // namespace detail

/// y = exp(x - max x) / sum exp(x - max x), along the middle axis of [outer, n, inner], row-major. In place if wished. Computed in double.
/// NaN in a line, or a line of -infinity alone, makes the line NaN.
/// 0 below the smallest normal number of float and double, as fn::exp.
template <class T>
ONNXC_ANYWHERE void softmax(Share share, T* y, const T* x, int64_t outer, int64_t n, int64_t inner) {
  detail::softmax_lines(share, y, x, outer, n, inner, [](double v, double top, double sum) {
    const double probability = std::exp(v - top) / sum;
    if constexpr (std::is_floating_point_v<T>) return probability < double{std::numeric_limits<T>::min()} ? 0.0 : probability;
    else return probability;
  });
}
/// y = x - max x - log(sum exp(x - max x)).
template <class T>
ONNXC_ANYWHERE void log_softmax(Share share, T* y, const T* x, int64_t outer, int64_t n, int64_t inner) {
  detail::softmax_lines(share, y, x, outer, n, inner, [](double v, double top, double sum) { return v - top - std::log(sum); });
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
