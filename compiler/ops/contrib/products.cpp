// com.microsoft: matrix products and convolutions with fused operators.
#include "compiler/ops/contrib/composition.h"

namespace onnxc {
namespace {

using List = std::vector<int64_t>;

// ---- FusedMatMul, TransposeMatMul

/// An operand with its first axis moved after the batch, then the last two exchanged, as requested.
ValueId oriented(Composition& c, ValueId v, bool transpose_batch, bool transpose) {
  const int rank = c.rank(v);
  if (rank < 2) return v;
  if (transpose_batch && rank > 2) {
    List perm;
    for (int64_t k = 1; k + 1 < rank; ++k) perm.push_back(k);
    perm.push_back(0);
    perm.push_back(rank - 1);
    v = c.transpose(v, perm);
  }
  return transpose ? c.swap_last(v) : v;
}

Results fused_matmul(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const ValueId y = c.matmul(oriented(c, c.in(0), c.integer("transBatchA", 0) != 0, c.integer("transA", 0) != 0),
                             oriented(c, c.in(1), c.integer("transBatchB", 0) != 0, c.integer("transB", 0) != 0));
  const double alpha = c.number("alpha", 1);
  return {{c.out(alpha == 1 ? y : c.mul(y, c.constant(alpha)))}};
}

// ---- FusedGemm, FusedConv, NhwcConv

/// The activation that a node names, with its parameters in the order of the operator's attributes.
ValueId activate(Composition& c, ValueId x, const std::string& name, const std::vector<float>& parameters) {
  const auto parameter = [&](std::size_t i, float otherwise) { return i < parameters.size() ? parameters[i] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu" || name == "Sigmoid" || name == "Tanh" || name == "Softplus" || name == "Softsign" || name == "HardSwish" ||
      name == "Identity")
    return c.op(name, {x});
  if (name == "LeakyRelu") return c.op(name, {x}, {{"alpha", parameter(0, 0.01f)}});
  if (name == "ThresholdedRelu" || name == "Elu") return c.op(name, {x}, {{"alpha", parameter(0, 1)}});
  if (name == "HardSigmoid") return c.op(name, {x}, {{"alpha", parameter(0, 0.2f)}, {"beta", parameter(1, 0.5f)}});
  if (name == "Gelu") return c.op(name, {x});
  if (name == "Clip")
    return c.op(name, {x, c.constant(static_cast<double>(parameter(0, -3.4028235e38f))),
                       c.constant(static_cast<double>(parameter(1, 3.4028235e38f)))});
  c.unsupported(fmt::format("activation '{}'", name));
}

Attributes only(const Node& node, std::initializer_list<const char*> names) {
  Attributes kept;
  for (const char* name : names) {
    if (node.has(name)) kept.emplace(name, node.attributes.at(name));
  }
  return kept;
}

Results fused_gemm(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  if (!is_float(b.type(c.raw(0)).element)) c.unsupported(fmt::format("products of {} with an activation", name(b.type(c.raw(0)).element)));
  const ValueId y = c.op("Gemm", {c.in(0), c.in(1), c.in(2)}, only(node, {"transA", "transB", "alpha", "beta"}));
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (node.has(name)) parameters.push_back(node.number(name, 0));
  }
  return {{c.out(activate(c, y, node.string("activation", ""), parameters))}};
}

Attributes conv_attributes(const Node& node) { return only(node, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}); }

Results fused_conv(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  ValueId y = c.op("Conv", {c.in(0), c.in(1), c.in(2)}, conv_attributes(node));
  if (c.has(3)) y = c.add(y, c.in(3));
  std::vector<float> parameters;
  if (const auto it = node.attributes.find("activation_params"); it != node.attributes.end()) {
    if (const auto* list = std::get_if<std::vector<float>>(&it->second)) parameters = *list;
  }
  return {{c.out(activate(c, y, node.string("activation", ""), parameters))}};
}

/// Images and weights with the channels last.
Results nhwc_conv(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const int rank = c.rank(c.raw(0));
  if (rank < 3 || c.rank(c.raw(1)) != rank)
    c.fail(fmt::format("input and weights have shapes {} and {}", text(c.extents(c.raw(0))), text(c.extents(c.raw(1)))));
  List first{0, rank - 1}, last{0};
  for (int64_t k = 1; k + 1 < rank; ++k) first.push_back(k);
  for (int64_t k = 2; k < rank; ++k) last.push_back(k);
  last.push_back(1);
  const ValueId y = c.op("Conv", {c.transpose(c.in(0), first), c.transpose(c.in(1), first), c.in(2)}, conv_attributes(node));
  return {{c.out(c.transpose(y, last))}};
}

