// Memory of the emulated GPU, and the orders in which a kernel must give the same.
#pragma once
#include <onnxc/gpu/queue.hpp>

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

namespace onnxc::test {

/// An array on the device, which is what a kernel gets; the host sees copies.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count) {
    void* p = nullptr;
    REQUIRE(!gpu::allocate(p, count * sizeof(T)));
    data_ = static_cast<T*>(p);
  }
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) {
    REQUIRE(!gpu::to_device(nullptr, data_, values.data(), count_ * sizeof(T)));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { gpu::release(data_); }

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    REQUIRE(!gpu::to_host(nullptr, values.data(), data_, count_ * sizeof(T)));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

#if defined(__CUDACC__)
/// A GPU has orders of its own.
template <class Call>
void for_orders(Call run) {
  for (int i = 0; i < 3; ++i) run();
}
#else
/// Keeps the emulator's settings as they were.
struct SettingsKept {
  gpu::emulator::Settings before = gpu::emulator::settings();
  ~SettingsKept() { gpu::emulator::settings() = before; }
};

/// Calls run() with blocks and threads in several orders, on one thread of this machine and on two, and with so few blocks that
/// each does one tile after the other where kernels can.
template <class Call>
void for_orders(Call run) {
  const SettingsKept kept;
  const gpu::emulator::Settings& before = kept.before;
  for (const unsigned seed : {0u, 1u, 2u, 3u}) {
    for (const int workers : {1, 2}) {
      gpu::emulator::settings().seed = seed;
      gpu::emulator::settings().workers = workers;
      gpu::emulator::settings().most_blocks = seed == 0 ? before.most_blocks : workers;
      CAPTURE(seed, workers);
      run();
    }
  }
}
#endif

}  // namespace onnxc::test
