// com.microsoft: Attention (with the projection of its input), MultiHeadAttention, DecoderMaskedMultiHeadAttention.
#include "compiler/ops/contrib/cache.h"

namespace onnxc {
namespace {

/// x [..., n] extended with zeros to [..., keys].
ValueId filled(Composition& c, ValueId x, Dim keys) {
  Extents shape = c.extents(x);
  const Dim more = keys - shape.back();
  if (x == kAbsent || more == Dim(0) || shape.back() == Dim(1)) return x;
  shape.back() = more;
  return c.concat({x, c.zeros(c.b.type(x).element, shape)}, c.rank(x) - 1);
}

/// The keys that a mask with a few numbers for each batch shows, as [batch, 1, 1, keys].
ValueId shown_by_ends(Composition& c, ValueId mask, const Tokens& t) {
  const Extents shape = c.extents(mask);
  const ValueId at = cast_to(c.b, c.count(t.keys), c.b.type(mask).element);  // [keys]
  const auto before = [&](ValueId ends) { return c.op("Less", {at, c.unsqueeze(ends, {1})}); };
  ValueId seen;
  if (shape[0] == t.batch) {
    seen = before(mask);
  } else if (shape[0] == 2 * t.batch) {
    const auto ends = c.split(mask, {t.batch, t.batch}, 0);
    seen = c.op("And", {before(ends[0]), c.op("GreaterOrEqual", {at, c.unsqueeze(ends[1], {1})})});
  } else if (shape[0] == 3 * t.batch + 2) {
    seen = before(c.slice(mask, 0, t.batch, 0));
  } else {
    c.unsupported(fmt::format("the mask has shape {} for a batch of {}", text(shape), t.batch.text()));
  }
  return c.unsqueeze(seen, {1, 2});
}

}  // namespace

ValueId score_bias(Composition& c, ValueId mask, ValueId bias, bool causal, const Tokens& t) {
  GraphBuilder& b = c.b;
  const ValueId zero = c.constant(0), filter = c.constant(c.number("mask_filter_value", -10000.0f)),
                lowest = c.constant(c.type == ElementType::F64 ? -1.7976931348623157e308 : -3.4028234663852886e38);
  ValueId sum = kAbsent;
  const auto plus = [&](ValueId v) { sum = sum == kAbsent ? v : c.add(sum, v); };
  const int rank = mask == kAbsent ? 0 : c.rank(mask);
  if (rank == 1) {
    plus(c.op("Where", {shown_by_ends(c, mask, t), zero, filter}));
  } else if (rank >= 2 && !(rank == 2 && c.extent(mask, 1) == Dim(1))) {
    if (rank > 4) c.unsupported(fmt::format("the mask has shape {}", text(c.extents(mask))), "use a mask of rank 1 to 4");
    if (rank == 4) mask = c.slice(c.slice(mask, t.before, t.before + t.queries, 2), 0, t.keys, 3);
    const ValueId seen = c.op("Greater", {filled(c, mask, t.keys), b.number(b.type(mask).element, 0)});
    plus(c.op("Where",
              {rank == 4 ? seen : c.unsqueeze(seen, rank == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1}), zero, filter}));
  }
  const ValueId at = c.unsqueeze(c.count(t.keys), {0});
  if (causal) {
    if (const Dim more = t.keys - t.queries - t.before; t.start == kAbsent && more.is_constant() && more.value() != 0)
      c.unsupported(fmt::format("unidirectional, with {} queries for {} new keys", t.queries.text(), (t.keys - t.before).text()));
    const ValueId row = c.add(c.unsqueeze(c.count(t.queries), {1}), t.start != kAbsent ? t.start : b.shape({t.keys - t.queries}));
    sum = c.op("Where", {c.op("LessOrEqual", {at, row}), sum == kAbsent ? zero : sum, lowest});
  } else if (t.start != kAbsent) {
    sum = c.op("Where", {c.op("Less", {at, c.add(t.start, b.shape({t.queries}))}), sum == kAbsent ? zero : sum, lowest});
  }
  if (bias != kAbsent) plus(filled(c, bias, t.keys));
  return sum;
}

namespace {

/// past [batch, heads, before, size], followed by the new keys or values.
ValueId with_past(Composition& c, ValueId past, ValueId x) { return past == kAbsent ? x : c.concat({past, x}, 2); }

// ---- Attention: q, k and v are products of the input with one matrix

Results attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  c.need_rank(0, 3, "[batch, tokens, channels]");
  c.need_rank(1, 2, "[channels, q + k + v]");
  c.need_rank(4, 5, "[2, batch, heads, before, size]");
  if (c.integer("do_rotary", 0) != 0) c.unsupported("do_rotary is set", "use operator RotaryEmbedding");
  if (c.integer("past_present_share_buffer", 0) != 0) c.unsupported("past and present share a buffer");
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
  h.bias = score_bias(c, c.has(3) ? c.raw(3) : kAbsent, c.in(5), c.integer("unidirectional", 0) != 0,
                      {x[0], x[1], c.extent(h.k, 2), c.has(4) ? c.extent(c.raw(4), 3) : Dim(0)});
  std::vector<ValueId> results{c.out(join_heads(c, attend(c, h).y)), kAbsent};
  if (node.has_output(1)) results[1] = c.out(c.concat({c.unsqueeze(h.k, {0}), c.unsqueeze(h.v, {0})}, 0));
  return results;
}

// ---- MultiHeadAttention, DecoderMaskedMultiHeadAttention. With past_sequence_length, past and present have room for
// all future keys, and the call's keys and values are written from there on. In a beam search, what came before lies
// in the rows of other beams: cache_indirection [batch, beams, slots] states in which.

