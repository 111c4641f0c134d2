// com.microsoft: RotaryEmbedding and GemmaRotaryEmbedding.
#include "compiler/ops/contrib/attention.h"

namespace onnxc {
namespace {

/// `is_packed_batching` allows more tokens than the caches have positions, since a row may contain several sequences;
/// the positions say all that is needed. ONNX Runtime's kernels ignore `scale`, and so does this.
Results rotary_embedding(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const int rank = c.rank(c.raw(0));
  if (rank != 3 && rank != 4)
    c.fail(fmt::format("the input has shape {}; [batch, tokens, channels] or [batch, heads, tokens, size] is needed",
                       text(c.extents(c.raw(0)))));
  c.need_rank(2, 2, "[positions, pairs]");
  c.need_rank(3, 2, "[positions, pairs]");
  ValueId x = c.in(0);
  if (rank == 3) {
    const int64_t heads = c.integer("num_heads", 0);
    if (c.integer("rotary_embedding_dim", 0) > 0 && heads < 1) c.fail("rotary_embedding_dim without num_heads");
    const Dim size = 2 * c.extent(c.raw(2), 1), channels = c.extent(x, 2);
    if (heads < 1 && (!channels.is_constant() || !size.is_constant() || size.value() < 1))
      c.unsupported("the number of heads is not known", "set num_heads");
    if (heads < 1 && (channels.value() < 1 || channels.value() % size.value() != 0))
      c.fail(fmt::format("{} channels are not whole heads of {}", channels.value(), size.value()));
    x = split_heads(c, x, heads > 0 ? heads : channels.value() / size.value());
  }
  const Dim tokens = c.extent(x, 2);
  ValueId positions = cast_to(b, c.raw(1), ElementType::I64);
  if (c.rank(positions) < 2)  // the position of the first token
    positions = c.unsqueeze(c.add(c.op("Reshape", {positions, b.integers({1})}), c.count(tokens)), {0});
  const ValueId y = rotate(c, x, angles(c, c.in(2), positions), angles(c, c.in(3), positions), c.integer("interleaved", 0) != 0);
  return {{c.out(rank == 3 ? join_heads(c, y) : y)}};
}

/// q cos(emb) + q_rot sin(emb), and the same of k.
Results gemma_rotary(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_rank(0, 3, "[batch, tokens, size]");
  const ElementType result = b.type(c.raw(1)).element;
  const ValueId at = c.unsqueeze(c.in(0), {1});
  const auto turn = [&](int x, int rotated) {
    const auto by = [&](const char* function) { return cast_to(b, cast_to(b, c.op(function, {at}), result), c.type); };
    return cast_to(b, c.add(c.mul(cast_to(b, c.raw(x), c.type), by("Cos")), c.mul(cast_to(b, c.raw(rotated), c.type), by("Sin"))), result);
  };
  return {{turn(1, 2), turn(3, 4)}};
}

}  // namespace

std::span<const Operator> table_contrib_rotary() {
  static const Operator rows[] = {
      {.name = "RotaryEmbedding", .domain = kMicrosoft, .min_inputs = 4, .max_inputs = 4, .max_outputs = 1, .decompose = rotary_embedding},
      {.name = "GemmaRotaryEmbedding", .domain = kMicrosoft, .min_inputs = 5, .max_inputs = 5, .max_outputs = 2, .decompose = gemma_rotary},
  };
  return rows;
}

}  // namespace onnxc
