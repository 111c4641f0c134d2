// Memory of a GPU: what units lay out in an image and sessions in an allocation.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../isa.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Weights, words, arena, inputs and outputs each begin at a multiple of it, as what CUDA allocates does.
inline constexpr std::size_t kDeviceAlignment = 256;

/// What `bytes` take; SIZE_MAX where no size is large enough.
constexpr std::size_t device_room(std::size_t bytes) {
  return bytes > SIZE_MAX - kDeviceAlignment ? SIZE_MAX : (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

}  // namespace onnxc::contract
