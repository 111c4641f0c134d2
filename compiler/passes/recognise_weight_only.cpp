// Products with constant weights of few bits keep them so, if the products have few rows or the weights at most 4 bits:
//
//   w = DequantizeLinear q s z {axis = 0, block_size = 32}
//   y = MatMul a w                                            becomes    y = MatMulNBits a q' s' z' {K, N, bits, block_size = 32}
//
// where q' has the codes of q column by column, as unsigned numbers. MatMul may read a Transpose of w, and Gemm may take its place. A scale for
// each column, or a single one, is repeated for blocks.
//
// Values of a that were quantised are left alone: the kernels would round them once more, to 16 bits.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/passes/float_nodes.h"
#include "compiler/passes/packed_products.h"
#include "compiler/passes/passes.h"
#include "compiler/support/attempt.h"

namespace onnxc {
namespace {

/// The weights of a product, [k, n], as DequantizeLinear has them.
struct PackedWeights {
  const TensorData *q, *scale, *zero;  ///< zero: may be null
  int64_t k, n, block;                 ///< block: 0 if a scale applies to a whole column, or to all weights
  bool transposed;                     ///< q, and blocked scales and zero points, are [n, k]
  int bits() const { return info(q->type).bits; }
};

constexpr int64_t kRepeated = 128;  // the most weights of a block, where a scale is repeated
constexpr int64_t kFewRows = 16;    // of products that wait for weights of 8 bits

class Recogniser {
 public:
  explicit Recogniser(Graph& graph) : graph_(graph), definition_(definitions(graph)) {}

  void run() {
    for (Node& node : graph_.nodes) {
      for (auto& [name, region] : node.regions) {
        *region = recognise_weight_only(std::move(*region));
        graph_.float_reasons.merge(region->float_reasons);
      }
      if ((!node.is("MatMul") && !node.is("Gemm")) || node.outputs.size() != 1) continue;
      const std::string output = first_output(graph_, node);
      if (const auto weights = weights_of(node)) {
        rewrite(node, *weights);
        graph_.float_reasons.erase(output);
      } else if (!weights.why().empty()) {
        graph_.float_reasons.insert_or_assign(output, weights.why());
      }
    }
  }

 private:
  const Node* producer(ValueId v) const { return v == kAbsent || definition_[v] < 0 ? nullptr : &graph_.node(definition_[v]); }

  /// Whether it is, but for moves, the result of a DequantizeLinear.
  bool was_quantised(ValueId v) const {
    static constexpr std::string_view kMoves[] = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
    const Node* source = producer(v);
    while (source != nullptr && source->domain.empty() && std::ranges::find(kMoves, source->op) != std::end(kMoves))
      source = producer(source->inputs[0]);
    return source != nullptr && source->op == "DequantizeLinear";
  }

