// The host's side of device.hpp in CUDA: launches, streams, graphs, events, memory, devices. A Status has the words of
// CUDA. What goes wrong while work runs is told by the next `finish`.
#pragma once
#include "kernel.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

namespace onnxc::inline ONNXC_ISA::gpu {

using Stream = cudaStream_t;

/// CUDA keeps an error for whoever asks next: here it is told once.
inline Status status_of(cudaError_t error) noexcept {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  return {error == cudaErrorMemoryAllocation ? ONNXC_OUT_OF_MEMORY : ONNXC_DEVICE_FAILED, cudaGetErrorString(error)};
}

/// Without the 1, ptxas holds itself to fewer registers than there are, and spills some. Threads and bytes of shared memory
/// are parameters so that a kernel's name tells of them.
template <class Kernel, int kThreads = Kernel::kThreads, std::size_t kShared = sizeof(typename Kernel::Shared)>
__global__ void __launch_bounds__(kThreads, 1) entry(const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(128) unsigned char shared_memory[];
  kernel(*reinterpret_cast<typename Kernel::Shared*>(shared_memory));
}

/// Enqueues a grid of blocks. One without blocks is nothing to do.
template <class Kernel>
static Status launch(Stream stream, const Kernel& kernel, Index grid) noexcept {
  static_assert(kIsKernel<Kernel>);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return {};
  constexpr std::size_t bytes = sizeof(typename Kernel::Shared);
  const auto* const function = reinterpret_cast<const void*>(&entry<Kernel>);
  if constexpr (bytes > 48 * 1024) {
    const auto error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (const Status s = status_of(error)) return s;
  }
  void* arguments[] = {const_cast<Kernel*>(&kernel)};
  const dim3 extents{static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), static_cast<unsigned>(grid.z)};
  return status_of(cudaLaunchKernel(function, extents, dim3{Kernel::kThreads}, arguments, bytes, stream));
}

inline Status open_stream(Stream& stream) noexcept { return status_of(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
inline void close_stream(Stream stream) noexcept { (void)status_of(cudaStreamDestroy(stream)); }
/// Waits for all work of the stream.
inline Status finish(Stream stream) noexcept { return status_of(cudaStreamSynchronize(stream)); }

inline Status copy(Stream stream, void* to, const void* from, std::size_t bytes) noexcept {
  return bytes == 0 ? Status{} : status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}
inline Status to_device(Stream stream, void* to, const void* from, std::size_t bytes) noexcept {
  return bytes == 0 ? Status{} : status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
}
inline Status to_host(Stream stream, void* to, const void* from, std::size_t bytes) noexcept {
  return bytes == 0 ? Status{} : status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
}
inline Status clear(Stream stream, void* p, std::size_t bytes) noexcept {
  return bytes == 0 ? Status{} : status_of(cudaMemsetAsync(p, 0, bytes, stream));
}

/// Work of a stream, noted down once and launched as one.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { reset(); }

  /// From here on, the stream's work is noted down in the place of being done.
  Status begin(Stream stream) noexcept { return status_of(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)); }
  /// Must follow `begin`, whatever happened in between.
  Status end(Stream stream) noexcept {
    reset();
    cudaGraph_t captured = nullptr;
    if (const Status s = status_of(cudaStreamEndCapture(stream, &captured))) return s;
    const Status s = status_of(cudaGraphInstantiateWithFlags(&graph_, captured, 0));
    cudaGraphDestroy(captured);
    return s;
  }
  bool ready() const noexcept { return graph_ != nullptr; }
  Status launch(Stream stream) noexcept { return status_of(cudaGraphLaunch(graph_, stream)); }
  void reset() noexcept {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// A moment in a stream's work.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Status record(Stream stream) noexcept {
    if (event_ == nullptr) {
      if (const Status s = status_of(cudaEventCreate(&event_))) return s;
    }
    return status_of(cudaEventRecord(event_, stream));
  }
  /// Until what was recorded last has happened, and so all before it in its stream.
  Status wait() const noexcept { return status_of(cudaEventSynchronize(event_)); }
  /// From `first` to `last`, both of which have happened.
  friend Status elapsed_ms(const Event& first, const Event& last, float& ms) noexcept {
    return status_of(cudaEventElapsedTime(&ms, first.event_, last.event_));
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// On the device in use, at a multiple of 256 bytes. Null is what nothing was allocated for.
inline Status allocate(void*& p, std::size_t bytes) noexcept { return status_of(cudaMalloc(&p, bytes)); }
inline void release(void* p) noexcept { (void)status_of(cudaFree(p)); }
/// Memory of the host that copies to and from a device need not pass through the driver's.
inline Status allocate_pinned(void*& p, std::size_t bytes) noexcept { return status_of(cudaMallocHost(&p, bytes)); }
inline void release_pinned(void* p) noexcept { (void)status_of(cudaFreeHost(p)); }

inline Status count_devices(int& count) noexcept { return status_of(cudaGetDeviceCount(&count)); }
inline Status current_device(int& ordinal) noexcept { return status_of(cudaGetDevice(&ordinal)); }
/// For the calling thread.
inline Status use_device(int ordinal) noexcept { return status_of(cudaSetDevice(ordinal)); }
/// Of the device in use.
inline Status describe_device(DeviceProperties& to) noexcept {
  int ordinal = 0;
  cudaDeviceProp all;
  if (const Status s = current_device(ordinal)) return s;
  if (const Status s = status_of(cudaGetDeviceProperties(&all, ordinal))) return s;
  to.major = all.major;
  to.minor = all.minor;
  to.multiprocessors = all.multiProcessorCount;
  for (std::size_t i = 0; i + 1 < sizeof(to.name) && i < sizeof(all.name) && all.name[i] != 0; ++i) to.name[i] = all.name[i];
  return status_of(cudaMemGetInfo(&to.free_bytes, &to.memory_bytes));
}

}  // namespace onnxc::gpu
#endif
