// BitCast, as ONNX defines it.
#pragma once
#include <cstring>
#include <type_traits>

#include "../base.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i] has the bits of x[i]; both types have one width. What becomes bool is true unless all bits are 0. y may be x's memory.
template <class To, class From>
void bit_cast(To* y, const From* x, int64_t count) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (std::is_same_v<To, bool>) {
    for (int64_t i = 0; i < count; ++i) {
      unsigned char bits = 0;
      std::memcpy(&bits, x + i, 1);
      y[i] = bits != 0;
    }
  } else if (count > 0) {
    std::memmove(y, x, static_cast<std::size_t>(count) * sizeof(To));
  }
}

}  // namespace onnxc::scalar
