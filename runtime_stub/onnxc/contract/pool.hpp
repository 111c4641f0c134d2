// Pooling by rows that lie anywhere (pool.hpp).
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Rows of a window for which there is room on the stack.
inline constexpr int64_t kMostPoolRows = 8;

}  // namespace onnxc::contract
