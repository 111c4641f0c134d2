// The scratch memory of conv_windows (conv_windows.hpp).
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Tiles that take a panel together: weights of a narrower type are widened once for all of them, which is half of the work of one tile where
/// vectors are of one float.
constexpr int64_t tiles_at_once(int64_t lanes, bool floats) { return floats || lanes > 1 ? 1 : 4; }

/// Floats of a share: a window of k floats for each row of these tiles.
constexpr int64_t window_floats(int64_t rows, int64_t k) { return rows * k; }

}  // namespace onnxc::inline ONNXC_ISA::contract
