// Functions of one byte, looked up in a table of 256.
#pragma once
#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i] = table[x[i]] for i in [0, count), where x is taken as unsigned. X and Y are types of 8 bits; y may be x. A share
/// has some of the elements.
template <class X, class Y>
ONNXC_ANYWHERE void byte_table(Y* y, const X* x, const Y* table, int64_t count, Share share = {}) {
  static_assert(sizeof(X) == 1 && sizeof(Y) == 1);
  const auto [first, last] = share.slice(count);
  for (int64_t i = first; i < last; ++i) y[i] = table[static_cast<uint8_t>(x[i])];
}

}  // namespace onnxc::scalar
