// Memory of a GPU: what units lay out in an image and sessions in an allocation.
#pragma once
#include <cstdint>

#include "../isa.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

using Bytes = decltype(sizeof(int));

/// Weights, words, arena, inputs and outputs each begin at a multiple of it, as what CUDA allocates does.
inline constexpr Bytes kDeviceAlignment = 256;

/// What a caller's own inputs and outputs on a GPU begin at a multiple of, so that 16 bytes can be copied at a time.
inline constexpr Bytes kTensorAlignment = 16;

/// What `bytes` take; SIZE_MAX where no size is large enough.
constexpr Bytes device_room(Bytes bytes) {
  return bytes > SIZE_MAX - kDeviceAlignment ? SIZE_MAX : (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

}  // namespace onnxc::contract
