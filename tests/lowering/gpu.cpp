// Programs for a GPU: which steps it has, why the host has the others, and whose scratch memory is.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "targets/target.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

Program program_of(const std::string& text, const LowerOptions& options = {.devices = Devices::GpuAndCpu}) {
  const Graph graph = run_passes("infer_shapes,lower_elementwise,fuse_expressions,eliminate_dead_code", parse_graph(text));
  Program program = lower_graph(graph, *find_target("cuda-sm80+x86-64-v3"), options, nullptr);
  plan_program(program, options, true);
  check_plan(program);
  return program;
}

std::vector<Call> calls_of(const Program& program) {
  std::vector<Call> calls;
  for_each_call(program.steps, [&](const Call& call, int) { calls.push_back(call); });
  return calls;
}

/// The pointer to scratch memory of the only call, which has `items` threads.
PointerArg scratch_of(const Program& program, int64_t items) {
  const std::vector<Call> calls = calls_of(program);
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].device == Device::Gpu);
  CHECK(calls[0].items == Dim(items));
  std::vector<PointerArg> found;
  for_each_pointer(program.steps[0], [&](const PointerArg& p) {
    if (!(p.thread_stride == Dim(0))) found.push_back(p);
  });
  REQUIRE(found.size() == 1);
  return found[0];
}

TEST_CASE("threads of a GPU have scratch memory of their own") {
  // 25 numbers, in lines of 128 bytes
  const Program program = program_of("graph \"small\" (x: f32[9, 300, 5, 5]) -> (y) {\n  y: ? = Det(x)\n}\n");
  const PointerArg scratch = scratch_of(program, 9 * 300);
  CHECK(scratch.thread_stride == Dim(32));
  CHECK(program[scratch.buffer].bytes == Dim(32 * 8 * 9 * 300));
  CHECK(program[scratch.buffer].device == Device::Gpu);
}

TEST_CASE("there are no more threads than a bounded scratch memory is for") {
  const Program program = program_of("graph \"large\" (x: f32[200, 700, 700]) -> (y) {\n  y: ? = Det(x)\n}\n");
  const PointerArg scratch = scratch_of(program, (32 << 20) / (700 * 700 * 8));
  CHECK(scratch.thread_stride == Dim(700 * 700));
}

TEST_CASE("a kernel that cannot be shared out has one thread of the GPU") {
  const std::vector<Call> calls =
      calls_of(program_of("graph \"unpool\" (x: f32[1, 1, 2, 2], i: i64[1, 1, 2, 2]) -> (y) {\n  y: ? = MaxUnpool(x, i) {kernel_shape = "
                          "[2, 2], strides = [2, 2]}\n}\n"));
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].device == Device::Gpu);
  CHECK(calls[0].items == Dim(1));
}

TEST_CASE("products of bytes have their epilogues in steps of their own on a GPU") {
  const Program program = program_of(
      "graph \"bytes\" (a: u8[3, 8], w: i8[8, 5], s: f32[5]) -> (y) {\n  p: ? = onnxc.ByteMatMul(a, w)\n"
      "  f: ? = Cast(p) {to = 1}\n  y: ? = Mul(f, s)\n}\n");
  const std::vector<Call> calls = calls_of(program);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].kernel == "scalar_matmul");
  CHECK(calls[1].kernel == "gpu_map");
  for (const Call& call : calls) CHECK(call.device == Device::Gpu);
  CHECK(program.host_reasons.empty());
}

TEST_CASE("sums of bytes are sums on a GPU") {
  const std::string text = "graph \"sums\" (x: u8[3, 5]) -> (y) {\n  const axes: i64[2] = [0, 1]\n  y: ? = onnxc.ByteSum(x, axes)\n}\n";
  const std::vector<Call> one = calls_of(program_of(text));
  REQUIRE(one.size() == 1);
  CHECK(one[0].kernel == "gpu_sum_bytes_last");
  LowerOptions options{.devices = Devices::GpuAndCpu};
  options.optimise = false;
  const std::vector<Call> calls = calls_of(program_of(text, options));
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].kernel == "scalar_reduce");
  REQUIRE(std::holds_alternative<RuntimeName>(calls[0].template_args.at(0)));
  CHECK(std::get<RuntimeName>(calls[0].template_args[0]).name == "scalar::Sum");
}

