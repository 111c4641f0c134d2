// What GPU this is, and what bounds any unit there: launches, and copies on the device and to and from it. One line of JSON.
//
//   machine BYTES SECONDS      bytes of a copy; how long each figure is measured
#include <onnxc/gpu/queue.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/gpu/measure.hpp"

namespace {

using namespace onnxc::gpu;
using onnxc::bench::median_us;
using onnxc::bench::require;

struct Nothing {
  static constexpr int kThreads = 32;
  struct Shared {};
  ONNXC_DEVICE void operator()(Shared&) const {}
};

}  // namespace

int main(int count, char** arguments) {
  require(count == 3, "two arguments");
  const auto bytes = static_cast<std::size_t>(std::atoll(arguments[1]));
  const double seconds = std::atof(arguments[2]);
  DeviceProperties gpu;
  require(describe_device(gpu));
  void *a = nullptr, *b = nullptr, *host = nullptr;
  require(allocate(a, bytes));
  require(allocate(b, bytes));
  require(allocate_pinned(host, bytes));
  std::memset(host, 1, bytes);
  Stream stream{};
  require(open_stream(stream));
  const auto measured = [&](auto work) {
    return median_us(seconds, [&] {
      require(work());
      require(finish(stream));
    });
  };
  const double launch_us = measured([&] { return launch(stream, Nothing{}, {1, 1, 1}); });
  const double up_us = measured([&] { return to_device(stream, a, host, bytes); });
  const double down_us = measured([&] { return to_host(stream, host, a, bytes); });
  const double copy_us = measured([&] { return copy(stream, b, a, bytes); });
  const auto rate = [&](double us) { return static_cast<double>(bytes) / us / 1e3; };
  std::printf(
      "{\"gpu\": \"%s\", \"emulated\": %s, \"capability\": \"%d.%d\", \"multiprocessors\": %d, \"memory_gib\": %.1f, \"launch_us\": %.2f, "
      "\"copied_bytes\": %zu, \"to_device_gb_s\": %.2f, \"to_host_gb_s\": %.2f, \"on_device_gb_s\": %.2f}\n",
      gpu.name, kDevice == ONNXC_CUDA_EMULATED ? "true" : "false", gpu.major, gpu.minor, gpu.multiprocessors,
      kDevice == ONNXC_CUDA_EMULATED ? 0.0 : static_cast<double>(gpu.memory_bytes) / (1 << 30), launch_us, bytes, rate(up_us),
      rate(down_us), 2 * rate(copy_us));
  close_stream(stream);
  release(a);
  release(b);
  release_pinned(host);
}
