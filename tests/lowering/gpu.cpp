// Programs for a GPU: which steps it has, why the host has the others, and whose scratch memory is.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "targets/target.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

Program program_of(const std::string& text) {
  const Graph graph = run_passes("infer_shapes,lower_elementwise,fuse_expressions,eliminate_dead_code", parse_graph(text));
  const LowerOptions options;
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

TEST_CASE("products of bytes have their epilogues in steps of their own on a GPU") {
  const Program program = program_of(
      "graph \"bytes\" (a: u8[3, 8], w: i8[8, 5], s: f32[5]) -> (y) {\n  p: ? = onnxc.ByteMatMul(a, w)\n"
      "  f: ? = Cast(p) {to = 1}\n  y: ? = Mul(f, s)\n}\n");
  const std::vector<Call> calls = calls_of(program);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].kernel == "scalar_matmul");
  CHECK(calls[1].kernel == "map_scalar");
  for (const Call& call : calls) CHECK(call.device == Device::Gpu);
  CHECK(program.host_reasons.empty());
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
      on_gpu += call != nullptr && call->kernel == "map_scalar";
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

}  // namespace
}  // namespace onnxc
