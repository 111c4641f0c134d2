// What --timeout and --max-memory state, wherever on the command line they are: a process has one of each.
#pragma once
#include <cstdint>
#include <optional>

namespace onnxc {

struct ProcessLimits {
  double seconds = 3600;
  std::optional<uint64_t> memory;  ///< bytes; else what the machine has
};

inline ProcessLimits& process_limits() {
  static ProcessLimits limits;
  return limits;
}

}  // namespace onnxc
