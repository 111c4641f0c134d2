// What the interface of a unit for GPUs shows: streams and memory of the device. No header of CUDA is needed.
#pragma once
#include <cstddef>
#include <cstdint>

typedef struct CUstream_st* cudaStream_t;  // as in CUDA's own headers

namespace onnxc {

/// Where memory of a unit lies: on the device, at multiples of 256 bytes, and on the host.
struct DeviceMemory {
  std::byte* arena = nullptr;          ///< scratch memory; what it holds does not matter
  const std::byte* weights = nullptr;  ///< a copy of the unit's weights_image()
  unsigned* words = nullptr;           ///< zeros, before a run and after it: the status, then tickets of shared work
  std::byte* host = nullptr;           ///< scratch memory on the host: the unit's arena_bytes
};

/// How a session uses a GPU.
struct DeviceOptions {
  int ordinal = 0;                ///< which GPU, as CUDA counts them
  cudaStream_t stream = nullptr;  ///< null: one of the session's own
  bool pinned = true;             ///< copies pass through pinned memory of the session, else they come from the caller's memory
};

}  // namespace onnxc
