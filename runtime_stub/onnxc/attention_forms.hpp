// What kernels of attention on processors (attention.hpp) and on GPUs (gpu/attention_params.hpp) share: where rows of heads lie, and operands of the
// scores' expression.
#pragma once
#include "expr.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Steps between batches, heads and rows (queries, keys), in elements.
struct HeadSteps {
  int64_t batch, head, row;
};

/// An operand of the scores' expression: data[batch * .batch + head * .head + query * .row + key].
template <class T>
struct OfScores {
  const T* data;
  int64_t batch, head, row;
  static constexpr bool kVariesByKey = true;
};
/// The same without the key: a value for each query, or for more than one.
template <class T>
struct OfQueries {
  const T* data;
  int64_t batch, head, row;
  static constexpr bool kVariesByKey = false;
};

}  // namespace onnxc::inline ONNXC_ISA