TEST_CASE("what the host computes has a reason") {
  const Program program = program_of(
      "graph \"branches\" (c: bool[], x: f32[4, 8]) -> (z) {\n  y: ? = If(c) captures (x) then_branch graph \"then\" (x: ?) -> (a) {\n"
      "    a: ? = Relu(x)\n  } else_branch graph \"else\" (x: ?) -> (b) {\n    b: ? = Exp(x)\n  }\n  z: ? = Neg(y)\n}\n");
  const std::vector<std::string> reasons = host_reasons_of_steps(program);
  int branches = 0, inside = 0, on_gpu = 0;
  for_each_step(program.steps, [&](const Step& step, int number) {
    const std::string& reason = reasons[static_cast<std::size_t>(number)];
    if (std::holds_alternative<If>(step.action)) {
      CHECK(reason == "the host runs branches and loops");
      ++branches;
    } else if (const Call* const call = step.call(); call != nullptr && call->device == Device::Cpu) {
      CHECK_FALSE(reason.empty());
      ++inside;
    } else {
      CHECK(reason.empty());
      on_gpu += call != nullptr && call->kernel == "gpu_map";
    }
  });
  CHECK(branches == 1);
  CHECK(inside >= 2);
  CHECK(on_gpu == 1);
}

TEST_CASE("values without a bound stay on the host") {
  const Program program = program_of(
      "graph \"sizes\" (n: i64[1], x: f32[2]) -> (y, z) {\n  z: ? = Neg(x)\n"
      "  r: ? = ConstantOfShape(n)\n  y: ? = Neg(r)\n}\n");
  CHECK(program.uses_heap);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.space == Buffer::Space::Heap) CHECK(buffer.device == Device::Cpu);
  }
  CHECK(program.host_reasons.contains("r"));
  CHECK_FALSE(program.host_reasons.contains("z"));
}

/// Of the calls on that device, in order.
std::vector<std::string> kernels_on(const Program& program, Device device) {
  std::vector<std::string> names;
  for (const Call& call : calls_of(program)) {
    if (call.device == device) names.push_back(call.kernel);
  }
  return names;
}

TEST_CASE("attention on a GPU is one kernel") {
  const auto kernels = [](const std::string& values, const std::string& nodes, Math math = Math::Default) {
    return kernels_on(
        program_of("graph \"attention\" (" + values + ") -> (y) {\n" + nodes + "}\n", {.math = math, .devices = Devices::GpuAndCpu}),
        Device::Gpu);
  };
  using Names = std::vector<std::string>;
  const std::string stack = "q: f32[2, 4, 90, 32], k: f32[2, 4, 32, 92], v: f32[2, 4, 92, 32]", mask = ", mask: f32[2, 1, 90, 92]";
  const std::string product = "  s: ? = MatMul(q, k)\n", rest = "  p: ? = Softmax(m) {axis = -1}\n  y: ? = MatMul(p, v)\n";
  // k has keys as columns.
  for (const char* const rule : {"  m: ? = Add(s, mask)\n", "  m: ? = Add(mask, s)\n", "  t: ? = Tanh(s)\n  m: ? = Mul(t, mask)\n"})
    CHECK(kernels(stack + mask, product + std::string(rule) + rest) == Names{"gpu_pack_rows", "gpu_attention"});
  CHECK(kernels(stack, "  m: ? = MatMul(q, k)\n" + rest) == Names{"gpu_pack_rows", "gpu_attention"});
  CHECK(kernels(stack, "  m: ? = MatMul(q, k)\n" + rest, Math::Strict).back() == "gpu_gemm_exact");
  // Heads that lie beside each other are read and written there.
  const std::string heads =
      "  const parts: i64[4] = [0, 0, 4, 32]\n  r: ? = Reshape(x, parts)\n  q: ? = Transpose(r) {perm = [0, 2, 1, 3]}\n"
      "  k: ? = Transpose(r) {perm = [0, 2, 3, 1]}\n  m: ? = MatMul(q, k)\n  p: ? = Softmax(m) {axis = -1}\n  a: ? = MatMul(p, q)\n"
      "  y: ? = Transpose(a) {perm = [0, 2, 1, 3]}\n";
  CHECK(kernels("x: f32[2, 90, 128]", heads) == Names{"gpu_attention"});
  // Few queries have a kernel of their own, whose blocks share the keys.
  const Program few = program_of(
      "graph \"few\" (q: f32[1, 4, 1, 64], k: f32[1, 4, 64, 999], v: f32[1, 4, 999, 64]) -> (y) {\n  m: ? = MatMul(q, k)\n" + rest + "}\n");
  CHECK(kernels_on(few, Device::Gpu) == Names{"gpu_pack_rows", "gpu_attention_decode"});
  CHECK(calls_of(few).back().tickets == 4);
  // Scores that choose themselves, and probabilities that somebody else reads, are no attention.
  CHECK(kernels(stack, product + "  m: ? = Max(s, s)\n  z: ? = Exp(m)\n  p: ? = Softmax(z) {axis = -1}\n  y: ? = MatMul(p, v)\n").back() ==
        "gpu_gemm");
  CHECK(kernels_on(program_of("graph \"two\" (" + stack + ") -> (y, p) {\n  m: ? = MatMul(q, k)\n" + rest + "}\n"), Device::Gpu).back() ==
        "gpu_gemm");
}

