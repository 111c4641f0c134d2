// Sessions of a unit on the emulated GPU: right results whatever the sizes and orders, and what they answer when memory is
// short, a kernel finds bad data, or a launch is refused.
#include <string>
#include <thread>

#include "tests/kernels/gpu/common.hpp"
#include "tests/kernels/gpu/unit.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

struct Result {
  Status status;
  float total = 0;
  std::vector<float> scaled;
};
Result run(Session& session, int64_t n, float factor = 1) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = factor / static_cast<float>(i + 1);
  Result r;
  r.scaled.resize(x.size());
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {&r.total, r.scaled.data()};
  r.status = session.run({&n, inputs, outputs});
  return r;
}

void check(const Result& r, int64_t n, float factor = 1) {
  CAPTURE(n, factor);
  REQUIRE(r.status.code == ONNXC_OK);
  double total = 0;
  bool right = true;
  for (int64_t i = 0; i < n; ++i) {
    const float v = factor / static_cast<float>(i + 1) * kWeights[i % 4];
    right = right && r.scaled[static_cast<std::size_t>(i)] == v;
    total += v;
  }
  REQUIRE(right);
  REQUIRE(r.total == Approx(total).epsilon(1e-5));
}

/// A unit whose steps need the host, which doubles the smallest of some numbers for an output that stays there, and tells
/// how many there are: | x on the device | n on the host | → | least on the host |. What the host's first step wrote is
/// overwritten by its second while it is still to be copied.
Unit mixed_unit() {
  static constexpr bool kOnHost[] = {false, true, true};
  Unit u{.inputs = 2, .outputs = 1, .on_host = kOnHost, .words = 1, .can_capture = false, .weights = weights_of_unit};
  u.sizes = [](const int64_t*, UnitSizes& to) noexcept {
    to.inputs[0] = kFixed * 4;
    to.inputs[1] = to.outputs[0] = SIZE_MAX;  // which does not matter
    to.arena = 64;
    to.host_arena = kFixed * 4;
    return Status{};
  };
  u.enqueue = [](const Arguments& a, const DeviceMemory& memory, Stream stream) noexcept {
    Queue queue(stream, memory.words);
    float* const host = at<float>(memory.host, 0);
    float* const device = at<float>(memory.arena, 0);
    if (queue.to_host(host, a.inputs[0], kFixed * 4)) return queue.result();
    const auto n = static_cast<std::size_t>(*static_cast<const int*>(a.inputs[1]));
    float least = host[0];
    for (std::size_t i = 1; i < n; ++i) least = host[i] < least ? host[i] : least;
    queue.before_host_step();
    host[0] = 2 * least;
    queue.to_device(device, host, 4);
    queue.before_host_step();
    host[0] = -1;
    if (queue.to_host(a.outputs[0], device, 4)) return queue.result();
    if (a.shapes != nullptr && a.shapes[0] != nullptr) a.shapes[0][0] = static_cast<int64_t>(n);
    return queue.result();
  };
  return u;
}

}  // namespace

TEST_CASE("a session gives the same bits in every run and order") {
  const Unit unit = fixed_unit();
  float first = 0;
  for_orders([&] {
    Session session(unit);
    REQUIRE(!session.open());
    for (int i = 0; i < 7; ++i) {
      const Result r = run(session, kFixed);
      check(r, kFixed);
      if (first == 0) first = r.total;
      REQUIRE(r.total == first);
    }
  });
  Session session(unit);
  enqueued = 0;
  REQUIRE(!session.open());
  for (int i = 0; i < 50; ++i) REQUIRE(run(session, kFixed).total == first);
  REQUIRE(enqueued == 1);  // all else were launches of the graph
}

TEST_CASE("two sessions run at once") {
  const Unit fixed = fixed_unit(), dynamic = dynamic_unit();
  std::vector<Result> results[2];
  const auto work = [](const Unit& unit, std::vector<Result>& to, float factor) {
    Session session(unit);
    if (session.open()) return;
    for (int i = 0; i < 25; ++i) to.push_back(run(session, kFixed, factor));
  };
  std::thread other([&] { work(dynamic, results[1], 2); });
  work(fixed, results[0], 1);
  other.join();
  REQUIRE(results[0].size() == 25);
  REQUIRE(results[1].size() == 25);
  for (const Result& r : results[0]) check(r, kFixed);
  for (const Result& r : results[1]) check(r, kFixed, 2);
}