/// The rows of the cache [batch * beams, heads, slots, size] from which each row takes its slots, within the same
/// batch: [batch * beams, 1, slots, 1].
ValueId rows_of_beams(Composition& c, ValueId indirection, const Tokens& t) {
  if (c.rank(indirection) != 3)
    c.fail(fmt::format("cache_indirection has shape {}; [batch, beams, slots] is needed", text(c.extents(indirection))));
  const ValueId beams = c.b.shape({c.extent(indirection, 1)}), own = c.unsqueeze(c.count(t.batch), {1});
  const ValueId first = c.mul(c.op("Div", {own, beams}), beams);
  const ValueId other = c.add(c.reshape(cast_to(c.b, indirection, ElementType::I64), {t.batch, t.keys}), first);
  return c.unsqueeze(c.op("Where", {c.op("Less", {c.count(t.keys), t.start}), other, own}), {1, 3});
}
ValueId gathered(Composition& c, ValueId cache, ValueId rows) {
  return c.op("GatherElements", {cache, c.op("Expand", {rows, c.b.shape(c.extents(cache))})}, {{"axis", int64_t{0}}});
}

/// q, k and v of MultiHeadAttention and DecoderMaskedMultiHeadAttention as heads. They are three inputs, or packed in the first one or two.
Heads heads_of_inputs(Composition& c, int64_t heads, int bias_input, bool decoder) {
  ValueId q = c.in(0), k = c.in(1), v = c.in(2);
  const Extents shape = c.extents(q);
  const auto unpack = [&](ValueId packed, int64_t parts) {  // [batch, tokens, heads, parts, size]
    std::vector<ValueId> list = c.split(packed, Extents(static_cast<std::size_t>(parts), Dim(1)), 3);
    for (ValueId& part : list) part = c.transpose(c.op("Squeeze", {part, c.b.integers({3})}), {0, 2, 1, 3});
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
    // q, k and v side by side, all of the same width.
    if (decoder && k == kAbsent) {
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
    } else if (c.rank(k) == 4) {  // an encoder's, as heads
      h.k = k, h.v = v;
    } else {
      h.k = projected(k, biases[1]);
      h.v = projected(v, biases[2]);
    }
  }
  return h;
}

Results multi_head_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  const bool decoder = node.op == "DecoderMaskedMultiHeadAttention";
  // The two operators have their inputs in different orders.
  const int mask_input = decoder ? 3 : 4, added_input = decoder ? 4 : 5, past_input = decoder ? 5 : 6, shared_input = decoder ? 7 : 8,
            beams_input = 9;
  const int64_t heads = c.positive("num_heads");
  const bool shared = c.has(shared_input);
  if (c.has(past_input) != c.has(past_input + 1)) c.fail("past_key and past_value belong together");
  if (shared && !c.has(past_input)) c.fail("past_sequence_length is given, and there is no past");
  if (!shared && c.integer("past_present_share_buffer", 0) != 0) c.fail("past_present_share_buffer needs past_sequence_length");
  c.need_rank(past_input, 4, "[batch, heads, before, size]");
  const Extents shape = c.extents(c.raw(0));
  Heads h = heads_of_inputs(c, heads, decoder ? 10 : 3, decoder);
  Tokens t{.batch = shape[0], .queries = shape[1], .before = 0};
  if (shared) {
    const Dim room = c.extent(c.raw(past_input), 2);
    t.start = c.op("Reshape", {cast_to(b, c.raw(shared_input), ElementType::I64), b.integers({1})});
    const ValueId starts = c.op("Expand", {t.start, b.shape({t.batch})});
    h.k = extended(c, c.in(past_input), h.k, starts, room);
    h.v = extended(c, c.in(past_input + 1), h.v, starts, room);
  } else {
    if (c.has(past_input)) t.before = c.extent(c.raw(past_input), 2);
    h.k = with_past(c, c.in(past_input), h.k);
    h.v = with_past(c, c.in(past_input + 1), h.v);
  }
  t.keys = c.extent(h.k, 2);
  const ValueId present_k = h.k, present_v = h.v;
  if (c.has(beams_input)) {
    if (!shared) c.fail("cache_indirection is given without past_sequence_length");
    const ValueId rows = rows_of_beams(c, c.raw(beams_input), t);
    h.k = gathered(c, h.k, rows);
    h.v = gathered(c, h.v, rows);
  }
  h.scale = attention_scale(c, c.extent(h.q, 3));
  h.bias = score_bias(c, c.has(mask_input) ? c.raw(mask_input) : kAbsent, c.in(added_input), c.integer("unidirectional", 0) != 0, t);
  const Attended a = attend(c, h);
  std::vector<ValueId> results{c.out(join_heads(c, a.y)), kAbsent, kAbsent, kAbsent};
  if (node.has_output(1)) results[1] = c.out(present_k);
  if (node.has_output(2)) results[2] = c.out(present_v);
  if (node.has_output(3)) results[3] = c.out(a.scores);
  return results;
}

}  // namespace

std::span<const Operator> table_contrib_attention() {
  static const Operator rows[] = {
      {.name = "Attention", .domain = kMicrosoft, .min_inputs = 2, .max_inputs = 7, .max_outputs = 2, .decompose = attention},
      {.name = "MultiHeadAttention",
       .domain = kMicrosoft,
       .min_inputs = 1,
       .max_inputs = 10,
       .max_outputs = 4,
       .decompose = multi_head_attention},
      {.name = "DecoderMaskedMultiHeadAttention",
       .domain = kMicrosoft,
       .min_inputs = 1,
       .max_inputs = 11,
       .max_outputs = 4,
       .decompose = multi_head_attention},
  };
  return rows;
}

}  // namespace onnxc
