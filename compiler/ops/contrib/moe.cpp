// com.microsoft.MoE: each token goes through the k experts that its router prefers. Here every expert sees every token, and a weight of 0 drops what it says of
// those that did not choose it: right for any routing, at the price of all experts.
#include "compiler/ops/contrib/composition.h"

namespace onnxc {
namespace {

/// Weights [experts, tokens, 1]: softmax of the router's scores, kept for the k largest; with normalize_routing_weights these sum to 1.
ValueId routing(Composition& c, ValueId scores, int64_t k) {
  const int64_t experts = c.known_extent(scores, 1);
  if (k > experts) c.fail(fmt::format("k is {} of {} experts", k, experts));
  const ValueId all = c.op("Softmax", {scores}, {{"axis", int64_t{1}}});
  const auto top = c.b.ops("TopK", {all, c.b.integers({k})}, 2, {{"axis", int64_t{1}}});
  ValueId chosen = top[0];
  if (c.integer("normalize_routing_weights", 0) != 0) chosen = c.op("Div", {chosen, c.op("ReduceSum", {chosen, c.b.integers({1})}, {{"keepdims", int64_t{1}}})});
  const ValueId weights = c.op("ScatterElements", {c.zeros(c.type, c.extents(scores)), top[1], chosen}, {{"axis", int64_t{1}}});
  return c.unsqueeze(c.transpose(weights, {1, 0}), {2});
}

/// x [experts, tokens, n] times the transpose of weights [experts, m, n], and a bias [experts, m].
ValueId dense(Composition& c, ValueId x, int weights, int bias) {
  const ValueId y = c.matmul(x, c.transpose(c.in(weights), {0, 2, 1}));
  return c.has(bias) ? c.add(y, c.unsqueeze(c.in(bias), {1})) : y;
}

/// silu(alpha x) without its alpha, times what comes with it plus beta: halves of the last axis, alternating (1) or one after the other (2).
ValueId swiglu(Composition& c, ValueId h, int64_t fusion) {
  const Extents e = c.extents(h);
  const int64_t half = c.known_extent(h, 2) / 2;
  ValueId gate, linear;
  if (fusion == 1) {
    const auto parts = c.split(c.reshape(h, {e[0], e[1], half, 2}), {1, 1}, 3);
    gate = c.op("Squeeze", {parts[0], c.b.integers({3})});
    linear = c.op("Squeeze", {parts[1], c.b.integers({3})});
  } else {
    const auto parts = c.split(h, {half, half}, 2);
    gate = parts[0], linear = parts[1];
  }
  if (c.node.has("swiglu_limit")) {
    const double limit = c.number("swiglu_limit", 0);
    gate = c.op("Min", {gate, c.c(limit)});
    linear = c.op("Clip", {linear, c.c(-limit), c.c(limit)});
  }
  const ValueId on = c.op("Sigmoid", {c.mul(c.c(c.number("activation_alpha", 1)), gate)});
  return c.mul(c.mul(gate, on), c.add(linear, c.c(c.number("activation_beta", 0))));
}

Results moe(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  c.need_rank(1, 2, "[tokens, experts]");
  for (int i : {2, 4, 6}) c.need_rank(i, 3, "[experts, out, in]");
  if (!c.has(4)) c.fail("fc2_experts_weights are missing");
  if (c.integer("use_sparse_mixer", 0) != 0) c.unsupported("use_sparse_mixer is set");
  const Extents shape = c.extents(c.raw(0));
  if (shape.size() != 2 && shape.size() != 3) c.fail(fmt::format("the input has shape {}", text(shape)));
  const std::string activation = node.string("activation_type", "relu");
  const int64_t fusion = c.integer("swiglu_fusion", 0);
  const ValueId x = c.unsqueeze(shape.size() == 2 ? c.in(0) : c.reshape(c.in(0), {shape[0] * shape[1], shape[2]}), {0});
  ValueId h = dense(c, x, 2, 3);
  if (activation == "swiglu") {
    if (fusion != 1 && fusion != 2) c.unsupported(fmt::format("swiglu_fusion is {}", fusion));
    h = swiglu(c, h, fusion);
  } else if (activation == "relu") {
    h = c.op("Relu", {h});
  } else if (activation == "silu") {
    h = c.sigmoid_gate(h);
  } else if (activation == "gelu") {
    h = c.op("Gelu", {h}, {{"approximate", std::string("tanh")}});
  } else if (activation != "identity") {
    c.fail(fmt::format("activation_type is '{}'", activation));
  }
  if (c.has(6)) h = c.mul(h, dense(c, x, 6, 7));
  const ValueId y = c.mul(dense(c, h, 4, 5), routing(c, c.in(1), c.integer("k", 1)));
  const ValueId sum = c.op("ReduceSum", {y, b.integers({0})}, {{"keepdims", int64_t{0}}});
  return {{c.out(c.reshape(sum, shape))}};
}

}  // namespace

extern const Operator op_MoE;
const Operator op_MoE{.name = "MoE", .domain = kMicrosoft, .min_inputs = 3, .max_inputs = 8, .max_outputs = 1, .decompose = moe};

}  // namespace onnxc
