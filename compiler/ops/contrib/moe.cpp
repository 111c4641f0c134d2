// com.microsoft.MoE and QMoE: each token goes through the k experts that its router prefers. Here every expert
// processes every token, and a weight of 0 drops the results of experts that a token did not choose. This is right
// for any routing, at the cost of all experts. QMoE's quantised weights stay packed: each expert is a MatMulNBits.
#include <functional>

#include "compiler/ops/contrib/composition.h"
#include "compiler/ops/quant/linear.h"

namespace onnxc {
namespace {

/// The weights [experts, tokens, 1] of the chosen experts [tokens, k]; 0 for all others.
ValueId spread(Composition& c, ValueId chosen, ValueId experts, const Extents& shape) {
  const ValueId weights = c.op("ScatterElements", {c.zeros(c.type, shape), experts, chosen}, {{"axis", int64_t{1}}});
  return c.unsqueeze(c.transpose(weights, {1, 0}), {2});
}
ValueId sum_of_chosen(Composition& c, ValueId chosen) { return c.op("ReduceSum", {chosen, c.b.integers({1})}, {{"keepdims", int64_t{1}}}); }
std::vector<ValueId> top(Composition& c, ValueId scores, int64_t k) {
  const int64_t experts = c.known_extent(scores, 1);
  if (k < 1 || k > experts) c.fail(fmt::format("k is {} of {} experts", k, experts));
  return c.b.ops("TopK", {scores, c.b.integers({k})}, 2, {{"axis", int64_t{1}}});
}

/// MoE's weights: the k largest values of the softmax of the router's scores. With normalize_routing_weights their
/// sum becomes 1.
ValueId routing(Composition& c) {
  const ValueId scores = c.in(1);
  const auto best = top(c, c.op("Softmax", {scores}, {{"axis", int64_t{1}}}), c.integer("k", 1));
  ValueId chosen = best[0];
  if (c.integer("normalize_routing_weights", 0) != 0) chosen = c.op("Div", {chosen, sum_of_chosen(c, chosen)});
  return spread(c, chosen, best[1], c.extents(scores));
}

/// QMoE's weights: the softmax of only the k largest scores; or the router_weights of the experts with these scores,
/// unchanged or divided by their sum.
ValueId routing_quantised(Composition& c) {
  const ValueId scores = c.in(1);
  const auto best = top(c, scores, c.integer("k", 1));
  ValueId chosen;
  if (!c.has(14)) {
    chosen = c.op("Softmax", {best[0]}, {{"axis", int64_t{1}}});
  } else {
    chosen = c.op("GatherElements", {c.in(14), best[1]}, {{"axis", int64_t{1}}});
    if (c.integer("normalize_routing_weights", 0) != 0) {
      const ValueId sum = sum_of_chosen(c, chosen), none = c.op("Equal", {sum, c.constant(0)});
      chosen = c.op("Where", {none, c.constant(0), c.op("Div", {chosen, c.op("Where", {none, c.constant(1), sum})})});
    }
  }
  return spread(c, chosen, best[1], c.extents(scores));
}

/// gate * sigmoid(alpha * gate) * (linear + beta).
ValueId swiglu(Composition& c, ValueId gate, ValueId linear) {
  if (c.node.has("swiglu_limit")) {
    const double limit = c.number("swiglu_limit", 0);
    gate = c.op("Min", {gate, c.constant(limit)});
    linear = c.op("Clip", {linear, c.constant(-limit), c.constant(limit)});
  }
  const ValueId on = c.op("Sigmoid", {c.mul(c.constant(c.number("activation_alpha", 1)), gate)});
  return c.mul(c.mul(gate, on), c.add(linear, c.constant(c.number("activation_beta", 0))));
}

/// Applies layer 1, 2 or 3 of all experts, with its bias, to x [1 or experts, tokens, n]: [experts, tokens, m].
using Layer = std::function<ValueId(ValueId x, int number)>;

/// The common part of both. The third layer, if there is one, computes SwiGLU's linear part, unless that is fused
/// with the first layer; with other activations it is a factor.
Results mixture(Composition& c, const Layer& layer, bool has_third, const std::function<ValueId()>& weights) {
  c.need_float();
  c.need_rank(1, 2, "[tokens, experts]");
  if (c.integer("use_sparse_mixer", 0) != 0) c.unsupported("use_sparse_mixer is set");
  const Extents shape = c.extents(c.raw(0));
  if (shape.size() != 2 && shape.size() != 3) c.fail(fmt::format("the input has shape {}", text(shape)));
  const std::string activation = c.node.string("activation_type", "relu");
  const int64_t fusion = c.integer("swiglu_fusion", 0);
  const ValueId x = c.unsqueeze(shape.size() == 2 ? c.in(0) : c.reshape(c.in(0), {shape[0] * shape[1], shape[2]}), {0});
  ValueId h = layer(x, 1);
  if (activation == "swiglu") {
    if (fusion < 0 || fusion > 2) c.fail(fmt::format("swiglu_fusion is {}", fusion));
    if ((fusion == 0) != has_third) c.fail(fmt::format("swiglu_fusion is {}, and fc3 is {}", fusion, has_third ? "given" : "missing"));
    const Extents e = c.extents(h);
    const int64_t half = c.known_extent(h, 2) / 2;
    if (fusion == 0) {
      h = swiglu(c, h, layer(x, 3));
    } else if (fusion == 1) {  // alternating
      const auto parts = c.split(c.reshape(h, {e[0], e[1], half, 2}), {1, 1}, 3);
      h = swiglu(c, c.op("Squeeze", {parts[0], c.b.integers({3})}), c.op("Squeeze", {parts[1], c.b.integers({3})}));
    } else {  // one half after the other
      const auto parts = c.split(h, {half, half}, 2);
      h = swiglu(c, parts[0], parts[1]);
    }
  } else {
    if (activation == "relu") h = c.op("Relu", {h});
    else if (activation == "silu") h = c.sigmoid_gate(h);
    else if (activation == "gelu") h = c.op("Gelu", {h}, {{"approximate", std::string("tanh")}});
    else if (activation != "identity") c.fail(fmt::format("activation_type is '{}'", activation));
    if (has_third) h = c.mul(h, layer(x, 3));
  }
  const ValueId sum = c.op("ReduceSum", {c.mul(layer(h, 2), weights()), c.b.integers({0})}, {{"keepdims", int64_t{0}}});
  return {{c.out(c.reshape(sum, shape))}};
}

// ---- MoE: input, router_probs, then weights [experts, out, in] and bias [experts, out] of each layer

Results moe(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  for (int i : {2, 4, 6}) c.need_rank(i, 3, "[experts, out, in]");
  if (!c.has(4)) c.fail("fc2_experts_weights are missing");
  const auto layer = [&](ValueId x, int number) {
    const int weights = 2 * number, bias = weights + 1;
    const ValueId y = c.matmul(x, c.transpose(c.in(weights), {0, 2, 1}));
    return c.has(bias) ? c.add(y, c.unsqueeze(c.in(bias), {1})) : y;
  };
  return mixture(c, layer, c.has(6), [&] { return routing(c); });
}

// ---- QMoE: input, router_probs, then weights, scales and bias of each layer, the zero points of each,
// router_weights
//
// Weights are [experts, out, in * bits / 8], with the first code of a byte in its lowest bits. Scales are [experts,
// out] with zero points [experts, ceil(out * bits / 8)], or [experts, out, blocks] with zero points [experts, out,
// ceil(blocks * bits / 8)], one code for each scale.

ValueId quantised_layer(Composition& c, ValueId x, int number) {
  GraphBuilder& b = c.b;
  const int at = 3 * number - 1, zeros_at = 10 + number;
  const int64_t all = c.integer("expert_weight_bits", 4), bits = c.integer(fmt::format("fc{}_expert_weight_bits", number).c_str(), all);
  if (bits != 2 && bits != 4 && bits != 8)
    c.unsupported(fmt::format("layer {} has weights of {} bits", number, bits), "2, 4 and 8 are supported");
  for (int i : {at, at + 1}) {
    if (!c.has(i)) c.fail(fmt::format("input {} is missing", i));
  }
  for (int i : {at, zeros_at}) {
    if (c.has(i) && b.type(c.raw(i)).element != ElementType::U8)
      c.unsupported(fmt::format("input {} is {}", i, name(b.type(c.raw(i)).element)), "weights of u8 are supported");
  }
  c.need_rank(at, 3, "[experts, out, bytes]");
  const int64_t experts = c.known_extent(c.raw(at), 0), rows = c.known_extent(c.raw(at), 1), bytes = c.known_extent(c.raw(at), 2),
                k = c.known_extent(x, 2);
  if (bytes != (k * bits + 7) / 8) c.fail(fmt::format("layer {} has {} bytes a row for {} elements of {} bits", number, bytes, k, bits));
  ValueId scales = cast_to(b, c.raw(at + 1), ElementType::F32), zeros = c.has(zeros_at) ? c.raw(zeros_at) : kAbsent;
  const bool in_blocks = c.rank(scales) == 3;
  int64_t block = c.integer("block_size", 0);
  // The largest block that divides a row.
  if (!in_blocks) {
    if (c.rank(scales) != 2) c.fail(fmt::format("the scales of layer {} have shape {}", number, text(c.extents(scales))));
    for (block = 128; block > 16 && k % block != 0;) block /= 2;
  }
  if (block < 16 || (block & (block - 1)) != 0) c.fail(fmt::format("block_size is {}; a power of two from 16 on is needed", block));
  const int64_t blocks = (k + block - 1) / block, needed = blocks * block * bits / 8;
  const Extents wanted = in_blocks ? Extents{experts, rows, blocks} : Extents{experts, rows};
  if (c.extents(scales) != wanted)
    c.fail(fmt::format("the scales of layer {} have shape {}; {} is needed", number, text(c.extents(scales)), text(wanted)));
  const auto repeated = [&](ValueId v) { return c.op("Expand", {c.unsqueeze(v, {2}), b.shape({experts, rows, blocks})}); };
  if (!in_blocks) scales = repeated(scales);
  if (zeros != kAbsent) {
    const bool of_rows = c.rank(zeros) == 2;
    const Extents codes = of_rows ? Extents{experts, (rows * bits + 7) / 8} : Extents{experts, rows, (blocks * bits + 7) / 8};
    if (c.extents(zeros) != codes || (of_rows && in_blocks && blocks > 1) || (!of_rows && !in_blocks))
      c.fail(fmt::format("the zero points of layer {} have shape {}, the scales {}", number, text(c.extents(zeros)),
                         text(c.extents(c.raw(at + 1)))));
    if (of_rows) {
      const ValueId list = c.slice(c.reshape(packed_codes(b, zeros, bits), {experts, codes[1] * (8 / bits)}), 0, rows, 1);
      zeros = repeated(cast_to(b, list, ElementType::F32));
    }
  }
  ValueId weights = c.raw(at);
  if (bytes < needed) weights = c.concat({weights, c.zeros(ElementType::U8, {experts, rows, needed - bytes})}, 2);
  const auto each = [&](ValueId v) {
    return v == kAbsent ? std::vector<ValueId>(static_cast<std::size_t>(experts), kAbsent)
                        : c.split(v, Extents(static_cast<std::size_t>(experts), Dim(1)), 0);
  };
  const bool shared = c.known_extent(x, 0) == 1;
  const auto w = each(weights), s = each(scales), z = each(zeros), from = shared ? std::vector<ValueId>{x} : each(x);
  const Attributes attributes{{"N", rows}, {"K", k}, {"bits", bits}, {"block_size", block}};
  std::vector<ValueId> parts;
  for (std::size_t e = 0; e < w.size(); ++e)
    parts.push_back(c.op("com.microsoft.MatMulNBits", {from[shared ? 0 : e], w[e], s[e], z[e]}, attributes));
  const ValueId y = c.concat(std::move(parts), 0);
  return c.has(at + 2) ? c.add(y, c.unsqueeze(c.in(at + 2), {1})) : y;
}

Results quantised_moe(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  if (c.result == ElementType::F64) c.fail("the input is f64");
  if (const std::string type = node.string("quant_type", "int"); type != "int")
    c.unsupported(fmt::format("quant_type is '{}'", type), "'int' is supported");
  if (c.integer("weights_prepacked", -1) == 1)
    c.unsupported("the weights are packed for another machine", "export with weights_prepacked=0");
  for (int i = 15; i < node.own_inputs(); ++i) {
    if (c.has(i)) c.fail(fmt::format("input {}, a scale of float quantisation, is given with quant_type 'int'", i));
  }
  return mixture(c, [&](ValueId x, int number) { return quantised_layer(c, x, number); }, c.has(8), [&] { return routing_quantised(c); });
}

}  // namespace

std::span<const Operator> table_mixtures() {
  static const Operator rows[] = {
      {.name = "MoE", .domain = kMicrosoft, .min_inputs = 3, .max_inputs = 8, .max_outputs = 1, .decompose = moe},
      {.name = "QMoE", .domain = kMicrosoft, .min_inputs = 3, .max_inputs = 21, .max_outputs = 1, .decompose = quantised_moe},
  };
  return rows;
}

}  // namespace onnxc
