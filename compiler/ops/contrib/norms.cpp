// com.microsoft: normalisations after a sum or before an activation.
#include "compiler/ops/contrib/composition.h"

namespace onnxc {
namespace {

// ---- SkipLayerNormalization, SkipSimplifiedLayerNormalization: the norm of x + skip + bias; outputs: y, mean, inverse deviation, the sum

Results skip_norm(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const bool simple = node.op == "SkipSimplifiedLayerNormalization";
  const int bias = simple ? 3 : 4;
  c.need_float();
  ValueId sum = c.add(c.in(0), c.in(1));
  if (c.has(bias)) sum = c.add(sum, c.in(bias));
  const Attributes attributes{{"axis", int64_t{-1}}, {"epsilon", node.number("epsilon", 1e-12f)}};
  std::vector<ValueId> results(4, kAbsent);
  if (simple) {
    if (node.has_output(1)) c.unsupported("the mean is an output");
    const auto y = b.ops("SimplifiedLayerNormalization", {sum, c.in(2)}, node.has_output(2) ? 2 : 1, attributes);
    results[0] = y[0];
    if (node.has_output(2)) results[2] = y[1];
  } else {
    const int outputs = node.has_output(2) ? 3 : node.has_output(1) ? 2 : 1;
    const auto y = b.ops("LayerNormalization", {sum, c.in(2), c.in(3)}, outputs, attributes);
    for (std::size_t i = 0; i < y.size(); ++i) results[i] = y[i];
  }
  results[0] = c.out(results[0]);
  results[3] = c.out(sum);
  return results;
}

// ---- EmbedLayerNormalization: word, position and segment embeddings, normalised; the mask index counts the mask's ones

Results embed_layer_norm(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_rank(0, 2, "[batch, sequence]");
  for (int i : {2, 3, 4}) c.need_rank(i, 2, "[rows, hidden]");
  for (int i : {2, 3, 5, 6}) {
    if (!c.has(i)) c.fail(fmt::format("input {} is missing", i));
  }
  c.result = b.type(c.raw(2)).element;
  c.type = is_half(c.result) ? ElementType::F32 : c.result;
  const Extents ids = c.extents(c.raw(0));
  const auto pick = [&](int table, ValueId rows) { return c.op("Gather", {c.in(table), rows}, {{"axis", int64_t{0}}}); };
  const ValueId positions = c.has(8) ? pick(3, c.raw(8)) : c.slice(c.in(3), 0, ids[1], 0);
  ValueId sum = c.add(pick(2, c.raw(0)), positions);
  if (c.has(4)) sum = c.add(sum, c.has(1) ? pick(4, c.raw(1)) : c.slice(c.in(4), 0, 1, 0));
  const ValueId y =
      c.op("LayerNormalization", {sum, c.in(5), c.in(6)}, {{"axis", int64_t{-1}}, {"epsilon", node.number("epsilon", 1e-12f)}});
  std::vector<ValueId> results{c.out(y), kAbsent, kAbsent};
  if (node.has_output(1))
    results[1] = c.has(7) ? c.op("ReduceSum", {cast_to(b, c.raw(7), ElementType::I32), b.integers({1})}, {{"keepdims", int64_t{0}}})
                          : c.zeros(ElementType::I32, {ids[0]});
  if (node.has_output(2)) results[2] = c.out(sum);
  return results;
}

// ---- GroupNorm, SkipGroupNorm: channels last unless channels_last=0; activation 1 is x * sigmoid(x)

Results group_norm(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const bool last = c.integer("channels_last", 1) != 0, skips = node.op == "SkipGroupNorm";
  c.need_rank(0, 4, "an image of rank 4");
  const int64_t groups = c.positive("groups"), activation = c.integer("activation", 0);
  if (activation != 0 && activation != 1) c.fail(fmt::format("activation is {}; 0 or 1 are allowed", activation));
  const std::vector<int64_t> first{0, 3, 1, 2}, back{0, 2, 3, 1};
  ValueId x = c.in(0);
  if (skips) {
    ValueId skip = c.in(3);
    if (c.rank(skip) == 2) skip = c.unsqueeze(skip, last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3});
    x = c.add(x, skip);
    if (c.has(4)) x = c.add(x, last ? c.in(4) : c.unsqueeze(c.in(4), {1, 2}));
  }
  const ValueId sum = x;
  const ValueId planar = last ? c.transpose(x, first) : x;
  ValueId y = c.op("GroupNormalization", {planar, cast_to(b, c.in(1), c.type), cast_to(b, c.in(2), c.type)},
                   {{"num_groups", groups}, {"epsilon", node.number("epsilon", 1e-5f)}});
  if (last) y = c.transpose(y, back);
  if (activation == 1) y = c.sigmoid_gate(y);
  return {{c.out(y), skips ? c.out(sum) : kAbsent}};
}

// ---- GatedRMSNorm: RMS norm of each group of scale's length, times an activation of the gate

Results gated_rms_norm(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_rank(1, 1, "[channels]");
  const int64_t channels = c.known_extent(c.raw(1), 0);
  const Extents whole = c.extents(c.raw(0));
  Extents parts = whole;
  if (parts.empty() || channels < 1) c.fail(fmt::format("the input has shape {}, the scale {}", text(whole), channels));
  parts.back() = floor_div(parts.back(), channels);
  parts.push_back(channels);
  const ValueId y =
      c.op("RMSNormalization", {c.reshape(c.in(0), parts), c.in(1)}, {{"axis", int64_t{-1}}, {"epsilon", node.number("epsilon", 1e-5f)}});
  const std::string activation = node.string("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid") c.fail(fmt::format("activation is '{}'", activation));
  const ValueId gate = activation == "sigmoid" ? c.op("Sigmoid", {c.in(2)}) : c.sigmoid_gate(c.in(2));
  return {{c.out(c.mul(c.reshape(y, whole), gate))}};
}

}  // namespace

std::span<const Operator> table_contrib_norms() {
  const auto row = [](std::string_view name, int least, int most, int outputs, Results (*decompose)(GraphBuilder&, const Node&)) {
    return Operator{
        .name = name, .domain = kMicrosoft, .min_inputs = least, .max_inputs = most, .max_outputs = outputs, .decompose = decompose};
  };
  // In some graphs that ONNX Runtime saved, SkipSimplifiedLayerNormalization and similar operators are in the domain
  // ai.onnx.
  static const Operator rows[] = {
      row("SkipLayerNormalization", 3, 5, 4, skip_norm),
      row("SkipSimplifiedLayerNormalization", 3, 4, 4, skip_norm),
      {.name = "EmbedLayerNormalization",
       .domain = kMicrosoft,
       .min_inputs = 1,
       .max_inputs = 9,
       .max_outputs = 3,
       .decompose = embed_layer_norm},
      row("GroupNorm", 3, 3, 1, group_norm),
      row("SkipGroupNorm", 4, 5, 2, group_norm),
      row("GatedRMSNorm", 3, 3, 1, gated_rms_norm),
  };
  return rows;
}

}  // namespace onnxc
