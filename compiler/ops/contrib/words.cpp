// com.microsoft: NGramRepeatBlock, WordConvEmbedding.
#include <limits>

#include "compiler/ops/contrib/composition.h"

namespace onnxc {
namespace {

/// For sequences [batch, tokens]: the scores of tokens that would complete an n-gram which the sequence already has
/// become -inf.
Results ngram_repeat_block(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  for (int i : {0, 1}) c.need_rank(i, 2, i == 0 ? "[batch, tokens]" : "[batch, vocabulary]");
  const int64_t n = c.positive("ngram_size");
  const ValueId ids = c.raw(0);
  const Dim tokens = c.extent(ids, 1), grams = max(tokens - (n - 1), 0);
  const ValueId number = c.count(grams);  // of each n-gram, the position of its first token
  const auto column = [&](ValueId positions) { return c.op("Gather", {ids, positions}, {{"axis", int64_t{1}}}); };
  const auto token = [&](int64_t k) { return column(c.add(number, b.number(ElementType::I64, static_cast<double>(k)))); };
  const Extents shape{c.extent(ids, 0), grams};
  ValueId repeats = b.op("Expand", {b.number(ElementType::Bool, 1), b.shape(shape)});
  for (int64_t k = 0; k + 1 < n; ++k)
    repeats = c.op("And", {repeats, c.op("Equal", {token(k), column(b.shape({max(tokens - (n - 1) + k, 0)}))})});
  const double infinite = std::numeric_limits<double>::infinity();
  const auto bound = [&](double value) { return b.number(c.b.type(c.raw(1)).element, value); };
  const ValueId most = c.op("Where", {repeats, bound(-infinite), bound(infinite)});
  return {{c.op("ScatterElements", {c.raw(1), token(n - 1), most}, {{"axis", int64_t{1}}, {"reduction", std::string("min")}})}};
}

/// For words [words, characters], padded with values that are not positive: the largest tanh of each filter [filters,
/// 1, window, size] over the windows of the characters' embeddings. A word shorter than the window has one window,
/// which reads into the padding. A word that begins with padding has no window, and gives 0.
Results word_conv_embedding(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_rank(0, 2, "[words, characters]");
  c.need_rank(1, 4, "[filters, 1, window, size]");
  c.need_rank(3, 2, "[characters, size]");
  const auto need = [&](const char* attribute, int i, int axis) {
    const int64_t given = c.integer(attribute, -1), own = c.known_extent(c.raw(i), axis);
    if (given != -1 && given != own) c.fail(fmt::format("{} is {}, and input {} has {}", attribute, given, i, own));
  };
  need("embedding_size", 1, 0);
  need("conv_window_size", 1, 2);
  need("char_embedding_size", 3, 1);
  const ElementType type = b.type(c.raw(1)).element;
  const ValueId ids = cast_to(b, c.raw(0), ElementType::I64);
  const Dim window = c.extent(c.raw(1), 2), positions = c.extent(ids, 1) - window + 1;
  const ValueId none = b.number(ElementType::I64, 0), is_char = c.op("Greater", {ids, none}),
                starts = c.slice(is_char, 0, 1, 1);  // [words, 1]
  const ValueId length = c.op("ReduceSum", {cast_to(b, is_char, ElementType::I64), b.integers({1})});
  const ValueId windows = c.op("Max", {c.add(length, b.shape({Dim(1) - window})), b.number(ElementType::I64, 1)});
  const ValueId embedded = c.op("Gather", {c.raw(3), c.op("Max", {ids, none})}, {{"axis", int64_t{0}}});
  const ValueId filtered =
      c.op("Tanh", {c.op("Conv", {c.unsqueeze(embedded, {1}), c.raw(1), c.raw(2)})});    // [words, filters, positions, 1]
  const ValueId within = c.op("Less", {c.unsqueeze(c.count(positions), {0}), windows});  // [words, positions]
  const ValueId kept = c.op("Where", {c.unsqueeze(within, {1, 3}), filtered, b.number(type, -1e12)});
  const ValueId most = c.op("ReduceMax", {kept, b.integers({2, 3})}, {{"keepdims", int64_t{0}}});
  return {{c.op("Where", {starts, most, b.number(type, 0)})}};
}

}  // namespace

std::span<const Operator> table_contrib_words() {
  static const Operator rows[] = {
      {.name = "NGramRepeatBlock",
       .domain = kMicrosoft,
       .min_inputs = 2,
       .max_inputs = 2,
       .max_outputs = 1,
       .decompose = ngram_repeat_block},
      {.name = "WordConvEmbedding",
       .domain = kMicrosoft,
       .min_inputs = 4,
       .max_inputs = 4,
       .max_outputs = 1,
       .decompose = word_conv_embedding},
  };
  return rows;
}

}  // namespace onnxc