TEST_CASE("one product of tf32 takes a third of the time of three") {
  const auto cost = [](Math math) {
    const Program program = program_of("graph \"product\" (a: f32[4096, 4096], b: f32[4096, 4096]) -> (y) {\n  y: ? = MatMul(a, b)\n}\n",
                                       {.math = math, .devices = Devices::GpuAndCpu});
    return calls_of(program).back().cost_ns;
  };
  CHECK(cost(Math::Fast) < 0.5 * cost(Math::Default));
}

TEST_CASE("products with weights of few bits apply their epilogues on a GPU") {
  std::string codes = "1";
  for (int i = 1; i < 8 * 16; ++i) codes += ", 17";
  const Program program =
      program_of("graph \"nbits\" (a: f32[3, 32]) -> (y) {\n  const w: u8[8, 1, 16] = [" + codes +
                 "]\n  const s: f32[8] = [1, 2, 3, 4, 5, 6, 7, 8]\n  p: ? = com.microsoft.MatMulNBits(a, w, s) {K = 32, N = 8, bits = 4, "
                 "block_size = 32}\n  y: ? = Relu(p)\n}\n");
  CHECK(kernels_on(program, Device::Gpu) == std::vector<std::string>{"gpu_gemv_nbits"});
}

TEST_CASE("averages of all pixels are sums of bytes on a GPU") {
  const auto kernels = [](const std::string& weights, const std::string& attributes) {
    return kernels_on(program_of("graph \"average\" (x: u8[2, 2, 2, 3], start: i32[2]) -> (y) {\n  const w: i8[2, 1, 2, 3] = [" + weights +
                                 "]\n  a: ? = onnxc.ByteConv(x, w, start) {group = 2" + attributes + "}\n  y: ? = Cast(a) {to = 1}\n}\n"),
                      Device::Gpu);
  };
  const std::string ones = "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1", others = "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2";
  const auto sums = [](const std::vector<std::string>& names) { return std::ranges::count(names, "gpu_sum_bytes_middle"); };
  CHECK(sums(kernels(ones, "")) == 1);
  CHECK(sums(kernels(ones, ", strides = [2, 3]")) == 1);
  CHECK(sums(kernels(ones, ", pads = [0, 1, 0, 0]")) == 0);
  CHECK(sums(kernels(others, "")) == 0);
}

