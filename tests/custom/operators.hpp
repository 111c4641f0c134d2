// Functions of custom operators, for check.py.
#pragma once
#include <onnxc/custom.hpp>

#include <type_traits>

namespace my {

using onnxc::Attributes;
using onnxc::Status;
using onnxc::Tensor;

/// y = 2 x, of any type.
template <class T>
Status twice(Tensor<const T> x, Tensor<T> y, const Attributes&) {
  for (std::int64_t i = 0; i < x.count(); ++i) y.data[i] = static_cast<T>(x.data[i] + x.data[i]);
  return {};
}

/// y = scale x + sum(offsets) + length(mode) + number of words + step. Inputs `between` and `bias` and output `sum`
/// are optional.
inline Status affine(Tensor<const float> x, Tensor<const float> between, Tensor<const float> bias, Tensor<float> y, Tensor<double> sum,
                     const Attributes& a) {
  float offset = static_cast<float>(a.integer("step", 100)) + static_cast<float>(a.string("mode", "").size() + a.strings("words").size());
  for (const float v : a.numbers("offsets")) offset += v;
  for (const std::int64_t v : a.integers("shifts")) offset += static_cast<float>(v);
  if (a.has("absent")) return {ONNXC_BAD_VALUE};
  double total = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    y.data[i] = a.number("scale", 1.0f) * x.data[i] + offset;
    if (between.data != nullptr) y.data[i] += between.data[i];
    if (bias.data != nullptr) y.data[i] += bias.data[i % bias.count()];
    total += static_cast<double>(y.data[i]);
  }
  if (sum.data != nullptr) *sum.data = total;
  return {};
}

/// Strings of attributes arrive byte by byte: y[i] = byte i of `text` and of the two `words`, then of the name's own.
inline Status bytes(Tensor<std::int32_t> y, const Attributes& a) {
  std::int64_t n = 0;
  for (const char c : a.string("text")) y.data[n++] = static_cast<unsigned char>(c);
  for (const onnxc_string& word : a.strings("words")) {
    for (std::size_t i = 0; i < word.size; ++i) y.data[n++] = static_cast<unsigned char>(word.data[i]);
  }
  y.data[n++] = a.integer("least") == INT64_MIN;
  y.data[n++] = a.number("infinite") > 1e38f;
  y.data[n++] = a.has("empty") && a.integers("empty").empty();
  return y.count() == n ? Status{} : Status{ONNXC_BAD_DIMENSION};
}

/// Outputs can have shapes of any rank: y0 = the extents of y1, and y1 is zeroed.
inline Status extents(Tensor<const float>, Tensor<const std::int64_t>, Tensor<std::int64_t> y0, Tensor<float> y1, const Attributes&) {
  if (y0.count() != y1.shape.rank) return {ONNXC_BAD_DIMENSION};
  for (int axis = 0; axis < y1.shape.rank; ++axis) y0.data[axis] = y1.shape[axis];
  for (std::int64_t i = 0; i < y1.count(); ++i) y1.data[i] = 0;
  return {};
}

inline Status refuse(Tensor<const float>, Tensor<float>, const Attributes&) { return {ONNXC_BAD_VALUE}; }

}  // namespace my

/// In no namespace.
inline onnxc::Status at_top(onnxc::Tensor<const float> x, onnxc::Tensor<float> y, onnxc::Attributes) { return my::twice<float>(x, y, {}); }
