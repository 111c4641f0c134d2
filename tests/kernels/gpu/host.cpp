// The host's side of the emulated GPU: streams, whose work is done as late as it may, graphs, events, memory, and Queue.
#include <string>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

struct Increment {
  static constexpr int kThreads = 32;
  struct Shared {};
  int* y;
  ONNXC_DEVICE void operator()(Shared&) const { y[thread()] += 1; }
};

struct OpenStream {
  Stream stream{};
  OpenStream() { REQUIRE(!open_stream(stream)); }
  ~OpenStream() { close_stream(stream); }
};

int first_of(const OnDevice<int>& y) { return y.host()[0]; }

}  // namespace

TEST_CASE("work of a stream is done when the stream is waited for, in its order") {
  const OpenStream s;
  const OnDevice<int> y(32), z(32);
  const std::vector<int> fives(32, 5);
  std::vector<int> back(32, 0);
  REQUIRE(!to_device(s.stream, y.data(), fives.data(), 128));
  REQUIRE(!launch(s.stream, Increment{y.data()}, {1, 1, 1}));
  REQUIRE(!copy(s.stream, z.data(), y.data(), 128));
  REQUIRE(!clear(s.stream, y.data(), 64));
  REQUIRE(!to_host(s.stream, back.data(), z.data(), 128));
  REQUIRE(first_of(z) == -1);
  REQUIRE(back == std::vector<int>(32, 0));
  REQUIRE(!finish(s.stream));
  REQUIRE(back == std::vector<int>(32, 6));
  REQUIRE(first_of(y) == 0);
  REQUIRE(y.host()[16] == 6);
  REQUIRE(!copy(s.stream, nullptr, nullptr, 0));
}

TEST_CASE("a graph does what was noted down, as often as it is launched") {
  const OpenStream s;
  const OnDevice<int> y(std::vector<int>(32, 0));
  Graph graph;
  REQUIRE(!graph.ready());
  REQUIRE(!graph.begin(s.stream));
  REQUIRE(!launch(s.stream, Increment{y.data()}, {1, 1, 1}));
  REQUIRE(!launch(s.stream, Increment{y.data()}, {1, 1, 1}));
  REQUIRE(finish(s.stream).code == ONNXC_DEVICE_FAILED);
  REQUIRE(!graph.end(s.stream));
  REQUIRE(graph.ready());
  REQUIRE(!finish(s.stream));
  REQUIRE(first_of(y) == 0);
  for (int i = 0; i < 3; ++i) REQUIRE(!graph.launch(s.stream));
  graph.reset();  // launches that wait need it no more
  REQUIRE(!graph.ready());
  REQUIRE(!finish(s.stream));
  REQUIRE(first_of(y) == 6);
  REQUIRE(graph.begin(nullptr).code == ONNXC_DEVICE_FAILED);
}

TEST_CASE("events tell how long the work between them took") {
  const OpenStream s;
  const OnDevice<int> y(std::vector<int>(32, 0));
  Event first, last;
  float ms = -1;
  REQUIRE(!first.record(s.stream));
  for (int i = 0; i < 50; ++i) REQUIRE(!launch(s.stream, Increment{y.data()}, {1, 1, 1}));
  REQUIRE(!last.record(s.stream));
  REQUIRE(elapsed_ms(first, last, ms).code == ONNXC_DEVICE_FAILED);  // they have not happened
  REQUIRE(!finish(s.stream));
  REQUIRE(!elapsed_ms(first, last, ms));
  REQUIRE(ms > 0);
}

TEST_CASE("an event is waited for with what comes before it, and no more") {
  const OpenStream s;
  const OnDevice<int> y(std::vector<int>(32, 0));
  Event twice;
  for (int i = 0; i < 2; ++i) REQUIRE(!launch(s.stream, Increment{y.data()}, {1, 1, 1}));
  REQUIRE(!twice.record(s.stream));
  REQUIRE(!launch(s.stream, Increment{y.data()}, {1, 1, 1}));
  REQUIRE(!twice.wait());
  REQUIRE(first_of(y) == 2);
  REQUIRE(!twice.wait());
  REQUIRE(first_of(y) == 2);
  REQUIRE(!finish(s.stream));
  REQUIRE(first_of(y) == 3);
}

