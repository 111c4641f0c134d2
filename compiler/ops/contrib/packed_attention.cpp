// com.microsoft.PackedAttention, PackedMultiHeadAttention: the tokens of all sequences of a batch one after the
// other, without padding. They are spread to [batch, tokens] by token_offset, whose first elements state the index of
// each; the lengths are the differences of cumulative_sequence_length.
#include "compiler/ops/contrib/attention.h"

namespace onnxc {
namespace {

struct Packing {
  Composition& c;
  Dim batch, tokens;  ///< after spreading
  ValueId indices;    ///< [packed tokens]: into batch times tokens
  ValueId seen;       ///< [batch, 1, 1, tokens]: the keys that exist

  Packing(Composition& composition, int offset, int cumulative, Dim packed) : c(composition) {
    c.need_rank(offset, 2, "[batch, tokens]");
    c.need_rank(cumulative, 1, "[batch + 1]");
    batch = c.extent(c.raw(offset), 0), tokens = c.extent(c.raw(offset), 1);
    indices = c.slice(c.reshape(cast_to(c.b, c.raw(offset), ElementType::I64), {batch * tokens}), 0, packed, 0);
    const ValueId ends = cast_to(c.b, c.raw(cumulative), ElementType::I64);
    const ValueId lengths = c.sub(c.slice(ends, 1, batch + 1, 0), c.slice(ends, 0, batch, 0));
    seen = c.unsqueeze(c.op("Less", {c.unsqueeze(c.count(tokens), {0}), c.unsqueeze(lengths, {1})}), {1, 2});
  }
  /// [packed tokens, channels] as [batch, tokens, channels], with zeros where there is no token, and the reverse.
  ValueId spread(ValueId x) {
    const Dim channels = c.extent(x, 1);
    const ValueId all = c.op("ScatterND", {c.zeros(c.type, {batch * tokens, channels}), c.unsqueeze(indices, {1}), x});
    return c.reshape(all, {batch, tokens, channels});
  }
  ValueId packed(ValueId x) { return c.op("Gather", {c.reshape(x, {batch * tokens, c.extent(x, 2)}), indices}, {{"axis", int64_t{0}}}); }

  Results attention(ValueId q, ValueId k, ValueId v, int64_t heads, ValueId bias) {
    Heads h{.q = split_heads(c, spread(q), heads), .k = split_heads(c, spread(k), heads), .v = split_heads(c, spread(v), heads)};
    h.bias = c.op("Where", {seen, bias == kAbsent ? c.constant(0) : bias,
                            c.constant(c.type == ElementType::F64 ? -1.7976931348623157e308 : -3.4028234663852886e38)});
    h.scale = attention_scale(c, c.extent(h.q, 3));
    return {{c.out(packed(join_heads(c, attend(c, h).y)))}};
  }
};

/// input, weights, bias, token_offset, cumulative_sequence_length, attention_bias.
Results packed_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  c.need_rank(0, 2, "[packed tokens, channels]");
  c.need_rank(1, 2, "[channels, q + k + v]");
  c.need_rank(5, 4, "[batch or 1, heads or 1, tokens, tokens]");
  std::vector<int64_t> sizes = node.integers("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, c.known_extent(c.raw(1), 1) / 3);
  if (sizes.size() != 3) c.fail(fmt::format("qkv_hidden_sizes has {} values, not 3", sizes.size()));
  const auto parts = c.split(c.add(c.matmul(c.in(0), c.in(1)), c.in(2)), {sizes[0], sizes[1], sizes[2]}, 1);
  return Packing(c, 3, 4, c.extent(c.raw(0), 0)).attention(parts[0], parts[1], parts[2], c.positive("num_heads"), c.in(5));
}

/// query, key, value, bias, token_offset, cumulative_sequence_length, attention_bias. q, k and v may be one tensor:
/// [packed tokens, heads, 3, size].
Results packed_multi_head_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  c.need_rank(6, 4, "[batch or 1, heads or 1, tokens, tokens]");
  for (int i : {4, 5}) {
    if (!c.has(i)) c.fail(fmt::format("input {} is missing", i));
  }
  const int64_t heads = c.positive("num_heads");
  const Dim packed = c.extent(c.raw(0), 0);
  std::vector<ValueId> parts{c.in(0), c.in(1), c.in(2)};
  if (parts[1] == kAbsent) {
    c.need_rank(0, 4, "[packed tokens, heads, 3, size]");
    const Dim size = c.extent(c.raw(0), 3);
    parts = c.split(parts[0], {1, 1, 1}, 2);
    for (ValueId& part : parts) part = c.reshape(part, {packed, heads * size});
  } else {
    for (int i : {0, 1, 2}) c.need_rank(i, 2, "[packed tokens, channels]");
    if (!c.has(2)) c.fail("the value is missing");
  }
  if (c.has(3)) {
    const Dim width = c.extent(parts[0], 1);
    const auto biases = c.split(c.in(3), {width, width, c.extent(parts[2], 1)}, 0);
    for (std::size_t i = 0; i < 3; ++i) parts[i] = c.add(parts[i], biases[i]);
  }
  return Packing(c, 4, 5, packed).attention(parts[0], parts[1], parts[2], heads, c.in(6));
}

}  // namespace

std::span<const Operator> table_packed_attention() {
  static const Operator rows[] = {
      {.name = "PackedAttention", .domain = kMicrosoft, .min_inputs = 5, .max_inputs = 6, .max_outputs = 1, .decompose = packed_attention},
      {.name = "PackedMultiHeadAttention",
       .domain = kMicrosoft,
       .min_inputs = 1,
       .max_inputs = 7,
       .max_outputs = 1,
       .decompose = packed_multi_head_attention},
  };
  return rows;
}

}  // namespace onnxc
