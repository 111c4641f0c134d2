// com.microsoft's products with weights of few bits. MatMulNBits has a kernel that reads them packed. MatMulBnb4 and MatMulFpQ4 are compositions, which
// fold constant weights.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/matmul_nbits.hpp"

namespace onnxc {
namespace {

void need_bytes(Inference& n, int i) {
  if (n.element(i) != ElementType::U8) n.fail(fmt::format("input {} is {}; u8 is needed", i, name(n.element(i))));
}
bool is_scale_type(ElementType type) { return is_float(type) && info(type).bits >= 16; }
bool is_power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

int64_t needed(Inference& n, const char* attribute) {
  const int64_t value = n.node().integer(attribute, 0);
  if (value <= 0 || value > INT32_MAX) n.fail(fmt::format("attribute '{}' is {}", attribute, value));
  return value;
}
int64_t block_size(Inference& n) {
  const int64_t block = needed(n, "block_size");
  if (block < 16 || !is_power_of_two(block)) n.fail(fmt::format("block_size is {}; a power of two from 16 on is needed", block));
  return block;
}
void need_count(Inference& n, int i, Dim count, const char* what) {
  if (n.has(i)) n.unify(element_count(n.extents(i)), count, what);
}

// ---- MatMulNBits: A, B, scales, zero_points, g_idx, bias

void infer_matmul_nbits(Inference& n) {
  const int64_t columns = needed(n, "N"), k = needed(n, "K"), block = block_size(n), bits = n.node().integer("bits", 4),
                blocks = (k + block - 1) / block;
  if (bits != 2 && bits != 4 && bits != 8) n.unsupported(fmt::format("bits is {}", bits), "2, 4 and 8 are supported");
  if (n.has(4)) {
    if (n.element(4) != ElementType::I32) n.fail(fmt::format("g_idx is {}", name(n.element(4))));
    if (const Dim count = element_count(n.extents(4)); count != Dim(k) && count != Dim(blocks * block))
      n.fail(fmt::format("g_idx has shape {} for K={}", text(n.extents(4)), k));
  }
  if (n.node().integer("weight_prepacked", 0) != 0)
    n.unsupported("the weights are packed for another machine", "export with weight_prepacked=0");
  if (!is_scale_type(n.element(0)) || n.element(0) == ElementType::F64) n.fail(fmt::format("A is {}", name(n.element(0))));
  need_bytes(n, 1);
  for (int i : {2, 5}) {
    if (n.has(i) && n.element(i) != n.element(0)) n.fail(fmt::format("input {} is {}, A {}", i, name(n.element(i)), name(n.element(0))));
  }
  need_count(n, 1, columns * blocks * (block * bits / 8), "the bytes of B");
  need_count(n, 2, columns * blocks, "the scales");
  if (n.has(3)) {
    if (n.element(3) == ElementType::U8) need_count(n, 3, columns * ((blocks * bits + 7) / 8), "the zero points");
    else if (n.element(3) == n.element(0)) need_count(n, 3, columns * blocks, "the zero points");
    else n.fail(fmt::format("the zero points are {}", name(n.element(3))));
  }
  need_count(n, 5, columns, "the bias");
  Extents out = n.extents(0);
  if (out.empty()) n.fail("A is a scalar");
  n.unify(out.back(), k, "the last extent of A and K");
  out.back() = columns;
  n.output(0, n.element(0), std::move(out));
}

void evaluate_matmul_nbits(Evaluation& e) {
  const Node& node = e.node();
  const int64_t n = node.integer("N", 0), k = node.integer("K", 0);
  const scalar::MatMulNBitsParams p{.m = e.output(0).count() / n, .n = n, .k = k, .block = node.integer("block_size", 0)};
  for_float(e.type(0), [&]<class T>() {
    const auto with_bits = [&]<int Bits>(auto zeros) {
      scalar::matmul_nbits<Bits, T>(Share{}, e.out<T>().data, e.in<T>(0).data, e.in<uint8_t>(1).data, e.in<T>(2).data, zeros,
                                    e.has(5) ? e.in<T>(5).data : nullptr, p);
    };
    const auto run = [&](auto zeros) {
      switch (node.integer("bits", 4)) {
        case 2: return with_bits.template operator()<2>(zeros);
        case 4: return with_bits.template operator()<4>(zeros);
        default: return with_bits.template operator()<8>(zeros);
      }
    };
    if (!e.has(3)) run(nullptr);
    else if (e.type(3) == ElementType::U8) run(e.in<uint8_t>(3).data);
    else run(e.in<T>(3).data);
  });
}

/// Whether the node has kernels besides the scalar one, which apply epilogues.
bool has_fast_nbits(const Graph& graph, const Node& node) {
  const auto is_constant = [&](int i) { return graph.constant(node.input(i)) != nullptr; };
  return graph[node.inputs[0]].type.element == ElementType::F32 && is_constant(1) && is_constant(2) &&
         (!node.has_input(3) || is_constant(3)) && !node.has_input(4) && !node.has_input(5);
}

void lower_matmul_nbits(KernelQuery& l) {
  if (l.optimise() && has_fast_nbits(l.graph(), l.node())) return lower_fast_nbits(l);
  const Node& node = l.node();
  const int64_t n = node.integer("N", 0), k = node.integer("K", 0);
  const ElementType type = l.type(0).element;
  const View a = l.in(0), w = l.in(1), scales = l.in(2), y = l.out(0);
  const Dim m = floor_div(element_count(y.extents), n);
  StepBuilder step = l.call("matmul_nbits");
  step.template_arg(node.integer("bits", 4)).pointer(y).pointer(a).pointer(w).pointer(scales);
  step.optional_pointer(3);
  step.optional_pointer(5, type);
  step.params({{"m", dim_arg(m)}, {"n", dim_arg(n)}, {"k", dim_arg(k)}, {"block", dim_arg(node.integer("block_size", 0))}});
  step.macs(m * (n * k)).emit();
  l.apply_epilogue(y);
}

/// f16 and bf16 are computed in f32. The bias becomes a sum, which the product applies to its results. With g_idx, which
/// gives the block of scale and zero point for each row of weights, the weights become numbers, which fold, and a product
/// follows.
std::optional<std::vector<ValueId>> decompose_matmul_nbits(GraphBuilder& b, const Node& node) {
  if (!node.has_input(4)) {
    if (auto in_float = compute_in_float(b, node)) return in_float;
    if (!node.has_input(5)) return std::nullopt;
    std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.begin() + 4);
    const ValueId product = b.ops(node.full_op(), std::move(inputs), 1, node.attributes)[0];
    return std::vector{b.op("Add", {product, b.op("Reshape", {node.input(5), b.integers({node.integer("N", 0)})})})};
  }
  const int64_t n = node.integer("N", 0), k = node.integer("K", 0), bits = node.integer("bits", 4), block = node.integer("block_size", 0),
                blocks = (k + block - 1) / block;
  const auto f32 = [&](ValueId v) { return cast_to(b, v, ElementType::F32); };
  const auto shaped = [&](ValueId v, int64_t columns) { return b.op("Reshape", {v, b.integers({n, columns})}); };
  const auto first = [&](ValueId v, int64_t axis) { return b.op("Slice", {v, b.integers({0}), b.integers({k}), b.integers({axis})}); };
  const auto codes = [&](ValueId bytes) { return shaped(packed_codes(b, shaped(bytes, -1), bits), -1); };
  const ValueId groups = first(b.op("Reshape", {node.input(4), b.integers({-1})}), 0);
  const auto of_group = [&](ValueId v) { return b.op("Gather", {v, groups}, {{"axis", int64_t{1}}}); };
  ValueId zeros = b.number(ElementType::F32, static_cast<double>(1 << (bits - 1)));
  if (node.has_input(3))
    zeros = of_group(f32(b.type(node.input(3)).element == ElementType::U8 ? codes(node.input(3)) : shaped(node.input(3), blocks)));
  const ValueId weights =
      b.op("Mul", {b.op("Sub", {f32(first(codes(node.input(1)), 1)), zeros}), of_group(f32(shaped(node.input(2), blocks)))});
  ValueId y = b.op("MatMul", {f32(node.input(0)), b.op("Transpose", {weights}, {{"perm", std::vector<int64_t>{1, 0}}})});
  if (node.has_input(5)) y = b.op("Add", {y, f32(b.op("Reshape", {node.input(5), b.integers({n})}))});
  return std::vector{cast_to(b, y, b.type(node.outputs[0]).element)};
}

// ---- MatMulBnb4: A, B, absmax. B has two codes in each byte, the first in the high bits, which index a table of 16
// values.

constexpr float kTables[2][16] = {
    {0.0f, 5.208333333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f,
     -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f, -0.18477343022823334f,
     -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
     0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f}};

void infer_matmul_bnb4(Inference& n) {
  const int64_t columns = needed(n, "N"), k = needed(n, "K"), block = block_size(n), type = n.node().integer("quant_type", -1);
  if (type != 0 && type != 1) n.fail(fmt::format("quant_type is {}; 0 (FP4) or 1 (NF4) is needed", type));
  if (!is_scale_type(n.element(0))) n.fail(fmt::format("A is {}", name(n.element(0))));
  need_bytes(n, 1);
  need_count(n, 1, (columns * k + 1) / 2, "the bytes of B");
  need_count(n, 2, (columns * k + block - 1) / block, "absmax");
  Extents out = n.extents(0);
  if (out.empty()) n.fail("A is a scalar");
  const bool transposed = n.node().integer("transB", 1) != 0;
  n.unify(out.back(), transposed ? k : columns, "the last extent of A");
  out.back() = transposed ? columns : k;
  n.output(0, n.element(0), std::move(out));
}

std::optional<std::vector<ValueId>> decompose_matmul_bnb4(GraphBuilder& b, const Node& node) {
  const int64_t columns = node.integer("N", 0), k = node.integer("K", 0), block = node.integer("block_size", 0), count = columns * k,
                blocks = (count + block - 1) / block;
  auto table = std::make_shared<TensorData>(TensorData::zeros(ElementType::F32, {16}));
  std::memcpy(table->bytes.data(), kTables[node.integer("quant_type", 0)], table->bytes.size());
  const ValueId codes = packed_codes(b, b.op("Reshape", {node.input(1), b.integers({-1})}), 4);  // low, high
  const ValueId high_first = b.op("Slice", {codes, b.integers({1}), b.integers({-3}), b.integers({1}), b.integers({-1})});
  const ValueId indices = b.op("Reshape", {cast_to(b, high_first, ElementType::I32), b.integers({-1})});
  ValueId values = b.op("Gather", {b.graph().add_constant(node.name + "_table", std::move(table)), indices});
  const ValueId scales = b.op(
      "Expand", {b.op("Reshape", {cast_to(b, node.input(2), ElementType::F32), b.integers({blocks, 1})}), b.integers({blocks, block})});
  const auto first = [&](ValueId v) {
    return b.op("Slice", {b.op("Reshape", {v, b.integers({-1})}), b.integers({0}), b.integers({count})});
  };
  values = b.op("Reshape", {b.op("Mul", {first(values), first(scales)}), b.integers({columns, k})});
  if (node.integer("transB", 1) != 0) values = b.op("Transpose", {values}, {{"perm", std::vector<int64_t>{1, 0}}});
  const ElementType type = b.type(node.outputs[0]).element;
  return std::vector{cast_to(b, b.op("MatMul", {cast_to(b, node.input(0), ElementType::F32), values}), type)};
}

// ---- MatMulFpQ4: A, B, B_shape = [K, N]. For each column, B has blocks of 32 weights along K: the scale as f32; the
// zero point in a byte, unless blk_quant_type is 0 (then it is 8); and 16 bytes whose low halves are the first 16
// codes and whose high halves are the others.

constexpr int64_t kQ4Block = 32;
int64_t q4_header(const Node& node) { return node.integer("blk_quant_type", 1) == 0 ? 4 : 5; }

void infer_matmul_q4(Inference& n) {
  if (n.element(0) != ElementType::F32) n.fail(fmt::format("A is {}; f32 is needed", name(n.element(0))));
  need_bytes(n, 1);
  const std::vector<int64_t> shape = n.known_integers(2, "the shape of B");
  if (shape.size() != 2 || shape[0] <= 0 || shape[1] <= 0 || shape[0] > INT32_MAX || shape[1] > INT32_MAX) n.fail("B_shape is not [K, N]");
  const int64_t blocks = (shape[0] + kQ4Block - 1) / kQ4Block;
  need_count(n, 1, shape[1] * blocks * (q4_header(n.node()) + kQ4Block / 2), "the bytes of B");
  Extents out = n.extents(0);
  if (out.empty()) n.fail("A is a scalar");
  if (out.back() != Dim(shape[0])) n.fail(fmt::format("the last extent of A is {}, K {}", out.back().text(), shape[0]));
  out.back() = shape[1];
  n.output(0, ElementType::F32, std::move(out));
}

std::optional<std::vector<ValueId>> decompose_matmul_q4(GraphBuilder& b, const Node& node) {
  const int64_t header = q4_header(node), n = b.extents(node.outputs[0]).back().value(), k = b.extents(node.input(0)).back().value();
  const int64_t blocks = (k + kQ4Block - 1) / kQ4Block;
  const ValueId blob = b.op("Reshape", {node.input(1), b.integers({n, blocks, header + kQ4Block / 2})});
  const auto part = [&](int64_t first, int64_t last) {
    return b.op("Slice", {blob, b.integers({first}), b.integers({last}), b.integers({2})});
  };
  auto places = std::make_shared<TensorData>(TensorData::zeros(ElementType::U32, {4}));
  for (int i = 0; i < 4; ++i) places->as<uint32_t>()[static_cast<std::size_t>(i)] = uint32_t{1} << (8 * i);
  const ValueId weighted =
      b.op("Mul", {cast_to(b, part(0, 4), ElementType::U32), b.graph().add_constant(node.name + "_places", std::move(places))});
  const ValueId scale = b.op("BitCast", {b.op("ReduceSum", {weighted, b.integers({2})})}, {{"to", static_cast<int64_t>(ElementType::F32)}});
  const ValueId codes = packed_codes(b, part(header, header + kQ4Block / 2), 4);  // [n, blocks, 16, 2]
  const ValueId in_order =
      b.op("Reshape", {b.op("Transpose", {codes}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}), b.integers({n, blocks, kQ4Block})});
  const ValueId values = to_real(b, in_order, scale, header == 5 ? part(4, 5) : b.number(ElementType::U8, 8));
  const ValueId columns =
      b.op("Slice", {b.op("Reshape", {values, b.integers({n, -1})}), b.integers({0}), b.integers({k}), b.integers({1})});
  return std::vector{b.op("MatMul", {node.input(0), b.op("Transpose", {columns}, {{"perm", std::vector<int64_t>{1, 0}}})})};
}

}  // namespace

std::span<const Operator> table_weight_only() {
  constexpr std::string_view kDomain = "com.microsoft";
  static const Operator list[] = {
      {.name = "MatMulNBits",
       .domain = kDomain,
       .min_inputs = 3,
       .max_inputs = 6,
       .max_outputs = 1,
       .infer = infer_matmul_nbits,
       .decompose = decompose_matmul_nbits,
       .evaluate = evaluate_matmul_nbits,
       .lower = lower_matmul_nbits,
       .takes_epilogue = has_fast_nbits},
      {.name = "MatMulBnb4",
       .domain = kDomain,
       .min_inputs = 3,
       .max_inputs = 3,
       .max_outputs = 1,
       .infer = infer_matmul_bnb4,
       .decompose = decompose_matmul_bnb4},
      {.name = "MatMulFpQ4",
       .domain = kDomain,
       .min_inputs = 3,
       .max_inputs = 3,
       .max_outputs = 1,
       .infer = infer_matmul_q4,
       .decompose = decompose_matmul_q4},
  };
  return list;
}

}  // namespace onnxc
