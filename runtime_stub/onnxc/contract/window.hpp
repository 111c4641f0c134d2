// The defaults of members of ConvParams and PoolParams: the compiler leaves out members that have these values in a
// call.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

inline constexpr int64_t kUsualStride = 1, kUsualDilation = 1, kUsualPad = 0, kUsualGroup = 1, kUsualPixel = 0;

/// Whether a struct of parameters has these defaults; kernels assert it of theirs.
template <class Params>
constexpr bool has_usual_window(const Params& p) {
  return p.stride_y == kUsualStride && p.stride_x == kUsualStride && p.dilation_y == kUsualDilation && p.dilation_x == kUsualDilation &&
         p.pad_top == kUsualPad && p.pad_left == kUsualPad && p.x_pixel == kUsualPixel && p.y_pixel == kUsualPixel;
}

}  // namespace onnxc::inline ONNXC_ISA::contract
