// A run on memory of the host, for callers that know processors alone: memory of the GPU is taken, filled, and given back. Right, and slow.
#pragma once
#include <initializer_list>
#include <span>

#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

struct HostInput {
  const void* data;
  std::size_t bytes;
};
struct HostOutput {
  void* data;
  std::size_t bytes;
};

namespace detail {

/// A stream, and one allocation from which parts are taken at multiples of 256 bytes.
class Room {
 public:
  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (opened_) close_stream(stream_);
    release(memory_);
  }
  Status open(std::size_t bytes) noexcept {
    if (const Status s = open_stream(stream_)) return s;
    opened_ = true;
    return allocate(memory_, bytes);
  }
  std::byte* take(std::size_t bytes) noexcept {
    std::byte* const at = static_cast<std::byte*>(memory_) + taken_;
    taken_ += rounded(bytes);
    return at;
  }
  Stream stream() const noexcept { return stream_; }
  static constexpr std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 255) / 256 * 256; }

 private:
  Stream stream_ = nullptr;
  void* memory_ = nullptr;
  std::size_t taken_ = 0;
  bool opened_ = false;
};

}  // namespace detail

/// enqueue(inputs, outputs, memory, stream), with pointers to copies on the device of the spans. `host`: the unit's arena on the host.
/// `allocator`: null for a unit that needs none.
template <class Enqueue>
static Status run_once(std::initializer_list<HostInput> in, std::initializer_list<HostOutput> out, std::size_t arena_bytes,
                       std::span<const std::byte> weights, std::byte* host, const onnxc_allocator* allocator, Enqueue enqueue) noexcept {
  constexpr std::size_t kMost = 1024;  // inputs, outputs
  if (in.size() > kMost || out.size() > kMost) return {ONNXC_DEVICE_FAILED, "too many inputs or outputs"};
  std::size_t bytes = detail::Room::rounded(arena_bytes) + detail::Room::rounded(weights.size()) + 256;
  for (const HostInput& x : in) bytes += detail::Room::rounded(x.bytes);
  for (const HostOutput& y : out) bytes += detail::Room::rounded(y.bytes);
  detail::Room room;
  if (const Status s = room.open(bytes)) return s;
  const Stream stream = room.stream();
  const void* inputs[kMost];
  void* outputs[kMost];
  auto* const words = reinterpret_cast<unsigned*>(room.take(sizeof(unsigned)));
  std::byte* const on_device = room.take(weights.size());
  DeviceMemory memory;
  memory.arena = room.take(arena_bytes);
  memory.weights = on_device;
  memory.words = words;
  memory.host = host;
  memory.allocator = allocator;
  if (const Status s = clear(stream, words, sizeof(unsigned))) return s;
  if (const Status s = to_device(stream, on_device, weights.data(), weights.size())) return s;
  std::size_t i = 0;
  for (const HostInput& x : in) {
    std::byte* const at = room.take(x.bytes);
    inputs[i++] = at;
    if (const Status s = to_device(stream, at, x.data, x.bytes)) return s;
  }
  i = 0;
  for (const HostOutput& y : out) outputs[i++] = room.take(y.bytes);
  if (const Status s = enqueue(inputs, outputs, memory, stream)) return s;
  i = 0;
  for (const HostOutput& y : out) {
    if (const Status s = to_host(stream, y.data, outputs[i++], y.bytes)) return s;
  }
  unsigned code = 0;
  if (const Status s = to_host(stream, &code, words, sizeof(code))) return s;
  if (const Status s = finish(stream)) return s;
  return {static_cast<int32_t>(code)};
}

}  // namespace onnxc::gpu