// ---- CausalConvWithState: a depthwise convolution over the previous state followed by the input. The new state is
// what precedes the next input. With state_window there is an axis of that many states before the batch, for the last
// positions; states of positions before the call are 0.

Results causal_conv(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  if (c.integer("ndim", 1) != 1) c.unsupported(fmt::format("ndim is {}", c.integer("ndim", 1)), "only one spatial axis is supported");
  const int64_t window = c.integer("state_window", 0);
  if (window < 0 || window > 8) c.fail(fmt::format("state_window is {}; 0 to 8 are allowed", window));
  const bool last = c.integer("channels_last", 0) != 0;
  const int64_t dilation = c.integer("dilation", 1);
  if (dilation < 1) c.fail(fmt::format("dilation is {}", dilation));
  c.need_rank(1, 3, "[channels, 1, kernel]");
  if (!last) c.need_rank(0, 3, "[batch, channels, positions]");
  if (c.rank(c.raw(0)) < 3) c.fail(fmt::format("the input has shape {}", text(c.extents(c.raw(0)))));
  const Extents given = c.extents(c.raw(0));
  const int64_t channels = c.known_extent(c.raw(1), 0), kernel = c.known_extent(c.raw(1), 2), state = (kernel - 1) * dilation;
  /// To [batch, channels, positions] and back.
  const auto planar = [&](ValueId v, Dim positions) {
    return last ? c.transpose(c.reshape(v, {given[0], positions, channels}), {0, 2, 1}) : v;
  };
  const auto as_given = [&](ValueId v, Dim positions) {
    if (!last) return v;
    Extents to{given[0], positions};
    to.insert(to.end(), given.begin() + 2, given.end());
    return c.reshape(c.transpose(v, {0, 2, 1}), to);
  };
  const Dim positions = last ? given[1] : given[2];
  const ValueId x = planar(c.in(0), positions);
  ValueId given_past = c.in(3);
  if (c.has(3) && window > 0) given_past = c.op("Squeeze", {c.slice(given_past, window - 1, window, 0), b.integers({0})});
  const ValueId past = c.has(3) ? planar(given_past, state) : c.zeros(c.type, {given[0], channels, state});
  const ValueId all = c.concat({past, x}, 2);
  const ValueId y =
      c.op("Conv", {all, c.in(1), c.in(2)}, {{"group", channels}, {"dilations", List{dilation}}, {"kernel_shape", List{kernel}}});
  const std::string activation = node.string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") c.fail(fmt::format("activation is '{}'", activation));
  ValueId present;
  if (window == 0) {
    present = as_given(c.slice(all, positions, positions + state, 2), state);
  } else {
    const ValueId padded = c.concat({c.zeros(c.type, {given[0], channels, window}), all}, 2);
    std::vector<ValueId> states;
    for (int64_t back = window - 1; back >= 0; --back) {  // the state after `seen` positions of the call
      const Dim seen = positions - back;
      const ValueId taken = c.op("Where", {c.op("Greater", {b.shape({seen}), b.number(ElementType::I64, 0)}),
                                           c.slice(padded, seen + window, seen + window + state, 2), c.constant(0)});
      states.push_back(c.unsqueeze(as_given(taken, state), {0}));
    }
    present = c.concat(std::move(states), 0);
  }
  return {{c.out(as_given(activation == "none" ? y : c.sigmoid_gate(y), positions)), c.out(present)}};
}

}  // namespace

std::span<const Operator> table_fused_products() {
  const auto row = [](std::string_view name, int least, int most, Results (*decompose)(GraphBuilder&, const Node&), int outputs = 1) {
    return Operator{
        .name = name, .domain = kMicrosoft, .min_inputs = least, .max_inputs = most, .max_outputs = outputs, .decompose = decompose};
  };
  static const Operator rows[] = {
      row("FusedMatMul", 2, 2, fused_matmul), row("TransposeMatMul", 2, 2, fused_matmul), row("FusedGemm", 2, 3, fused_gemm),
      row("FusedConv", 2, 4, fused_conv),     row("NhwcConv", 2, 3, nhwc_conv),           row("CausalConvWithState", 2, 4, causal_conv, 2),
  };
  return rows;
}

}  // namespace onnxc
