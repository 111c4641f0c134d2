// RandomNormal, RandomUniform, their Like forms, Multinomial and Bernoulli. They have no reference value, so they are
// never folded.
#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/random/stream.h"

namespace onnxc {
namespace {

void resolve_random(GraphBuilder& b, Node& node) { choose_stream(b.graph(), node); }

ElementType dtype_of(Inference& n, ElementType otherwise) {
  if (!n.node().has("dtype")) return otherwise;
  const auto type = element_type_numbered(static_cast<int32_t>(n.node().integer("dtype", 0)));
  if (!type || *type == ElementType::Undefined) n.fail(fmt::format("dtype {} does not exist", n.node().integer("dtype", 0)));
  return *type;
}

// ---- RandomNormal, RandomUniform and their Like forms

void infer_random(Inference& n) {
  const bool like = n.node().op.ends_with("Like");
  const ElementType type = dtype_of(n, like ? n.element(0) : ElementType::F32);
  if (type != ElementType::F32 && type != ElementType::F64 && type != ElementType::F16 && type != ElementType::BF16)
    n.fail(fmt::format("the output would be {}, not f16, bf16, f32 or f64", name(type)), like ? "set dtype" : "");
  const bool normal = n.node().op.starts_with("RandomNormal");
  for (const char* attribute : {normal ? "mean" : "low", normal ? "scale" : "high"}) {
    if (!std::isfinite(n.node().number(attribute, 0))) n.fail(fmt::format("{} is not finite", attribute));
  }
  Extents y;
  if (like) {
    y = n.extents(0);
  } else {
    if (!n.node().has("shape")) n.fail("attribute 'shape' is missing");
    for (int64_t extent : n.node().integers("shape")) {
      if (extent < 0) n.fail(fmt::format("shape holds {}", extent));
      y.emplace_back(extent);
    }
  }
  n.output(0, type, std::move(y));
}

void lower_random(KernelQuery& l) {
  const bool normal = l.node().op.starts_with("RandomNormal");
  const auto number = [&](const char* attribute, float otherwise) { return static_cast<double>(l.node().number(attribute, otherwise)); };
  l.call(normal ? "scalar_random_normal" : "scalar_random_uniform")
      .tensor(l.out(0))
      .dim(l.node().integer("stream", 0))
      .number(normal ? number("mean", 0) : number("low", 0), ElementType::F64)
      .number(normal ? number("scale", 1) : number("high", 1), ElementType::F64)
      .emit();
}

// ---- Multinomial

void infer_multinomial(Inference& n) {
  if (n.rank(0) != 2) n.fail(fmt::format("the input has rank {}; [batch, classes] is needed", n.rank(0)));
  if (!is_float(n.element(0))) n.fail(fmt::format("the input is {}, not a float", name(n.element(0))));
  const ElementType type = dtype_of(n, ElementType::I32);
  if (type != ElementType::I32 && type != ElementType::I64) n.fail(fmt::format("dtype is {}, not i32 or i64", name(type)));
  const int64_t samples = n.node().integer("sample_size", 1);
  if (samples < 1) n.fail(fmt::format("sample_size is {}", samples));
  n.output(0, type, {n.extents(0)[0], samples});
}

void lower_multinomial(KernelQuery& l) {
  const View x = l.in(0);
  l.call("scalar_multinomial").tensor(l.out(0)).tensor(x).dim(l.node().integer("stream", 0)).emit();
}

// ---- Bernoulli: 1 with probability x. (The function body in ONNX's schema compares the other way round; ONNX's text
// and ONNX Runtime agree with this.)

void infer_bernoulli(Inference& n) {
  if (!is_float(n.element(0))) n.fail(fmt::format("the input is {}, not a float", name(n.element(0))));
  n.output(0, dtype_of(n, n.element(0)), n.extents(0));
}

std::optional<std::vector<ValueId>> decompose_bernoulli(GraphBuilder& b, const Node& node) {
  const ElementType type = b.type(node.inputs[0]).element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const ValueId p = cast_to(b, node.inputs[0], type);
  const ValueId u = b.op("RandomUniformLike", {p}, {{"stream", node.integer("stream", 0)}});
  return std::vector{cast_to(b, b.op("Less", {u, p}), b.type(node.outputs[0]).element)};
}

}  // namespace

std::span<const Operator> table_random() {
  static const Operator rows[] = {
      {.name = "RandomNormal", .max_inputs = 0, .max_outputs = 1, .resolve = resolve_random, .infer = infer_random, .lower = lower_random},
      {.name = "RandomUniform", .max_inputs = 0, .max_outputs = 1, .resolve = resolve_random, .infer = infer_random, .lower = lower_random},
      {.name = "RandomNormalLike",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .resolve = resolve_random,
       .infer = infer_random,
       .lower = lower_random},
      {.name = "RandomUniformLike",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .resolve = resolve_random,
       .infer = infer_random,
       .lower = lower_random},
      {.name = "Multinomial",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .resolve = resolve_random,
       .infer = infer_multinomial,
       .lower = lower_multinomial},
      {.name = "Bernoulli",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .resolve = resolve_random,
       .infer = infer_bernoulli,
       .decompose = decompose_bernoulli},
  };
  return rows;
}

}  // namespace onnxc
