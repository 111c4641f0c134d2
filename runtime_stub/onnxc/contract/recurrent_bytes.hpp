// Recurrences on bytes (runtime_stub/onnxc/recurrent_bytes.hpp): their scratch, and how large they may be.
#pragma once
#include "quads.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Hidden values of which no sum exceeds 32 bits: each adds at most 255 * 255.
constexpr int64_t kMostBytesDepth = 16384;

/// Bytes from one row of h to the next: whole quads.
constexpr int64_t recurrent_bytes_pitch(int64_t hidden) { return 4 * quads(hidden); }

}  // namespace onnxc::inline ONNXC_ISA::contract
