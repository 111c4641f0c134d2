// com.microsoft: Attention (with the projection of its input), MultiHeadAttention, DecoderMaskedMultiHeadAttention.
#include "compiler/ops/contrib/attention.h"

namespace onnxc {
namespace {

/// What is added to the scores of [batch, heads, tokens of q, tokens of k], or kAbsent: mask_filter_value where the mask says so; with `causal`, the lowest
/// number where a key comes after the query, the last of which stand together; a bias of its own.
///
/// Masks of ONNX Runtime: [batch, keys] or [batch, queries, keys], 0 where a key is not seen; [batch], the number of keys that are seen; [2 batch], that, then the
/// first key that is.
ValueId score_bias(Composition& c, ValueId mask, ValueId bias, bool causal, Dim batch, Dim queries, Dim keys, ValueId past) {
  GraphBuilder& b = c.b;
  const ValueId zero = c.c(0), filter = c.c(c.number("mask_filter_value", -10000.0f));
  ValueId sum = kAbsent;
  const auto plus = [&](ValueId v) { sum = sum == kAbsent ? v : c.add(sum, v); };
  if (mask != kAbsent) {
    const Extents shape = c.extents(mask);
    ValueId seen;
    if (shape.size() == 1) {
      const ValueId at = cast_to(b, c.count(keys), b.type(mask).element);  // [keys]
      if (shape[0] == batch) {
        seen = c.op("Less", {at, c.unsqueeze(mask, {1})});
      } else if (shape[0] == 2 * batch) {
        const auto ends = c.split(mask, {batch, batch}, 0);
        seen = c.op("And", {c.op("Less", {at, c.unsqueeze(ends[0], {1})}), c.op("GreaterOrEqual", {at, c.unsqueeze(ends[1], {1})})});
      } else {
        c.unsupported(fmt::format("the mask has shape {} for a batch of {}", text(shape), batch.text()));
      }
      seen = c.unsqueeze(seen, {1, 2});
    } else if (shape.size() == 2 || shape.size() == 3) {
      seen = c.op("Greater", {mask, b.number(b.type(mask).element, 0)});
      seen = c.unsqueeze(seen, shape.size() == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
    } else {
      c.unsupported(fmt::format("the mask has shape {}", text(shape)), "use a mask of rank 1, 2 or 3");
    }
    plus(c.op("Where", {seen, zero, filter}));
  }
  if (causal) {
    const Dim before = past == kAbsent ? Dim(0) : c.extent(past, -2);
    if (const Dim more = keys - queries - before; more.is_constant() && more.value() != 0)
      c.unsupported(fmt::format("unidirectional, with {} queries for {} new keys", queries.text(), (keys - before).text()));
    const ValueId row = c.add(c.unsqueeze(c.count(queries), {1}), b.shape({keys - queries}));
    const ValueId lowest = c.c(c.type == ElementType::F64 ? -1.7976931348623157e308 : -3.4028234663852886e38);
    sum = c.op("Where", {c.op("LessOrEqual", {c.unsqueeze(c.count(keys), {0}), row}), sum == kAbsent ? zero : sum, lowest});
  }
  if (bias != kAbsent) plus(bias);
  return sum;
}

/// past [batch, heads, before, size] and new keys or values, one after the other.
ValueId with_past(Composition& c, ValueId past, ValueId x) { return past == kAbsent ? x : c.concat({past, x}, 2); }

// ---- Attention: q, k and v are products of the input with one matrix

Results attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  c.need_rank(0, 3, "[batch, tokens, channels]");
  c.need_rank(1, 2, "[channels, q + k + v]");
  c.need_rank(4, 5, "[2, batch, heads, before, size]");
  if (c.integer("do_rotary", 0) != 0) c.unsupported("do_rotary is set", "use operator RotaryEmbedding");
  if (c.integer("past_present_share_buffer", 0) != 0 || c.has(6)) c.unsupported("past and present share a buffer");
  const int64_t heads = c.positive("num_heads");
  const Extents x = c.extents(c.raw(0));
  std::vector<int64_t> sizes = node.integers("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, c.known_extent(c.raw(1), 1) / 3);
  if (sizes.size() != 3) c.fail(fmt::format("qkv_hidden_sizes has {} values, not 3", sizes.size()));
  ValueId all = c.matmul(c.in(0), c.in(1));
  if (c.has(2)) all = c.add(all, c.in(2));
  const auto parts = c.split(all, {sizes[0], sizes[1], sizes[2]}, 2);
  Heads h{.q = split_heads(c, parts[0], heads), .k = split_heads(c, parts[1], heads), .v = split_heads(c, parts[2], heads)};
  if (c.has(4)) {
    const auto past = c.split(c.in(4), {1, 1}, 0);
    h.k = with_past(c, c.op("Squeeze", {past[0], b.integers({0})}), h.k);
    h.v = with_past(c, c.op("Squeeze", {past[1], b.integers({0})}), h.v);
  }
  h.scale = attention_scale(c, c.extent(h.q, 3));
  h.bias = score_bias(c, c.raw(3), c.in(5), c.integer("unidirectional", 0) != 0, x[0], x[1], c.extent(h.k, 2), c.raw(4));
  std::vector<ValueId> results{c.out(join_heads(c, attend(c, h).y)), kAbsent};
  if (node.has_output(1)) results[1] = c.out(c.concat({c.unsqueeze(h.k, {0}), c.unsqueeze(h.v, {0})}, 0));
  return results;
}

// ---- MultiHeadAttention, DecoderMaskedMultiHeadAttention

Results multi_head_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  const bool decoder = node.op == "DecoderMaskedMultiHeadAttention";
  // The inputs of the two stand in another order.
  const int bias_input = decoder ? 10 : 3, mask_input = decoder ? 3 : 4, added_input = decoder ? 4 : 5, past_input = decoder ? 5 : 6, shared_input = decoder ? 7 : 8;
  const int64_t heads = c.positive("num_heads");
  if (c.integer("past_present_share_buffer", 0) != 0) c.unsupported("past and present share a buffer");
  for (int i : {shared_input, shared_input + 1, shared_input + 2}) {
    if (c.has(i) && i != bias_input) c.unsupported("past_sequence_length, a beam width or a cache indirection is given: past and present share a buffer");
  }
  c.need_rank(past_input, 4, "[batch, heads, before, size]");
  ValueId q = c.in(0), k = c.in(1), v = c.in(2);
  const Extents shape = c.extents(q);
  const auto unpack = [&](ValueId packed, int64_t parts) {  // [batch, tokens, heads, parts, size]
    std::vector<ValueId> list = c.split(packed, Extents(static_cast<std::size_t>(parts), Dim(1)), 3);
    for (ValueId& part : list) part = c.transpose(c.op("Squeeze", {part, b.integers({3})}), {0, 2, 1, 3});
    return list;
  };
  Heads h;
  std::vector<ValueId> biases(3, kAbsent);
  const auto projected = [&](ValueId x, ValueId bias) { return split_heads(c, bias == kAbsent ? x : c.add(x, bias), heads); };
  if (shape.size() == 5) {
    if (c.has(bias_input)) c.unsupported("a bias with packed q, k and v");
    const auto parts = unpack(q, 3);
    h.q = parts[0], h.k = parts[1], h.v = parts[2];
  } else {
    c.need_rank(0, 3, "[batch, tokens, channels]");
    if (decoder && k == kAbsent) {  // q, k and v side by side: k is as wide as q, and v is, too
      const Dim width = floor_div(shape[2], 3);
      const auto parts = c.split(q, {width, width, width}, 2);
      q = parts[0], k = parts[1], v = parts[2];
    }
    if (k == kAbsent) c.fail("the key is missing");
    const Dim width = c.extent(q, 2);
    if (c.has(bias_input)) {
      const Dim all = c.extent(c.raw(bias_input), 0);
      biases = c.split(c.in(bias_input), {width, width, all - 2 * width}, 0);
    }
    h.q = projected(q, biases[0]);
    if (c.rank(k) == 5) {
      if (c.has(bias_input)) c.unsupported("a bias with packed k and v");
      const auto parts = unpack(k, 2);
      h.k = parts[0], h.v = parts[1];
    } else if (v == kAbsent) {
      c.fail("the value is missing");
    } else if (c.rank(k) == 4) {  // those of an encoder, as heads
      h.k = k, h.v = v;
    } else {
      h.k = projected(k, biases[1]);
      h.v = projected(v, biases[2]);
    }
  }
  h.k = with_past(c, c.in(past_input), h.k);
  h.v = with_past(c, c.in(past_input + 1), h.v);
  h.scale = attention_scale(c, c.extent(h.q, 3));
  h.bias = score_bias(c, c.raw(mask_input), c.in(added_input), c.integer("unidirectional", 0) != 0, shape[0], shape[1], c.extent(h.k, 2), c.raw(past_input));
  const Attended a = attend(c, h);
  std::vector<ValueId> results{c.out(join_heads(c, a.y)), kAbsent, kAbsent, kAbsent};
  if (node.has_output(1)) results[1] = c.out(h.k);
  if (node.has_output(2)) results[2] = c.out(h.v);
  if (node.has_output(3)) results[3] = c.out(a.scores);
  return results;
}

}  // namespace

std::span<const Operator> table_contrib_attention() {
  static const Operator rows[] = {
      {.name = "Attention", .domain = kMicrosoft, .min_inputs = 2, .max_inputs = 7, .max_outputs = 2, .decompose = attention},
      {.name = "MultiHeadAttention", .domain = kMicrosoft, .min_inputs = 1, .max_inputs = 10, .max_outputs = 4, .decompose = multi_head_attention},
      {.name = "DecoderMaskedMultiHeadAttention", .domain = kMicrosoft, .min_inputs = 1, .max_inputs = 11, .max_outputs = 4, .decompose = multi_head_attention},
  };
  return rows;
}

}  // namespace onnxc
