// A unit's work on a stream, so that each step of it is one call.
#pragma once
#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// A stream, the words on the device, and the first call that was refused. Later ones are left out then.
class Queue {
 public:
  Queue(Stream stream, unsigned* words) noexcept : stream_(stream), words_(words) {}

  Stream stream() const noexcept { return stream_; }
  /// Where a kernel says that its data has no result: fetch_max(status(), code). The largest code wins, whenever it comes.
  unsigned* status() const noexcept { return words_; }
  /// Zeros, before a step and after it: tickets of blocks that share work.
  unsigned* tickets() const noexcept { return words_ + 1; }
  /// Whether all has been enqueued. What kernels said is known when they are done.
  Status result() const noexcept { return result_; }

  /// enqueue(stream) unless something was refused before.
  template <class Enqueue>
  void call(Enqueue enqueue) noexcept {
    if (!result_) result_ = enqueue(stream_);
  }
  void copy(void* to, const void* from, std::size_t bytes) noexcept {
    call([&](Stream s) { return gpu::copy(s, to, from, bytes); });
  }
  void clear(void* p, std::size_t bytes) noexcept {
    call([&](Stream s) { return gpu::clear(s, p, bytes); });
  }
  /// Only enqueues: `from` is read until the next wait.
  void to_device(void* to, const void* from, std::size_t bytes) noexcept {
    call([&](Stream s) {
      const Status status = gpu::to_device(s, to, from, bytes);
      return status ? status : read_.record(s);
    });
    host_is_read_ = true;
  }
  /// For a step on the host, which may write where a copy still reads. What was enqueued after the copy goes on beside it.
  void before_host_step() noexcept {
    if (host_is_read_) call([&](Stream) { return read_.wait(); });
    host_is_read_ = false;
  }
  /// Waits for the copy, and so for all before it: the host reads it next.
  Status to_host(void* to, const void* from, std::size_t bytes) noexcept {
    call([&](Stream s) {
      const Status status = gpu::to_host(s, to, from, bytes);
      return status ? status : finish(s);
    });
    host_is_read_ = false;
    return result_;
  }

 private:
  Stream stream_;
  unsigned* words_;
  Status result_;
  Event read_;  ///< the last copy from the host is done
  bool host_is_read_ = false;
};

template <class Kernel>
static void launch(Queue& queue, const Kernel& kernel, Index grid) noexcept {
  queue.call([&](Stream stream) { return launch(stream, kernel, grid); });
}

}  // namespace onnxc::gpu
