// Products of bytes (runtime_stub/onnxc/quad_tile.hpp): what planners pack and provide for them.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Bytes of the zero point that pixels outside of an image are read from.
constexpr int64_t kOutsideBytes = 1024;

/// Steps of k: the last quad of a row may have fewer bytes.
constexpr int64_t quads(int64_t bytes) { return (bytes + 3) / 4; }

}  // namespace onnxc::inline ONNXC_ISA::contract
