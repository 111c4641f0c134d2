// What `enqueue` of a unit asks of pointers that are its caller's.
#pragma once
#include <initializer_list>

#include "../base.hpp"
#include "../contract/device_memory.hpp"
#include "interface.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// ONNXC_MISALIGNED where `memory` or one of `tensors`, inputs and outputs on the device, does not begin at the multiple that the
/// unit states; arena_alignment is that of its arena on the host. A null pointer does: what is empty may have one.
inline Status check_memory(const DeviceMemory& memory, std::size_t arena_alignment, std::initializer_list<const void*> tensors) noexcept {
  const auto begins_at = [](const void* p, std::size_t multiple) noexcept { return reinterpret_cast<std::uintptr_t>(p) % multiple == 0; };
  bool holds = begins_at(memory.arena, contract::kDeviceAlignment) && begins_at(memory.weights, contract::kDeviceAlignment) &&
               begins_at(memory.words, alignof(unsigned)) && begins_at(memory.host, arena_alignment);
  for (const void* p : tensors) holds = holds && begins_at(p, contract::kTensorAlignment);
  return holds ? Status{} : Status{ONNXC_MISALIGNED, "memory of the GPU"};
}

}  // namespace onnxc::inline ONNXC_ISA::gpu
