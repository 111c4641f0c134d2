// com.microsoft's QAttention and QEmbedLayerNormalization: the optimiser's pieces of BERT on quantised inputs and weights, as compositions.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compiler/ops/contrib/attention.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/quant/integer_product.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/quant/need.h"

namespace onnxc {
namespace {

void need_rank(Inference& n, int i, int rank) {
  if (n.has(i) && n.rank(i) != rank) n.fail(fmt::format("input {} has rank {}; {} is needed", i, n.rank(i), rank));
}

// ---- QAttention: input, weight, bias, input_scale, weight_scale, mask_index, input_zero, weight_zero, past

void infer_attention(Inference& n) {
  const Node& node = n.node();
  for (int i : {0, 1}) need_byte(n, i);
  need_rank(n, 0, 3);
  need_rank(n, 1, 2);
  need_rank(n, 2, 1);
  need_rank(n, 8, 5);
  need_one(n, 3);
  need_one(n, 6);
  need_type(n, 6, n.element(0));
  need_type(n, 7, n.element(1));
  need_type(n, 5, ElementType::I32);
  const int64_t heads = node.integer("num_heads", 0);
  if (heads <= 0) n.fail(fmt::format("num_heads is {}", heads));
  if (node.integer("do_rotary", 0) != 0 || node.integer("past_present_share_buffer", 0) != 0)
    n.unsupported("rotary embeddings or a shared cache", "export without do_rotary and past_present_share_buffer");
  const Extents &x = n.extents(0), &w = n.extents(1);
  n.unify(x[2], w[0], "the input and the weight");
  n.unify(n.extents(2)[0], w[1], "the bias and the weight");
  if (!w[1].is_constant() || w[1].value() % (3 * heads) != 0)
    n.fail(fmt::format("the weight has {} columns for {} heads", w[1].text(), heads));
  const Dim width = floor_div(w[1], 3), past = n.has(8) ? n.extents(8)[3] : Dim(0);
  if (n.has(8)) {
    const Extents wanted{2, x[0], heads, past, floor_div(width, heads)};
    for (std::size_t k = 0; k < 5; ++k) n.unify(n.extents(8)[k], wanted[k], "past");
  }
  if (n.has(5) && n.rank(5) == 2 && !(n.extents(5)[1] == Dim(1))) n.unify(n.extents(5)[1], past + x[1], "the mask and the keys");
  n.output(0, n.element(3), {x[0], x[1], width});
  n.output(1, n.element(3), {2, x[0], heads, past + x[1], floor_div(width, heads)});
}

std::optional<std::vector<ValueId>> decompose_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.result = b.type(node.outputs[0]).element;
  c.type = ElementType::F32;
  const Extents x = c.extents(node.input(0));
  const int64_t heads = c.positive("num_heads"), width = c.known_extent(node.input(1), 1) / 3;
  const auto f32 = [&](ValueId v) { return cast_to(b, v, ElementType::F32); };

  const ValueId product = integer_matmul(b, {node.input(0), as_scalar(b, node.input(6))}, {node.input(1), along(b, node.input(7), 0, 1)});
  const ValueId factor = c.mul(f32(as_scalar(b, node.input(3))), f32(along(b, node.input(4), 0, 1)));
  const auto parts = c.split(c.add(c.mul(f32(product), factor), f32(node.input(2))), {width, width, width}, 2);
  Heads h{.q = split_heads(c, parts[0], heads), .k = split_heads(c, parts[1], heads), .v = split_heads(c, parts[2], heads)};
  Tokens t{.batch = x[0], .queries = x[1], .keys = x[1]};
  if (c.has(8)) {
    t.before = c.extent(node.input(8), 3);
    t.keys = t.before + x[1];
    const auto past = c.split(f32(node.input(8)), {1, 1}, 0);
    h.k = c.concat({c.op("Squeeze", {past[0], b.integers({0})}), h.k}, 2);
    h.v = c.concat({c.op("Squeeze", {past[1], b.integers({0})}), h.v}, 2);
  }
  h.scale = attention_scale(c, c.extent(h.q, 3));
  h.bias = score_bias(c, c.has(5) ? node.input(5) : kAbsent, kAbsent, c.integer("unidirectional", 0) != 0, t);
  std::vector<ValueId> results{c.out(join_heads(c, attend(c, h).y))};
  if (node.has_output(1)) results.push_back(c.out(c.concat({c.unsqueeze(h.k, {0}), c.unsqueeze(h.v, {0})}, 0)));
  return results;
}

// ---- QEmbedLayerNormalization: ids, segments, then quantised word, position, segment, gamma, beta; mask; their scales; their zero points

void infer_embed(Inference& n) {
  need_rank(n, 0, 2);
  for (int i : {0, 1, 7}) need_type(n, i, ElementType::I32);
  for (int i = 2; i < 7; ++i) {
    if (i == 4 && !n.has(4)) continue;
    need_byte(n, i);
    need_rank(n, i, i < 5 ? 2 : 1);
    need_one(n, i + 6);
    need_one(n, i + 11);
    need_type(n, i + 6, ElementType::F32);
    need_type(n, i + 11, n.element(i));
    n.unify(n.extents(i).back(), n.extents(2)[1], "the hidden sizes");
  }
  if (n.has(1) != n.has(4)) n.fail("segment_ids and the segment embedding come together");
  const Extents& ids = n.extents(0);
  n.output(0, ElementType::F32, {ids[0], ids[1], n.extents(2)[1]});
  n.output(1, ElementType::I32, {ids[0]});
}

std::optional<std::vector<ValueId>> decompose_embed(GraphBuilder& b, const Node& node) {
  const Extents ids = b.extents(node.input(0));
  const auto real = [&](ValueId q, int i) { return to_real(b, q, as_scalar(b, node.input(i + 6)), as_scalar(b, node.input(i + 11))); };
  ValueId sum = real(b.op("Gather", {node.input(2), node.input(0)}), 2);
  const ValueId positions = b.op("Slice", {node.input(3), b.integers({0}), b.shape({ids[1]}), b.integers({0})});
  sum = b.op("Add", {sum, real(positions, 3)});
  if (node.has_input(1)) sum = b.op("Add", {sum, real(b.op("Gather", {node.input(4), node.input(1)}), 4)});
  const ValueId y = b.op("LayerNormalization", {sum, real(node.input(5), 5), real(node.input(6), 6)},
                         {{"epsilon", node.number("epsilon", 1e-12f)}, {"axis", int64_t{-1}}});
  if (!node.has_output(1)) return std::vector{y};
  const ValueId lengths = node.has_input(7) ? b.op("ReduceSum", {node.input(7), b.integers({1})}, {{"keepdims", int64_t{0}}})
                                            : b.op("Expand", {b.number(ElementType::I32, 0), b.shape({ids[0]})});
  return std::vector{y, lengths};
}

}  // namespace

std::span<const Operator> table_quantised_transformer() {
  constexpr std::string_view kDomain = "com.microsoft";
  static const Operator list[] = {
      {.name = "QAttention",
       .domain = kDomain,
       .min_inputs = 5,
       .max_inputs = 9,
       .max_outputs = 2,
       .infer = infer_attention,
       .decompose = decompose_attention},
      {.name = "QEmbedLayerNormalization",
       .domain = kDomain,
       .min_inputs = 1,
       .max_inputs = 18,
       .max_outputs = 2,
       .infer = infer_embed,
       .decompose = decompose_embed},
  };
  return list;
}

}  // namespace onnxc
