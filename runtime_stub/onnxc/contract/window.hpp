// What members of ConvParams and PoolParams are where nobody says otherwise: the compiler leaves out those that a call would give the same.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

inline constexpr int64_t kUsualStride = 1, kUsualDilation = 1, kUsualPad = 0, kUsualGroup = 1, kUsualPixel = 0;

/// Whether a struct of parameters takes them; kernels assert it of theirs.
template <class Params>
constexpr bool has_usual_window(const Params& p) {
  return p.stride_y == kUsualStride && p.stride_x == kUsualStride && p.dilation_y == kUsualDilation && p.dilation_x == kUsualDilation &&
         p.pad_top == kUsualPad && p.pad_left == kUsualPad && p.x_pixel == kUsualPixel && p.y_pixel == kUsualPixel;
}

}  // namespace onnxc::inline ONNXC_ISA::contract
