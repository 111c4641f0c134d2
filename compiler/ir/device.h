// Device: the host or a GPU, on which nodes are computed and in whose memory buffers lie.
#pragma once
#include <array>
#include <cstdint>

namespace onnxc {

enum class Device : uint8_t { Cpu, Gpu };
inline constexpr std::array kDevices{Device::Cpu, Device::Gpu};

}  // namespace onnxc