TEST_CASE("a graph is made when sizes come again, and the last eight are kept") {
  const Unit unit = dynamic_unit();
  for (const bool pinned : {true, false}) {
    Session session(unit);
    REQUIRE(!session.open({.pinned = pinned}));
    check(run(session, 4000), 4000);  // takes the memory that is enough for all that follows
    enqueued = 0;
    const auto expect = [&](int64_t n, int more) {
      const int before = enqueued;
      check(run(session, n), n);
      REQUIRE(enqueued - before == more);
    };
    for (int64_t n = 1; n <= 7; ++n) expect(n * 100, 1);  // seen for the first time
    expect(4000, 1);                                      // the graph is made
    for (int64_t n = 1; n <= 7; ++n) expect(n * 100, 1);
    expect(4000, 0);
    for (int64_t n = 1; n <= 7; ++n) expect(n * 100, 0);
    expect(77, 1);  // in the place of 4000
    expect(300, 0);
    expect(77, 1);
    expect(77, 0);
    expect(4000, 1);  // in the place of 100
    expect(200, 0);
    expect(100, 1);
    expect(5000, 1);  // more memory: all graphs are made anew
    expect(200, 1);
    expect(200, 0);
    REQUIRE(run(session, 0).status.code == ONNXC_BAD_DIMENSION);
    expect(200, 0);
  }
}

TEST_CASE("memory that is short is told, and what fits still runs") {
  const SettingsKept kept;
  const std::size_t before = emulator::bytes_in_use();
  emulator::settings().memory_bytes = before + 4096;
  {
    const Unit fixed = fixed_unit(), dynamic = dynamic_unit();
    Session session(fixed), other(dynamic);
    const Status s = session.open();
    REQUIRE(s.code == ONNXC_OUT_OF_MEMORY);
    REQUIRE(s.what != nullptr);
    REQUIRE(emulator::bytes_in_use() == before);
    REQUIRE(run(session, kFixed).status.code == ONNXC_DEVICE_FAILED);  // it is not open
    REQUIRE(!other.open());
    check(run(other, 100), 100);
    REQUIRE(run(other, 1000).status.code == ONNXC_OUT_OF_MEMORY);
    check(run(other, 100), 100);
    emulator::settings().memory_bytes = SIZE_MAX;
    check(run(other, 1000), 1000);
    REQUIRE(!session.open());
    check(run(session, kFixed), kFixed);
  }
  REQUIRE(emulator::bytes_in_use() == before);
}

TEST_CASE("what kernels find in the data is the run's status, and the next run is none the worse") {
  const Unit unit = fixed_unit();
  for (const bool pinned : {true, false}) {
    Session session(unit);
    REQUIRE(!session.open({.pinned = pinned}));
    for (int i = 0; i < 3; ++i) {
      REQUIRE(run(session, kFixed, -1).status.code == ONNXC_INDEX_OUT_OF_RANGE);
      check(run(session, kFixed), kFixed);
    }
  }
}

TEST_CASE("a launch that is refused is told in the driver's words") {
  const Unit fixed = fixed_unit(), dynamic = dynamic_unit();
  Session session(dynamic), other(fixed);
  REQUIRE(!session.open());
  check(run(session, 100), 100);
  too_many_blocks = 65536;
  const Status opened = other.open();
  const Result captured = run(session, 100), direct = run(session, 200);
  too_many_blocks = 1;
  for (const Status& s : {opened, captured.status, direct.status}) {
    REQUIRE(s.code == ONNXC_DEVICE_FAILED);
    char text[200];
    describe(s, text, sizeof(text));
    REQUIRE(std::string(text) == "the GPU failed: a grid of more blocks than a GPU takes");
  }
  check(run(session, 200), 200);
  check(run(session, 100), 100);
}

TEST_CASE("a GPU that is not there is told") {
  const SettingsKept kept;
  const Unit unit = fixed_unit();
  Session session(unit);
  Status s = session.open({.ordinal = 1});
  REQUIRE(s.code == ONNXC_DEVICE_FAILED);
  REQUIRE(std::string(s.what) == "no such GPU is emulated");
  emulator::settings().devices = 2;
  REQUIRE(!session.open({.ordinal = 1}));
  check(run(session, kFixed), kFixed);
  int ordinal = -1;
  REQUIRE(!current_device(ordinal));
  REQUIRE(ordinal == 0);  // the caller's
  session.close();
  emulator::settings().devices = 0;
  s = session.open();
  REQUIRE(s.code == ONNXC_DEVICE_FAILED);
  REQUIRE(std::string(s.what) == "no GPU is emulated");
}