TEST_CASE("memory is aligned, accounted for, and holds NaNs") {
  const std::size_t before = emulator::bytes_in_use();
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{256}, std::size_t{4096}, std::size_t{100096}}) {
    void* p = nullptr;
    REQUIRE(!allocate(p, bytes));
    REQUIRE(reinterpret_cast<std::uintptr_t>(p) % (bytes % 256 == 0 ? 256 : 16) == 0);
    for (std::size_t i = 0; i < bytes; ++i) REQUIRE(static_cast<const std::byte*>(p)[i] == std::byte{0xFF});
    REQUIRE(emulator::bytes_in_use() == before + bytes);
    release(p);
  }
  release(nullptr);
  void* p = nullptr;
  REQUIRE(allocate(p, SIZE_MAX).code == ONNXC_OUT_OF_MEMORY);
  REQUIRE(p == nullptr);
  REQUIRE(emulator::bytes_in_use() == before);
}

TEST_CASE("a GPU is described") {
  const SettingsKept kept;
  emulator::settings().memory_bytes = 1 << 20;
  DeviceProperties device;
  REQUIRE(!describe_device(device));
  REQUIRE(std::string(device.name) == "onnxc's emulator");
  REQUIRE(device.major >= 8);
  REQUIRE(device.memory_bytes == 1 << 20);
  const OnDevice<int> y(32);
  const std::size_t before = device.free_bytes;
  REQUIRE(!describe_device(device));
  REQUIRE(device.free_bytes == before - 128);
  int count = 0;
  REQUIRE(!count_devices(count));
  REQUIRE(count == 1);
  emulator::settings().devices = 0;
  REQUIRE(count_devices(count).code == ONNXC_DEVICE_FAILED);
  void* p = nullptr;
  REQUIRE(allocate(p, 1).code == ONNXC_DEVICE_FAILED);
}

TEST_CASE("a queue remembers what was refused first, and leaves out what follows") {
  const OpenStream s;
  const OnDevice<int> y(std::vector<int>(32, 0));
  const OnDevice<unsigned> words(std::vector<unsigned>(2, 0));
  Queue queue(s.stream, words.data());
  REQUIRE(queue.status() == words.data());
  REQUIRE(queue.tickets() == words.data() + 1);
  launch(queue, Increment{y.data()}, {1, 1, 1});
  REQUIRE(!queue.result());
  int first = 0;
  (void)queue.to_host(&first, y.data(), sizeof(first));  // waits
  REQUIRE(first == 1);
  launch(queue, Increment{y.data()}, {1, 1, 70000});
  REQUIRE(queue.result().code == ONNXC_DEVICE_FAILED);
  const std::string what = queue.result().what;
  launch(queue, Increment{y.data()}, {1, 1, 1});
  queue.clear(y.data(), 128);
  queue.call([](Stream) { return Status{ONNXC_BAD_VALUE}; });
  REQUIRE(!finish(s.stream));
  REQUIRE(queue.result().code == ONNXC_DEVICE_FAILED);
  REQUIRE(queue.result().what == what);
  REQUIRE(first_of(y) == 1);
}

TEST_CASE("before a step on the host a queue waits for copies from it, and not for work that follows") {
  const OpenStream s;
  const OnDevice<int> y(std::vector<int>(32, 0));
  const OnDevice<unsigned> words(std::vector<unsigned>(1, 0));
  Queue queue(s.stream, words.data());
  std::vector<int> host(32, 5);
  queue.to_device(y.data(), host.data(), 32 * sizeof(int));
  launch(queue, Increment{y.data()}, {1, 1, 1});
  queue.before_host_step();
  host[0] = 100;
  REQUIRE(first_of(y) == 5);
  queue.before_host_step();
  REQUIRE(first_of(y) == 5);
  REQUIRE(!queue.to_host(host.data(), y.data(), sizeof(int)));
  REQUIRE(host[0] == 6);
}