  Attempt<PackedWeights> weights_of(const Node& node) const {
    const Type& a = graph_[node.inputs[0]].type;
    if (a.element != ElementType::F32 || a.rank() == 0 || was_quantised(node.inputs[0])) return std::nullopt;
    bool transposed = node.is("Gemm") && node.integer("transB", 0) != 0;
    const Node* source = producer(node.inputs[1]);
    if (source != nullptr && source->is("Transpose") && graph_[source->inputs[0]].type.rank() == 2) {
      const auto order = source->integers("perm");
      if (order.empty() || order == std::vector<int64_t>{1, 0}) transposed = !transposed;
      source = producer(source->inputs[0]);
    }
    if (source == nullptr || source->op != "DequantizeLinear") return std::nullopt;
    PackedWeights w{graph_.constant(source->inputs[0]),
                    graph_.constant(source->inputs[1]),
                    nullptr,
                    0,
                    0,
                    source->integer("block_size", 0),
                    transposed};
    if (w.q == nullptr) return Refusal{"its weights are not constant"};
    if (w.scale == nullptr) return Refusal{"the scale of its weights is known only to a run"};
    if (source->has_input(2) && (w.zero = graph_.constant(source->input(2))) == nullptr)
      return Refusal{"the zero point of its weights is known only to a run"};
    if (w.q->shape.size() != 2) return Refusal{fmt::format("its weights have {} axes; a matrix would do", w.q->shape.size())};
    if (!is_integer(w.q->type) || w.bits() > 8)
      return Refusal{fmt::format("its weights are {}; integers of 2, 4 or 8 bits would do", name(w.q->type))};
    for (const ValueId real : {source->inputs[1], source->outputs[0]}) {
      if (const ElementType found = graph_[real].type.element; found != ElementType::F32)
        return Refusal{fmt::format("its weights are dequantised to {}; f32 would do", name(found))};
    }
    if (std::string why = not_packable(graph_, node); !why.empty()) return Refusal{std::move(why)};
    w.k = w.q->shape[transposed ? 1 : 0];
    w.n = w.q->shape[transposed ? 0 : 1];
    if (w.k == 0 || w.n == 0 || w.k > INT32_MAX || w.n > INT32_MAX) return std::nullopt;
    if (const Dim rows = floor_div(element_count(a.extents), w.k); w.bits() == 8 && rows.is_constant() && rows.value() > kFewRows)
      return Refusal{
          fmt::format("its input is not quantised, and with {} rows, more than {}, weights of 8 bits save no time; QuantizeLinear and "
                      "DequantizeLinear before it would do",
                      rows.value(), kFewRows)};
    int64_t axis = source->integer("axis", 1);
    if (axis < 0) axis += 2;
    const int64_t along_k = transposed ? 1 : 0;
    if (w.scale->count() == 1) w.block = 0;
    else if (w.block == 0 && axis == along_k) return Refusal{"the scales of its weights do not run along its output channels"};
    if (w.block != 0 && axis != along_k) return Refusal{"the blocks of its weights do not lie along its input channels"};
    if (w.block != 0 && (w.block < 16 || !std::has_single_bit(static_cast<uint64_t>(w.block))))
      return Refusal{fmt::format("its weights have blocks of {}; a power of two from 16 on would do", w.block)};
    return w;
  }

  void rewrite(Node& node, const PackedWeights& w) {
    const int64_t bits = w.bits(), offset = is_signed(w.q->type) ? 1 << (bits - 1) : 0;
    const int64_t whole = std::max<int64_t>(16, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(w.k))));
    PackedMatrix packed(w.k, w.n, bits, w.block != 0 ? w.block : std::min(kRepeated, whole));
    const int64_t own_blocks = w.block != 0 ? packed.blocks() : 1;
    const auto at = [&](int64_t row, int64_t column, int64_t rows) { return w.transposed ? column * rows + row : row * w.n + column; };
    const auto of_block = [&](const auto& values, int64_t number, int64_t column) {
      return values[static_cast<std::size_t>(values.size() == 1 ? 0 : at(w.block != 0 ? number : 0, column, own_blocks))];
    };
    const std::vector<int64_t> codes = to_integers(*w.q), zeros = w.zero != nullptr ? to_integers(*w.zero) : std::vector<int64_t>{0};
    for (int64_t column = 0; column < w.n; ++column) {
      for (int64_t number = 0; number < packed.blocks(); ++number)
        packed.set_block(column, number, of_block(w.scale->as<float>(), number, column), of_block(zeros, number, column) + offset);
      for (int64_t row = 0; row < w.k; ++row) packed.set_code(column, row, codes[static_cast<std::size_t>(at(row, column, w.k))] + offset);
    }
    multiply_packed(node, add_packed(graph_, graph_[node.inputs[1]].name, std::move(packed)));
  }

  Graph& graph_;
  PerValue<int> definition_;
};

}  // namespace

Graph recognise_weight_only(Graph graph) {
  Recogniser(graph).run();
  return graph;
}

}  // namespace onnxc
