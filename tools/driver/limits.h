// Limits of time and memory are for compiling. What a unit takes that runs in this process, or in an emulator, is up to its caller.
#pragma once
#include <atomic>

namespace onnxc {

inline std::atomic<bool> limits_hold = true;

/// For good: a command that has run a unit may run another at any time.
inline void lift_limits() { limits_hold = false; }

}  // namespace onnxc