TEST_CASE("scatters that combine are reference kernels on a GPU") {
  const auto kernels = [](const std::string& reduction) {
    return kernels_on(
        program_of("graph \"scatter\" (x: f32[9, 8], i: i64[3, 1], u: f32[3, 8]) -> (y) {\n  y: ? = ScatterND(x, i, u) {reduction = \"" +
                   reduction + "\"}\n}\n"),
        Device::Gpu);
  };
  CHECK(kernels("none") == std::vector<std::string>{"gpu_scatter_nd"});
  CHECK(kernels("add") == std::vector<std::string>{"scalar_scatter_nd"});
}

TEST_CASE("images of bytes of few channels are pooled on a GPU") {
  const Program program =
      program_of("graph \"pool\" (x: u8[1, 3, 8, 8]) -> (y) {\n  y: ? = MaxPool(x) {kernel_shape = [2, 2], strides = [2, 2]}\n}\n");
  CHECK(program.host_reasons.empty());
  CHECK(kernels_on(program, Device::Gpu) == std::vector<std::string>{"gpu_copy", "gpu_max_pool_bytes", "gpu_copy"});
}

TEST_CASE("images of bytes stay channels-last where they are pooled on a GPU") {
  std::string weights = "1";
  for (int i = 1; i < 16 * 16; ++i) weights += ", 1";
  const Program program = program_of(
      "graph \"pool\" (x: u8[1, 16, 8, 8]) -> (y) {\n  const w: i8[16, 16, 1, 1] = [" + weights +
      "]\n  a: ? = onnxc.ByteConv(x, w)\n"
      "  b: ? = Cast(a) {to = 2}\n  p: ? = MaxPool(b) {kernel_shape = [2, 2], strides = [2, 2]}\n  y: ? = onnxc.ByteConv(p, w)\n}\n");
  const std::vector<std::string> kernels = kernels_on(program, Device::Gpu);
  const auto pool = std::ranges::find(kernels, "gpu_max_pool_bytes");
  REQUIRE((pool != kernels.end() && pool != kernels.begin() && pool + 1 != kernels.end()));
  for (const std::string& beside : {pool[-1], pool[1]}) {  // no copy
    CAPTURE(beside);
    CHECK((beside.starts_with("gpu_gemm") || beside.starts_with("gpu_conv")));
  }
}

TEST_CASE("gathers on a GPU are views where the place is known") {
  const auto kernels = [](const std::string& x, const std::string& index, const std::string& axis) {
    return kernels_on(
        program_of("graph \"gather\" (x: f32" + x + ", d: i64[2]) -> (y) {\n  const c: i64[] = [-1]\n  a: ? = Exp(x)\n  b: ? = Gather(a, " +
                   index + ") {axis = " + axis + "}\n  y: ? = Softmax(b) {axis = -1}\n}\n"),
        Device::Gpu);
  };
  const std::vector<std::string> view{"gpu_map", "gpu_softmax_in_warp"}, picked{"gpu_map", "gpu_gather", "gpu_softmax_in_warp"};
  CHECK(kernels("[3, 5, 8]", "c", "0") == view);
  CHECK(kernels("[1, 5, 8]", "c", "1") == view);
  CHECK(kernels("[3, 5, 8]", "c", "1") == picked);  // whose rows do not lie together
  CHECK(kernels("[3, 5, 8]", "d", "0") == picked);
}

// Places that depend on those before them, which one thread finds, and negation, which pays on a GPU.
constexpr const char* kMixed =
    "graph \"mixed\" (x: f32[1, 1, 1000, 1000], i: i64[1, 1, 1000, 1000]) -> (y) {\n"
    "  u: ? = MaxUnpool(x, i) {kernel_shape = [2, 2], strides = [2, 2]}\n  y: ? = Neg(u)\n}\n";

