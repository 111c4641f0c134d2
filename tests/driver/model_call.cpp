#include "tools/driver/model_call.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "tests/codegen/compile_and_run.h"
#include "tools/driver/build_library.h"
#include "tools/driver/process.h"
#include "tools/driver/thread_team.h"
#include "tools/driver/unit_library.h"

namespace onnxc {
namespace {

// A unit as onnxc emits it: y = 2x for x of [n, 3], with n in 1..8. It also writes BEHIND elements after the end of
// y.
constexpr const char* kTwice = R"(
#include <onnxc/base.hpp>
namespace twice {
const int64_t shape[] = {-1, 3};
const onnxc_tensor_info inputs[] = {{"x", "x", 1, 2, shape}}, outputs[] = {{"y", "y", 1, 2, shape}};
const onnxc_symbol_info symbols[] = {{"n", 1, 8}};
struct Body { const float* x; float* y; };
int32_t run(const onnxc_call* call) {
  if (call->arena_bytes < 100) return ONNXC_SMALL_ARENA;
  const int64_t n = call->symbols[0];
  Body body{static_cast<const float*>(call->inputs[0]), static_cast<float*>(call->outputs[0])};
  const auto row = [](void* context, int32_t i) {
    auto& b = *static_cast<Body*>(context);
    for (int k = 0; k < 3; ++k) b.y[3 * i + k] = 2 * b.x[3 * i + k];
  };
  if (call->executor != nullptr) {
    call->executor->parallel_for(call->executor->self, static_cast<int32_t>(n), row, &body);
  } else {
    for (int32_t i = 0; i < n; ++i) row(&body, i);
  }
  for (int i = 0; i < BEHIND; ++i) body.y[3 * n + i] = 0;
  if (call->output_shapes != nullptr) call->output_shapes[0][0] = n, call->output_shapes[0][1] = 3;
  return 0;
}
const onnxc_model model = {sizeof(onnxc_model), "twice", "0", "", "native", 1, 1, 1, inputs, outputs, symbols, 128, 0,
    [](const int64_t*) -> size_t { return 100; },
    [](const int64_t* s, int32_t, int64_t* extents) { extents[0] = s[0]; extents[1] = 3; }, run};
}
extern "C" const onnxc_model* twice_model(void) { return &twice::model; }
)";

/// Uses a cache of its own.
struct Cache {
  test::TemporaryFolder folder;
  Cache() { setenv("ONNXC_CACHE", folder.path().c_str(), 1); }
  ~Cache() { unsetenv("ONNXC_CACHE"); }
};

BuildRequest twice(int behind = 0) {
  return {{{"twice.cpp", Text(kTwice)}}, {"twice.cpp"}, {}, {"-O1", "-DBEHIND=" + std::to_string(behind)}, {}};
}

TensorData rows(int64_t n, int64_t columns = 3) {
  TensorData t = TensorData::zeros(ElementType::F32, {n, columns});
  for (std::size_t i = 0; i < t.as<float>().size(); ++i) t.as<float>()[i] = static_cast<float>(i);
  return t;
}

TEST_CASE("a unit is built once, loaded and called") {
  const Cache cache;
  const auto path = build_library(twice());
  CHECK(build_library(twice()) == path);
  CHECK(build_library(twice(1)) != path);
  const UnitLibrary library(path);
  const onnxc_model& model = library.model("twice_model");
  CHECK_THROWS_AS(library.model("thrice_model"), Error);
  ThreadTeam team(3);
  for (const onnxc_executor* executor : {static_cast<const onnxc_executor*>(nullptr), team.executor()}) {
    for (int64_t n : {1, 5, 8}) {
      const HostValue x = HostValue::of(rows(n));
      const std::vector<const HostValue*> inputs{&x};
      ModelCall call(model, inputs, executor);
      CHECK(call.symbols() == std::vector<int64_t>{n});
      REQUIRE(call.run() == 0);
      const TensorData y = call.output(0).tensor;
      CHECK(y.shape == x.tensor.shape);
      for (std::size_t i = 0; i < y.as<float>().size(); ++i) CHECK(y.as<float>()[i] == 2 * x.tensor.as<float>()[i]);
      CHECK(call.find_stray_write().empty());
    }
  }
}

TEST_CASE("inputs that do not fit are refused") {
  const Cache cache;
  const UnitLibrary library(build_library(twice()));
  const onnxc_model& model = library.model("twice_model");
  const auto error = [&](const TensorData& tensor) {
    const HostValue x = HostValue::of(tensor);
    const std::vector<const HostValue*> inputs{&x};
    try {
      const ModelCall call(model, inputs);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error(rows(2)).empty());
  CHECK(error(rows(9)).find("input 'x' was given f32[9, 3]: n lies in 1..8") != std::string::npos);
  CHECK(error(rows(2, 4)).find("dimension 1 is 3") != std::string::npos);
  CHECK(error(TensorData::zeros(ElementType::F32, {3})).find("it has 2 dimensions") != std::string::npos);
  CHECK(error(TensorData::zeros(ElementType::F64, {2, 3})).find("its type is f32") != std::string::npos);
  CHECK_THROWS_AS(ModelCall(model, {}), Error);
}

TEST_CASE("writes behind an output are seen") {
  const Cache cache;
  const UnitLibrary library(build_library(twice(1)));
  const HostValue x = HostValue::of(rows(8));
  const std::vector<const HostValue*> inputs{&x};
  ModelCall call(library.model("twice_model"), inputs);
  REQUIRE(call.run() == 0);
  CHECK(call.find_stray_write() == "bytes behind output 'y' were written");
}

TEST_CASE("what does not compile says why") {
  const Cache cache;
  try {
    build_library({{{"bad.cpp", Text("int x = ;\n")}}, {"bad.cpp"}, {}, {}, {}});
    FAIL("it was built");
  } catch (const BuildError& error) {
    CHECK(std::string(error.what()).find("bad.cpp:1") != std::string::npos);
  }
  CHECK(std::filesystem::is_empty(cache.folder.path() / "units"));
}

TEST_CASE("a team runs every index once, again and again") {
  for (int threads : {1, 2, 5}) {
    const ThreadTeam team(threads);
    if (threads == 1) {
      CHECK(team.executor() == nullptr);
      continue;
    }
    for (int round = 0; round < 300; ++round) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(round % 17));
      const onnxc_executor& executor = *team.executor();
      executor.parallel_for(
          executor.self, round % 17,
          [](void* context, int32_t i) { ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<std::size_t>(i)]; }, &seen);
      for (const auto& count : seen) REQUIRE(count == 1);
    }
  }
}

TEST_CASE("processes end by themselves, by a signal or by the clock") {
  CHECK(run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}).exit_code == 3);
  CHECK(run_process({"sh", "-c", "echo out; echo err >&2"}).output == "out\nerr\n");
  CHECK(run_process({"sh", "-c", "kill -SEGV $$"}).signal == SIGSEGV);
  CHECK(run_process({"sleep", "100"}, 0.2).timed_out);
  CHECK_THROWS_AS(run_process({"/no/such/program"}), Error);
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
}

}  // namespace
}  // namespace onnxc
