// com.microsoft.SparseAttention: grouped heads with a cache, as in GroupQueryAttention. In addition, a query sees
// only some blocks of the keys before it.
#include "compiler/ops/contrib/cache.h"

namespace onnxc {
namespace {

/// The visible blocks of each layout, as bool [layouts, blocks of queries, blocks of keys]. Row r of a layout has the
/// columns in its list from rows[r] up to rows[r + 1]. The padding at the end of a short list belongs to no row.
ValueId blocks_seen(Composition& c, ValueId rows, ValueId columns) {
  const Dim blocks = c.extent(rows, 1) - 1;
  const auto as_i64 = [&](ValueId v) { return cast_to(c.b, v, ElementType::I64); };
  const ValueId entry = c.unsqueeze(c.count(c.extent(columns, 1)), {0, 1});  // [1, 1, entries]
  const ValueId first = c.unsqueeze(as_i64(c.slice(rows, 0, blocks, 1)), {2}),
                last = c.unsqueeze(as_i64(c.slice(rows, 1, blocks + 1, 1)), {2});
  const ValueId of_row = c.op("And", {c.op("GreaterOrEqual", {entry, first}), c.op("Less", {entry, last})});  // [layouts, rows, entries]
  const ValueId of_column =
      c.op("Equal", {c.unsqueeze(as_i64(columns), {2}), c.unsqueeze(c.count(blocks), {0, 1})});  // [layouts, entries, columns]
  const auto f32 = [&](ValueId v) { return cast_to(c.b, v, ElementType::F32); };
  return c.op("Greater", {c.matmul(f32(of_row), f32(of_column)), c.b.number(ElementType::F32, 0)});
}

Results sparse_attention(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  const int64_t heads = c.positive("num_heads"), groups = c.positive("kv_num_heads"), block = c.positive("sparse_block_size");
  if (heads % groups != 0) c.fail(fmt::format("num_heads is {}, kv_num_heads {}", heads, groups));
  c.need_rank(0, 3, "[batch, tokens, channels]");
  for (int i : {3, 4}) c.need_rank(i, 4, "[batch, heads, cache, size]");
  for (int i : {5, 6}) c.need_rank(i, 2, "[layouts, indices]");
  for (int i : {3, 4, 5, 6, 8}) {
    if (!c.has(i)) c.fail(fmt::format("input {} is missing", i));
  }
  const int64_t layouts = c.known_extent(c.raw(5), 0);
  if (layouts < 1 || heads % layouts != 0) c.fail(fmt::format("{} layouts for {} heads", layouts, heads));
  const Extents shape = c.extents(c.raw(0));
  const Dim tokens = shape[1], keys = c.extent(c.raw(3), 2);
  Heads h = grouped_heads(c, heads, groups);
  // The positions of the call's tokens, for each batch. A prompt starts at 0, with its padding at the end.
  const auto number = [&](int64_t n) { return b.number(ElementType::I64, static_cast<double>(n)); };
  const ValueId there = cast_to(b, c.raw(8), ElementType::I64);
  const ValueId start = c.op("Max", {c.sub(there, b.shape({tokens})), number(0)});
  const ValueId positions = c.add(c.unsqueeze(start, {1}), c.unsqueeze(c.count(tokens), {0}));  // [batch, tokens]
  if (c.integer("do_rotary", 0) != 0) {
    if (!c.has(9) || !c.has(10)) c.fail("do_rotary needs cos_cache and sin_cache");
    const ValueId cosines = angles(c, c.in(9), positions), sines = angles(c, c.in(10), positions);
    const bool interleaved = c.integer("rotary_interleaved", 0) != 0;
    h.q = rotate(c, h.q, cosines, sines, interleaved);
    h.k = rotate(c, h.k, cosines, sines, interleaved);
  }
  h.k = extended(c, c.in(3), h.k, start, keys);
  h.v = extended(c, c.in(4), h.v, start, keys);
  // The keys that a query sees: [batch, heads, tokens, keys]. There are no queries beyond the last block, so for
  // those its row and column serve as well.
  const ValueId last = b.shape({c.extent(c.raw(5), 1) - 2});
  const auto block_of = [&](ValueId position) { return c.op("Min", {c.op("Div", {position, number(block)}), last}); };
  const ValueId at = c.count(keys);
  ValueId seen = c.op("Gather", {blocks_seen(c, c.raw(5), c.raw(6)), block_of(positions)},
                      {{"axis", int64_t{1}}});  // [layouts, batch, tokens, blocks]
  seen = c.transpose(c.op("Gather", {seen, block_of(at)}, {{"axis", int64_t{3}}}), {1, 0, 2, 3});
  if (layouts > 1 && layouts < heads)
    seen = c.concat(std::vector<ValueId>(static_cast<std::size_t>(heads / layouts), seen), 1);  // heads take turns
  seen = c.op("And", {seen, c.op("LessOrEqual", {at, c.unsqueeze(positions, {1, 3})})});
  h.bias = c.op("Where", {seen, c.constant(0), c.constant(c.type == ElementType::F64 ? -1.7976931348623157e308 : -3.4028234663852886e38)});
  h.scale = attention_scale(c, c.extent(h.q, 3));
  return {{c.out(join_heads(c, attend(c, h).y)), c.out(h.k), c.out(h.v)}};
}

}  // namespace

extern const Operator op_SparseAttention;
const Operator op_SparseAttention{
    .name = "SparseAttention", .domain = kMicrosoft, .min_inputs = 1, .max_inputs = 11, .max_outputs = 3, .decompose = sparse_attention};

}  // namespace onnxc
