// What kernels of a GPU combine values by: that of reference reductions (../scalar/reduce.hpp), in f32.
#pragma once
#include "../scalar/reduce.hpp"
#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu::detail {

/// For reduce_warp and reduce_block.
template <class Combine>
struct Combined {
  ONNXC_DEVICE float operator()(float a, float b) const { return Combine::combine(a, b); }
};
using Largest = Combined<scalar::Max>;  // NaN where there is one
using Added = Combined<scalar::Sum>;

}  // namespace onnxc::gpu::detail