TEST_CASE("nodes are where they end sooner, unless the caller decides") {
  const Program mixed = program_of(kMixed, {});
  CHECK(kernels_on(mixed, Device::Cpu) == std::vector<std::string>{"scalar_max_unpool"});
  CHECK(kernels_on(mixed, Device::Gpu) == std::vector<std::string>{"to_host", "to_host", "to_device", "gpu_map"});
  REQUIRE(mixed.device_costs);
  CHECK(mixed.device_costs->chosen_ns <= mixed.device_costs->host_ns);
  CHECK(mixed.device_costs->chosen_ns <= mixed.device_costs->gpu_ns);
  CHECK_FALSE(mixed.device_costs->transfers.empty());
  CHECK(kernels_on(program_of(kMixed, {.devices = Devices::Gpu}), Device::Cpu).empty());
  CHECK_THROWS_WITH(program_of("graph \"text\" (x: string[4]) -> (y) {\n  y: ? = StringNormalizer(x)\n}\n", {.devices = Devices::Gpu}),
                    Catch::Contains("cannot run on a GPU"));
}

/// Bytes of weights and arena on the GPU.
int64_t bytes_on_gpu(const Program& program) {
  int64_t bytes = program.device_arena.bytes.value();
  for (const Buffer& b : program.buffers) {
    if (b.space == Buffer::Space::Weights && b.device == Device::Gpu) bytes += (b.bytes.value() + 255) / 256 * 256;
  }
  return bytes;
}

TEST_CASE("what does not fit into the GPU's memory stays on the host") {
  // Two layers with a megabyte of weights each.
  Graph graph = run_passes("infer_shapes", parse_graph("graph \"layers\" (x: f32[64, 512], a: f32[512, 512], b: f32[512, 512]) -> (y) {\n"
                                                       "  h: ? = MatMul(x, a)\n  y: ? = MatMul(h, b)\n}\n"));
  for (const ValueId weights : {graph.inputs[1], graph.inputs[2]}) {
    TensorData data = TensorData::zeros(ElementType::F32, {512, 512});
    std::ranges::fill(data.as<float>(), static_cast<float>(weights));  // those of the layers differ
    graph[weights].constant = std::make_shared<TensorData>(std::move(data));
  }
  graph.inputs.resize(1);
  const auto lowered = [&](int64_t memory) {
    const LowerOptions options{.devices = Devices::GpuAndCpu, .gpu_memory = memory};
    Program program = lower_graph(graph, *find_target("cuda-sm80+x86-64-v3"), options, nullptr);
    plan_program(program, options, false);
    return program;
  };
  constexpr int64_t kMegabyte = 1 << 20;
  CHECK(kernels_on(lowered(INT64_MAX), Device::Cpu).empty());
  CHECK(kernels_on(lowered(4 * kMegabyte), Device::Cpu).empty());
  const Program one = lowered(2 * kMegabyte);
  CHECK(kernels_on(one, Device::Cpu).size() >= 1);
  CHECK(kernels_on(one, Device::Gpu).size() >= 2);  // a layer, and a transfer
  CHECK(bytes_on_gpu(one) <= 2 * kMegabyte);
  CHECK(bytes_on_gpu(lowered(kMegabyte / 2)) <= kMegabyte / 2);
  CHECK_THROWS_WITH(lowered(1000), Catch::Contains("too few"));
}

TEST_CASE("nodes whose values are too large for the GPU's memory stay on the host") {
  const Graph graph = run_passes("infer_shapes", parse_graph("graph \"sums\" (x: f32[1024, 1024]) -> (y) {\n"
                                                             "  const axis: i64[1] = [1]\n"
                                                             "  p: ? = Softmax(x) {axis = 1}\n"
                                                             "  s: ? = ReduceSum(p, axis)\n"
                                                             "  y: ? = Softmax(s) {axis = 0}\n}\n"));
  const LowerOptions options{.devices = Devices::GpuAndCpu, .gpu_memory = 1 << 20};
  Program program = lower_graph(graph, *find_target("cuda-sm80+x86-64-v3"), options, nullptr);
  plan_program(program, options, false);
  CHECK(bytes_on_gpu(program) <= 1 << 20);
  CHECK(kernels_on(program, Device::Gpu) == std::vector<std::string>{"to_host", "to_device", "gpu_softmax_in_warp"});
}

}  // namespace
}  // namespace onnxc
