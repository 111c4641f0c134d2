// Pooling whose rows may lie anywhere (pool.hpp).
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// The most rows of a window for which there is room on the stack.
inline constexpr int64_t kMostPoolRows = 8;

}  // namespace onnxc::contract
