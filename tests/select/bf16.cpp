// Operands are rounded to bfloat16 on demand alone, where that is faster, and where no reader magnifies errors.
#include <catch2/catch.hpp>

#include <random>
#include <string>

#include "compiler/lowering/lower_graph.h"
#include "compiler/select/weights/pack.h"
#include "targets/target.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

struct Product {
  std::string rows = "128", reader = "z: ? = Relu(y)", target = "zen4";
  int64_t size = 384;
};
/// The kernel of a product by a constant matrix, and what it reads the weights as: "gemm_bf16 bf16".
std::string kernel(const Product& p, Math math, bool flush = true) {
  const std::string n = std::to_string(p.size);
  Graph graph = parse_graph("graph \"g\" (x: f32[" + p.rows + ", " + n + "], w: f32[" + n + ", " + n +
                            "]) -> (z) {\n  y: ? = MatMul(x, w)\n  " + p.reader + "\n}\n");
  std::mt19937 random(1);
  const ValueId w = graph.inputs.back();
  std::vector<float> weights(static_cast<std::size_t>(p.size * p.size));
  for (float& x : weights) x = static_cast<float>(static_cast<int>(random() >> 8) - (1 << 23)) / 3;  // which no narrower type holds
  graph[w].constant = std::make_shared<const TensorData>(TensorData{ElementType::F32, {p.size, p.size}, Bytes::of(std::move(weights)), {}});
  graph.inputs.pop_back();
  graph = run_passes("infer_shapes,lower_elementwise,fuse_expressions,mark_direct,eliminate_dead_code", std::move(graph));
  const Program program = lower_graph(graph, *find_target(p.target), {.math = math, .flush_weights = flush}, nullptr);
  std::string found;
  for_each_call(program.steps, [&](const Call& call, int) {
    for (const Arg& arg : call.args) {
      const auto* const pointer = std::get_if<PointerArg>(&arg);
      if (pointer != nullptr && call.kernel.starts_with("gem") && program[pointer->buffer].element == ElementType::BF16)
        found = call.kernel + " bf16";
    }
    if (found.empty()) found = call.kernel;
  });
  return found;
}

TEST_CASE("operands are rounded to bfloat16 where that was asked for and is faster") {
  CHECK(kernel({}, Math::Bf16) == "gemm_bf16 bf16");
  CHECK(kernel({.rows = "n"}, Math::Bf16) == "gemm_bf16_any bf16");
  CHECK(kernel({.target = "zen5"}, Math::Bf16) == "gemm_bf16 bf16");
  for (const Math math : {Math::Default, Math::Strict, Math::Fast, Math::Reproducible}) CHECK(!kernel({}, math).ends_with("bf16"));
  CHECK(!kernel({.reader = "z: ? = Sign(y)"}, Math::Bf16).ends_with("bf16"));
  CHECK(!kernel({.target = "x86-64-v3"}, Math::Bf16).ends_with("bf16"));
}

TEST_CASE("operands stay floats where subnormal numbers are kept") {
  CHECK(!kernel({}, Math::Bf16, false).ends_with("bf16"));
  CHECK(kernel({.rows = "1", .size = 4096}, Math::Bf16, false) == "gemv bf16");
}

TEST_CASE("weights that a product waits for are rounded where operands are not") {
  CHECK(kernel({.rows = "1", .target = "x86-64-v3", .size = 4096}, Math::Bf16) == "gemv bf16");
  CHECK(kernel({.rows = "1", .size = 4096}, Math::Bf16) == "gemv bf16");
  CHECK(kernel({.rows = "1", .target = "x86-64-v3", .size = 4096}, Math::Default) == "gemv");
  CHECK(kernel({.rows = "1", .reader = "z: ? = Sign(y)", .size = 4096}, Math::Bf16) == "gemv");
}

TEST_CASE("pairs of bfloat16 lie in panels") {
  const std::vector<float> b{1, 2, 3};  // k = 3, n = 1
  const auto code = [](float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); };
  CHECK(pack::bf16_pairs(b, {.k = 3, .n = 1, .nr = 2}) == std::vector<uint16_t>{code(1), code(2), 0, 0, code(3), 0, 0, 0});
  CHECK(pack::bf16_pairs(std::vector<float>{1.00390625F, 1.01171875F}, {.k = 1, .n = 2, .nr = 2}) ==  // halfway: to even
        std::vector<uint16_t>{code(1), 0, code(1.015625F), 0});
}

}  // namespace
}  // namespace onnxc