TEST_CASE("a session on its caller's stream, closed and opened again") {
  const Unit unit = fixed_unit();
  Stream stream{};
  REQUIRE(!open_stream(stream));
  {
    Session session(unit);
    session.close();
    for (int i = 0; i < 2; ++i) {
      REQUIRE(!session.open({.stream = stream}));
      REQUIRE(session.stream() == stream);
      check(run(session, kFixed), kFixed);
      session.close();
    }
    REQUIRE(run(session, kFixed).status.code == ONNXC_DEVICE_FAILED);
    REQUIRE(!session.open());
    check(run(session, kFixed), kFixed);
  }
  close_stream(stream);
}

TEST_CASE("a unit whose steps need the host runs without a graph") {
  Unit unit = fixed_unit();
  unit.can_capture = false;
  Session session(unit);
  enqueued = 0;
  REQUIRE(!session.open());
  for (int i = 0; i < 3; ++i) check(run(session, kFixed), kFixed);
  REQUIRE(enqueued == 3);
}

TEST_CASE("what stays on the host gets there, and a run for callers of the host gives the same") {
  const Unit unit = mixed_unit();
  std::vector<float> x(kFixed, 5.0f);
  x[700] = 3;
  x[900] = 1;
  for (const bool pinned : {true, false}) {
    Session session(unit);
    REQUIRE(!session.open({.pinned = pinned}));
    for (const auto& [n, least] : {std::pair(1000, 1.0f), std::pair(800, 3.0f), std::pair(1, 5.0f)}) {
      for (const bool once : {false, true}) {
        float y = 0;
        int64_t shape = 0;
        const void* const inputs[] = {x.data(), &n};
        void* const outputs[] = {&y};
        int64_t* const shapes[] = {&shape};
        std::vector<std::byte> arena(kFixed * 4);
        const Arguments arguments{nullptr, inputs, outputs, shapes};
        REQUIRE(!(once ? Session::run_once(unit, arguments, arena.data()) : session.run(arguments)));
        REQUIRE(y == 2 * least);
        REQUIRE(shape == n);
      }
    }
  }
}

TEST_CASE("a run of its own takes no graph, and gives its memory back") {
  const Unit unit = fixed_unit();
  const std::size_t before = emulator::bytes_in_use();
  std::vector<float> x(kFixed, 1.0f), scaled(kFixed);
  float total = 0;
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {&total, scaled.data()};
  REQUIRE(!Session::run_once(unit, {nullptr, inputs, outputs}, nullptr));
  REQUIRE(scaled[2] == 3.0f);
  REQUIRE(emulator::bytes_in_use() == before);
}

TEST_CASE("sizes that no memory has are told") {
  Unit unit = dynamic_unit();
  unit.sizes = [](const int64_t*, UnitSizes& to) noexcept {
    to.inputs[0] = to.outputs[0] = to.outputs[1] = 4;
    to.arena = SIZE_MAX;
    return Status{};
  };
  Session session(unit);
  REQUIRE(!session.open());
  REQUIRE(run(session, 1).status.code == ONNXC_OUT_OF_MEMORY);
}

TEST_CASE("a kernel that ends the GPU is told, by this session and by all that come after it") {
  const SettingsKept kept;
  const Unit fixed = fixed_unit(), dynamic = dynamic_unit();
  const std::size_t before = emulator::bytes_in_use();
  const auto expect_failure = [](Status s) {
    REQUIRE(s.code == ONNXC_DEVICE_FAILED);
    char text[200];
    describe(s, text, sizeof(text));
    REQUIRE(std::string(text) == "the GPU failed: an illegal memory access was encountered");
  };
  for (const bool pinned : {true, false}) {
    for (const Unit* unit : {&fixed, &dynamic}) {
      Session session(*unit), other(*unit), late(*unit);
      REQUIRE(!session.open({.pinned = pinned}));
      REQUIRE(!other.open({.pinned = pinned}));
      check(run(session, kFixed), kFixed);
      expect_failure(run(session, kFixed, kEndsTheGpu).status);
      expect_failure(run(session, kFixed).status);
      expect_failure(run(other, kFixed).status);
      expect_failure(late.open());
      session.close();
      other.close();
      REQUIRE(emulator::bytes_in_use() == before);
      emulator::settings().failed = nullptr;  // another process
      REQUIRE(!session.open());
      check(run(session, kFixed), kFixed);
    }
  }
}
