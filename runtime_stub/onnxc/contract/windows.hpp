// The scratch memory of conv_windows (conv_windows.hpp).
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Floats of a share: as many windows of k floats as a tile has rows.
constexpr int64_t window_floats(int64_t rows, int64_t k) { return rows * k; }

}  // namespace onnxc::inline ONNXC_ISA::contract
