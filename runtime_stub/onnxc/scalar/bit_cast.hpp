// BitCast, as ONNX defines it.
#pragma once
#include <cstring>
#include <type_traits>

#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i] has the bits of x[i]; both types have one width. What becomes bool is true unless all bits are 0. y may be x's memory. A share
/// has some elements of y.
template <class To, class From>
ONNXC_ANYWHERE void bit_cast(To* y, const From* x, int64_t count, Share share = {}) {
  static_assert(sizeof(To) == sizeof(From));
  const auto [first, last] = share.slice(count);
  if constexpr (std::is_same_v<To, bool>) {
    for (int64_t i = first; i < last; ++i) {
      unsigned char bits = 0;
      std::memcpy(&bits, x + i, 1);
      y[i] = bits != 0;
    }
  } else if (first < last && static_cast<const void*>(y) != x) {
    std::memcpy(y + first, x + first, static_cast<std::size_t>(last - first) * sizeof(To));
  }
}

}  // namespace onnxc::scalar
