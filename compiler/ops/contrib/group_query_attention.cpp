// com.microsoft.GroupQueryAttention: attention over a cache that the operator extends, with fewer heads of keys and
// values than of queries. After the call, batch b has seqlens_k[b] + 1 keys, the last of which are the call's own; a
// prompt starts at 0. The content of the cache beyond them is meaningless.
#include <algorithm>

#include "compiler/ops/contrib/cache.h"

namespace onnxc {
namespace {

/// How the cache stores keys (input 3) or values (input 4). Empty if they are not quantised.
std::optional<QuantisedCache> quantised_form(Composition& c, const char* attribute, int cache) {
  const std::string type = c.node.string(attribute, "NONE");
  const int scale = cache + 9;
  if (type == "NONE") {
    if (c.has(scale)) c.fail(fmt::format("input {} is given, and {} is 'NONE'", scale, attribute));
    return std::nullopt;
  }
  if (type != "PER_TENSOR" && type != "PER_CHANNEL") c.fail(fmt::format("{} is '{}'", attribute, type));
  if (!c.has(scale) || c.rank(c.raw(scale)) > 4)
    c.fail(fmt::format("{} is '{}', and its scale (input {}) is missing or not of rank 1 to 4", attribute, type, scale));
  const int64_t bits = c.integer("kv_cache_bit_width", 8);
  if (bits != 4 && bits != 8) c.fail(fmt::format("kv_cache_bit_width is {}", bits));
  const ElementType needed = bits == 8 ? ElementType::I8 : ElementType::U8;
  if (c.has(cache) && c.b.type(c.raw(cache)).element != needed)
    c.unsupported(fmt::format("a cache of {} with kv_cache_bit_width {}", name(c.b.type(c.raw(cache)).element), bits),
                  fmt::format("one of {} is supported", name(needed)));
  return QuantisedCache{bits, cast_to(c.b, c.raw(scale), c.type)};
}

void check_attributes(const Composition& c) {
  const Node& node = c.node;
  const int64_t causal = c.integer("causal", 1), window = c.integer("local_window_size", -1);
  if (causal != 0 && causal != 1) c.fail(fmt::format("causal is {}", causal));
  if (causal == 0 && window != -1) c.fail("local_window_size without causal");
  if (c.has(14) != c.has(15)) c.fail("q_norm_weight and k_norm_weight belong together");
  const int64_t qk = c.integer("qk_output", 0);
  if (node.has_output(3) && qk != 1 && qk != 2) c.fail(fmt::format("output_qk is wanted, and qk_output is {}", qk));
}

/// Whether the caller keeps a cache and its successor at one place: see docs/state.md.
bool is_state(const Composition& c, int past, int present) {
  const Graph& graph = c.b.graph();
  return std::ranges::any_of(graph.states, [&](const State& state) {
    return graph.inputs[static_cast<std::size_t>(state.past)] == c.raw(past) && c.node.has_output(present) &&
           graph.outputs[static_cast<std::size_t>(state.present)] == c.node.outputs[static_cast<std::size_t>(present)];
  });
}

/// total_sequence_length, unless only a run knows it.
std::optional<Dim> known_total(const Composition& c) {
  const Value& total = c.b.graph()[c.raw(6)];
  if (!total.elements && !total.constant) return {};
  const Dim all = c.elements(6, "total_sequence_length")[0];
  return all.depends_on_run() || all.min_value() < 0 ? std::nullopt : std::optional(all);
}

/// A cache with room for all tokens keeps its length; another one grows to the total. Where caches are states they have that room. If only a run
/// knows the total, the cache is assumed to grow by all tokens of the call, so that its size is known beforehand.
Dim present_length(Composition& c, Dim before, Dim tokens) {
  Graph& graph = c.b.graph();
  const Value& total = graph[c.raw(6)];
  if (total.type.is_tensor() && total.type.ranked && !(element_count(total.type.extents) == Dim(1)))
    c.fail("total_sequence_length is not one number");
  if (total.elements || total.constant) {
    const auto all = known_total(c);
    if (!all || !is_state(c, 3, 1) || !is_state(c, 4, 2)) return max(before, c.elements(6, "total_sequence_length")[0]);
    const Requirement room{before - *all, 0, Requirement::Kind::NotNegative,
                           fmt::format("{} '{}': the caches are states, which have room for all", c.node.full_op(), c.node.name)};
    if (std::ranges::find(graph.requirements, room) == graph.requirements.end()) graph.requirements.push_back(room);
    return before;
  }
  const ValueId all = c.op("Reshape", {cast_to(c.b, c.raw(6), ElementType::I64), c.b.integers({1})}), none = c.b.integers({0});
  const ValueId more = c.op("Max", {c.sub(all, c.b.shape({before})), none});
  return before + c.extent(c.op("Slice", {c.count(tokens), none, more}), 0);
}

/// The keys that a query sees: [batch, 1, tokens, keys]. `at`: the positions of keys, `positions`: those of queries, `there`: the number of
/// keys after the call.
ValueId seen_keys(Composition& c, ValueId at, ValueId positions, ValueId there) {
  const int64_t window = c.integer("local_window_size", -1);
  const ValueId row = c.unsqueeze(positions, {1, 3}), none = c.b.number(ElementType::I64, 0);
  ValueId seen;
  if (c.integer("causal", 1) == 0) {
    seen = c.op("Less", {at, c.unsqueeze(there, {1, 2, 3})});
  } else {
    seen = c.op("LessOrEqual", {at, row});
    if (window > 0) {
      const ValueId first = c.sub(row, c.b.number(ElementType::I64, static_cast<double>(window)));
      seen = c.op("And", {seen, c.op("Greater", {at, first})});
    }
  }
  if (c.integer("sliding_window_cache", 0) != 0) seen = c.op("And", {seen, c.op("GreaterOrEqual", {at, none})});
  return seen;
}

/// attention_bias, which may have only the first keys, for all of them; 0 where there is none.
ValueId bias_of_keys(Composition& c, Dim keys) {
  ValueId added = c.constant(0);
  if (c.has(10)) {
    added = c.in(10);
    const Dim more = keys - c.extent(added, 3);
    if (!(more == Dim(0))) {
      const Extents e = c.extents(added);
      added = c.concat({added, c.zeros(c.type, {e[0], e[1], e[2], more})}, 3);
    }
  }
  return added;
}

Results group_query_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  check_attributes(c);
  const int64_t heads = c.positive("num_heads"), groups = c.positive("kv_num_heads");
  if (heads % groups != 0) c.fail(fmt::format("num_heads is {}, kv_num_heads {}", heads, groups));
  c.need_rank(0, 3, "[batch, tokens, channels]");
  for (int i : {3, 4}) c.need_rank(i, 4, "[batch, heads, before, size]");
  if (!c.has(5) || !c.has(6)) c.fail("seqlens_k or total_sequence_length is missing");
  const Extents shape = c.extents(c.raw(0));
  const Dim batch = shape[0], tokens = shape[1];
  for (int i : {1, 2}) {  // keys and values are those of the call's own tokens
    if (!c.has(i) || c.rank(c.raw(i)) != 3) continue;
    const Extents own = c.extents(c.raw(i));
    if ((own[0] - batch).is_constant() && !(own[0] == batch))
      c.fail(fmt::format("query has a batch of {}, and input {} one of {}", batch.text(), i, own[0].text()));
    if ((own[1] - tokens).is_constant() && !(own[1] == tokens))
      c.fail(fmt::format("query has {} tokens, and input {} has {}", tokens.text(), i, own[1].text()));
  }
  Heads h = grouped_heads(c, heads, groups);
  if (c.has(14)) {
    const Attributes norm{{"axis", int64_t{-1}}, {"epsilon", node.number("qk_norm_epsilon", 1e-6f)}};
    h.q = c.op("RMSNormalization", {h.q, c.in(14)}, norm);
    h.k = c.op("RMSNormalization", {h.k, c.in(15)}, norm);
  }
  // The position of the call's first token, for each batch.
  const ValueId there = c.add(c.op("Reshape", {cast_to(b, c.raw(5), ElementType::I64), b.shape({batch})}),
                              b.number(ElementType::I64, 1));  // keys after the call
  const ValueId start = c.op("Max", {c.sub(there, b.shape({tokens})), b.number(ElementType::I64, 0)});
  const ValueId positions = c.add(c.unsqueeze(start, {1}), c.unsqueeze(c.count(tokens), {0}));  // [batch, tokens]
  if (c.integer("do_rotary", 0) != 0) {
    if (!c.has(7) || !c.has(8)) c.fail("do_rotary needs cos_cache and sin_cache");
    const ValueId at = c.has(9) ? c.raw(9) : positions;
    const ValueId cosines = angles(c, c.in(7), at), sines = angles(c, c.in(8), at);
    const bool interleaved = c.integer("rotary_interleaved", 0) != 0;
    h.q = rotate(c, h.q, cosines, sines, interleaved);
    h.k = rotate(c, h.k, cosines, sines, interleaved);
  }
  if (c.has(3) != c.has(4)) c.fail("past_key and past_value belong together");
  const auto k_form = quantised_form(c, "k_quant_type", 3), v_form = quantised_form(c, "v_quant_type", 4);
  if (k_form) h.k = quantised(c, h.k, *k_form);
  if (v_form) h.v = quantised(c, h.v, *v_form);
  const int64_t window = c.integer("local_window_size", -1);
  ValueId present_k = h.k, present_v = h.v, at;  // at: the positions of the keys, [batch or 1, 1, 1, keys]
  if (c.integer("sliding_window_cache", 0) != 0) {
    if (!c.has(3) || window < 1) c.fail("sliding_window_cache needs past_key and local_window_size");
    if (c.has(10)) c.unsupported("attention_bias with sliding_window_cache");
    const WindowedCache cache{c.extent(c.raw(3), 2), window, start, there};
    if (cache.room.is_constant() && cache.room.value() < window)
      c.fail(fmt::format("the cache has {} slots for a window of {}", cache.room.value(), window));
    h.k = c.concat({k_form ? c.raw(3) : c.in(3), h.k}, 2);
    h.v = c.concat({v_form ? c.raw(4) : c.in(4), h.v}, 2);
    present_k = cache.updated(c, h.k);
    present_v = cache.updated(c, h.v);
    at = c.unsqueeze(cache.positions(c, tokens), {1, 2});
  } else {
    if (c.has(3)) {
      const Dim length = present_length(c, c.extent(c.raw(3), 2), tokens);
      present_k = h.k = extended(c, k_form ? c.raw(3) : c.in(3), h.k, start, length);
      present_v = h.v = extended(c, v_form ? c.raw(4) : c.in(4), h.v, start, length);
      if (const auto all = known_total(c); all && !(*all == length) && !c.has(10)) {  // no query sees what is behind
        for (ValueId* x : {&h.k, &h.v}) *x = c.split(*x, {*all, length - *all}, 2)[0];
      }
    }
    at = c.unsqueeze(c.count(c.extent(h.k, 2)), {0, 1, 2});
  }
  if (k_form) h.k = dequantised(c, h.k, *k_form);
  if (v_form) h.v = dequantised(c, h.v, *v_form);
  const Dim keys = c.extent(h.k, 2);
  const ValueId seen = seen_keys(c, at, positions, there);
  const ValueId hidden = c.constant(c.type == ElementType::F64 ? -1.7976931348623157e308 : -3.4028234663852886e38);
  h.bias = c.op("Where", {seen, bias_of_keys(c, keys), hidden});
  h.scale = attention_scale(c, c.extent(h.q, 3));
  h.softcap = c.number("softcap", 0);
  if (c.has(11)) h.sink = c.in(11);
  else if (c.integer("smooth_softmax", 0) == 1) h.sink = c.zeros(c.type, {heads});
  const Attended a = attend(c, h);
  std::vector<ValueId> results{c.out(join_heads(c, a.y)), k_form ? present_k : c.out(present_k), v_form ? present_v : c.out(present_v),
                               kAbsent};
  if (node.has_output(3)) results[3] = c.out(c.integer("qk_output", 0) == 1 ? a.scores : a.weights);
  return results;
}

}  // namespace

extern const Operator op_GroupQueryAttention;
const Operator op_GroupQueryAttention{.name = "GroupQueryAttention",
                                      .domain = kMicrosoft,
                                      .min_inputs = 1,
                                      .max_inputs = 16,
                                      .max_outputs = 4,
                                      .decompose = group_query_attention};

}  // namespace onnxc
