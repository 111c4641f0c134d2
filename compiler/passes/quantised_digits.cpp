#include "compiler/passes/quantised_digits.h"

#include <algorithm>

#include "compiler/ops/in_float.h"
#include "compiler/ops/nn/conv.h"

namespace onnxc {

std::optional<Digits> digits_of(GraphBuilder& b, const Dequantised& x) {
  const TensorData* const known = b.graph().constant(x.zero);
  if (x.zero != kAbsent && (known == nullptr || known->count() != 1)) return std::nullopt;
  const bool is_signed_word = is_signed(b.type(x.q).element);
  const int64_t zero = (known != nullptr ? to_integers(*known)[0] : 0) + (is_signed_word ? 32768 : 0);
  const ValueId word = cast_to(b, x.q, ElementType::F32);  // f32 holds it, and so may what computes it
  const ValueId above = is_signed_word ? b.op("Add", {word, b.number(ElementType::F32, 32768)}) : word;
  const ValueId high = cast_to(b, b.op("Mul", {above, b.number(ElementType::F32, 1.0 / 256)}), ElementType::U8);  // truncates
  const ValueId low = cast_to(b, cast_to(b, word, ElementType::I32), ElementType::U8);                            // wraps
  const auto digit = [&](int64_t value) { return b.number(ElementType::U8, static_cast<double>(value)); };
  return Digits{{high, digit(zero / 256)}, {low, digit(zero % 256)}};
}

ValueId join_digits(GraphBuilder& b, ValueId high, ValueId low) {
  const ValueId above = b.op("Mul", {cast_to(b, high, ElementType::F32), b.number(ElementType::F32, 256)});
  return b.op("Add", {above, cast_to(b, low, ElementType::F32)});
}

namespace {

/// Digits are made once for each input, and their sums are joined once for each output. Under so many multiply-adds of each input, or steps of k, this takes
/// more time than the products gain.
constexpr int64_t kLeast = 64;

bool is_faster_conv(const Graph& graph, const Node& node) {
  const Extents &x = graph[node.input(0)].type.extents, &w = graph[node.input(1)].type.extents;
  if (!is_static(w) || node.integer("group", 1) != 1 || w.size() < 3 || w.size() > 4) return false;
  const Window window = conv_window(node, x, w);
  const int64_t outputs = w[0].value(), channels = w[1].value(), steps = element_count(Extents(w.begin() + 1, w.end())).value();
  if (channels < 4 || steps < kLeast || outputs * (steps / channels) < kLeast) return false;
  // Winograd's algorithm takes a quarter of the multiply-adds, but transformed weights are sixteen times as many bytes: with small images and many weights it
  // waits for these.
  constexpr int64_t kFewPixels = 256, kManyWeights = int64_t{1} << 15;
  const bool wide = w.size() == 4 && std::ranges::all_of(window.kernel, [](Dim k) { return k.value() >= 3; });
  const bool dense = std::ranges::all_of(window.strides, [](int64_t s) { return s == 1; }) &&
                     std::ranges::all_of(window.dilations, [](int64_t d) { return d == 1; });
  if (!wide || !dense) return true;
  const Dim pixels = element_count(spatial_extents(x));
  return pixels.is_constant() && pixels.value() <= kFewPixels && outputs * channels >= kManyWeights;
}

/// Few rows wait for their weights, which digits read twice.
bool is_faster_matmul(const Graph& graph, const Node& node) {
  constexpr int64_t kFewRows = 16;
  const Extents &x = graph[node.input(0)].type.extents, &w = graph[node.input(1)].type.extents;
  if (x.empty()) return false;
  const Dim k = x.back(), rows = element_count(Extents(x.begin(), x.end() - 1));
  if (w.size() != 2 || !is_static(w) || !k.is_constant() || k.value() <= 0) return false;
  return k.value() >= kLeast && element_count(w).value() >= kLeast * k.value() && !(rows.is_constant() && rows.value() <= kFewRows);
}

}  // namespace

bool is_faster_by_digits(const Graph& graph, const Node& node) {
  return node.op == "Conv" ? is_faster_conv(graph, node) : is_faster_matmul(graph, node);
}

}  // namespace onnxc
