// On demand, constant weights in f32 become codes of 8 or 4 bits in blocks along k, and the rows of tables in blocks along the last axis:
//
//   y = MatMul a w          becomes    y = MatMulNBits a codes scales zeros {K, N, bits, block_size}
//   y = Gather table i      becomes    y = GatherBlockQuantized codes i scales zeros {bits, block_size, gather_axis, quantize_axis}
//
// Between a weight and its readers may be Identity and Transpose, and Gemm may take the place of MatMul. A table [n, k] whose Transpose is a product's
// weights, as embeddings often are, is rounded once: the codes are the same, byte by byte.
//
// A weight that anything else reads, too, stays as it is, since both forms would be kept. So does what would lose and save nothing.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "compiler/passes/float_nodes.h"
#include "compiler/passes/packed_products.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/round_block.h"
#include "compiler/support/attempt.h"

namespace onnxc {
namespace {

/// A constant as rows of k weights each, which codes of a row's blocks stand for.
struct Rows {
  const float* first;
  int64_t count, k;
  int64_t between_rows, between_columns;  ///< elements
};

/// A node that can do with codes.
struct Reader {
  std::size_t node;
  ValueId weights;  ///< the constant
  bool by_columns;  ///< its rows, as above, are the constant's columns
};

class WeightQuantiser {
 public:
  WeightQuantiser(Graph& graph, const WeightForm& form, WeightSavings& savings)
      : graph_(graph), form_(form), savings_(savings), definition_(definitions(graph)) {}

  void run() {
    for (Node& node : graph_.nodes) {
      for (auto& [name, region] : node.regions) {
        *region = quantise_weights(std::move(*region), form_, savings_);
        graph_.float_reasons.merge(region->float_reasons);
      }
    }
    std::map<ValueId, std::vector<Reader>> readers;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (const auto reader = reader_of(i)) readers[reader->weights].push_back(*reader);
      else if (!reader.why().empty()) say(i, reader.why());
    }
    const PerValue<int> uses = uses_of_weights();
    for (const auto& [weights, all] : readers) {
      std::string why = static_cast<std::size_t>(uses[weights]) > all.size() ? "something else reads its weights as floats" : "";
      if (why.empty()) why = round(weights, all);
      for (const Reader& reader : all) {
        if (!why.empty()) say(reader.node, why);
      }
    }
  }

 private:
  const Node* producer(ValueId v) const { return definition_[v] < 0 ? nullptr : &graph_.node(definition_[v]); }
  void say(std::size_t node, const std::string& why) {
    graph_.float_reasons.insert_or_assign(first_output(graph_, graph_.nodes[node]), why);
  }

  bool is_transpose(const Node& node) const {
    const auto order = node.integers("perm");
    return node.is("Transpose") && graph_[node.inputs[0]].type.rank() == 2 && (order.empty() || order == std::vector<int64_t>{1, 0});
  }
  bool is_move(const Node& node) const { return node.is("Identity") || is_transpose(node); }

  /// How often each value is read, not counting moves but what reads their results.
  PerValue<int> uses_of_weights() const {
    PerValue<int> uses = use_counts(graph_);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      if (is_move(node)) uses[node.inputs[0]] += uses[node.outputs[0]] - 1;
    }
    return uses;
  }

  /// Nothing, and no reason, for what has no constant weights.
  Attempt<Reader> reader_of(std::size_t at) const {
    const Node& node = graph_.nodes[at];
    const bool is_product = node.is("MatMul") || node.is("Gemm");
    if (!is_product && !node.is("Gather")) return std::nullopt;
    Reader reader{at, node.inputs[is_product ? 1 : 0], is_product && node.integer("transB", 0) == 0};
    for (const Node* move = producer(reader.weights); move != nullptr && is_move(*move); move = producer(reader.weights)) {
      reader.weights = move->inputs[0];
      reader.by_columns = reader.by_columns != is_transpose(*move);
    }
    const TensorData* const w = graph_.constant(reader.weights);
    const ValueId other = node.inputs[is_product ? 0 : 1];
    if (w == nullptr || w->type != ElementType::F32 || w->shape.size() < 2 || graph_.constant(other) != nullptr) return std::nullopt;
    if (is_product && graph_[other].type.rank() == 0) return std::nullopt;
    if (std::ranges::any_of(w->shape, [](int64_t extent) { return extent > INT32_MAX; })) return std::nullopt;  // which no operator counts
    if (w->count() < form_.fewest)
      return Refusal{fmt::format("its {} weights are few: from {} on they become codes", w->count(), form_.fewest)};
    if (!is_product) return table_reader(reader, node, *w);
    if (w->shape.size() != 2) return Refusal{fmt::format("its weights have {} axes; a matrix would do", w->shape.size())};
    if (std::string why = not_packable(graph_, node); !why.empty()) return Refusal{std::move(why)};
    return reader;
  }

  Attempt<Reader> table_reader(const Reader& reader, const Node& node, const TensorData& table) const {
    const int64_t axis = node.integer("axis", 0), rank = std::ssize(table.shape);
    if (axis == rank - 1 || axis == -1) return Refusal{"it picks along the last axis of its table, in which blocks would lie"};
    if (reader.by_columns) return Refusal{"it reads the Transpose of its table"};
    if (table.shape.back() * form_.bits % 8 != 0) return Refusal{"the rows of its table are no whole bytes of codes"};
    return reader;
  }

  Rows rows_of(ValueId weights, bool by_columns) const {
    const TensorData& w = *graph_.constant(weights);
    const int64_t columns = w.shape.back(), rows = w.count() / columns;
    const float* const first = w.as<float>().data();
    return by_columns ? Rows{first, columns, rows, 1, columns} : Rows{first, rows, columns, columns, 1};
  }

  /// Rounds the weights for all of their readers. Returns why not, or nothing.
  std::string round(ValueId weights, const std::vector<Reader>& readers) {
    const std::span<const float> values = graph_.constant(weights)->as<float>();
    if (!std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) return "its weights are not all finite";
    std::map<bool, PackedMatrix> forms;
    int64_t bytes = 0;
    for (const Reader& reader : readers) {
      if (forms.contains(reader.by_columns)) continue;
      const Rows rows = rows_of(weights, reader.by_columns);
      const auto shortest = std::max<int64_t>(16, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows.k))));
      PackedMatrix matrix(rows.k, rows.count, form_.bits, std::min(form_.block, shortest));
      bytes += static_cast<int64_t>(matrix.codes.size() + matrix.scales.size() + matrix.zeros.size());
      forms.emplace(reader.by_columns, std::move(matrix));
    }
    if (bytes >= static_cast<int64_t>(values.size_bytes())) return "codes of its weights would take no fewer bytes";
    for (auto& [by_columns, matrix] : forms) {
      fill(matrix, rows_of(weights, by_columns));
      savings_.bytes += matrix.bytes();
      rewrite(readers, by_columns, std::move(matrix));
    }
    savings_.weights += std::ssize(values);
    return "";
  }

  void fill(PackedMatrix& matrix, const Rows& rows) const {
    std::vector<float> block(static_cast<std::size_t>(matrix.block));
    std::vector<uint8_t> codes(block.size());
    for (int64_t row = 0; row < rows.count; ++row) {
      for (int64_t number = 0; number < matrix.blocks(); ++number) {
        const int64_t first = number * matrix.block, length = std::min(matrix.block, rows.k - first);
        for (int64_t i = 0; i < length; ++i)
          block[static_cast<std::size_t>(i)] = rows.first[row * rows.between_rows + (first + i) * rows.between_columns];
        const RoundedBlock rounded = round_block(std::span(block).first(static_cast<std::size_t>(length)), form_.bits, codes);
        matrix.set_block(row, number, rounded.scale, rounded.zero);
        for (int64_t i = 0; i < length; ++i) matrix.set_code(row, first + i, codes[static_cast<std::size_t>(i)]);
      }
    }
  }

  void rewrite(const std::vector<Reader>& readers, bool by_columns, PackedMatrix matrix) {
    const ValueId weights = readers[0].weights;
    const std::string name = graph_[weights].name;
    const auto reads = [&](const Reader& reader) { return reader.by_columns == by_columns; };
    const auto is_table = [&](const Reader& reader) { return reads(reader) && graph_.nodes[reader.node].is("Gather"); };
    const std::vector<int64_t> shape = graph_.constant(weights)->shape;
    if (std::ranges::any_of(readers, is_table)) {
      const Table table = add_table(name, shape, matrix);
      for (const Reader& reader : readers) {
        if (is_table(reader)) look_up(graph_.nodes[reader.node], table, matrix.block);
      }
    }
    const auto is_product = [&](const Reader& reader) { return reads(reader) && graph_.nodes[reader.node].op != "GatherBlockQuantized"; };
    if (std::ranges::none_of(readers, is_product)) return;
    const PackedConstants constants = add_packed(graph_, name, std::move(matrix));
    for (const Reader& reader : readers) {
      if (is_product(reader)) multiply_packed(graph_.nodes[reader.node], constants);
    }
  }

  /// The constants of a GatherBlockQuantized.
  struct Table {
    ValueId codes, scales, zeros;
  };
  Table add_table(const std::string& name, const std::vector<int64_t>& shape, const PackedMatrix& matrix) {
    const auto constant = [&](const std::string& of, ElementType type, int64_t last, std::vector<std::byte> bytes) {
      std::vector<int64_t> own = shape;
      own.back() = last;
      return graph_.add_constant(of, std::make_shared<const TensorData>(TensorData{type, std::move(own), std::move(bytes), {}}));
    };
    // Without what pads the last block.
    const auto row_bytes = static_cast<std::ptrdiff_t>(matrix.k * matrix.bits / 8), padded = std::ssize(matrix.codes) / matrix.n;
    std::vector<std::byte> codes;
    for (auto row = matrix.codes.begin(); row != matrix.codes.end(); row += padded) codes.insert(codes.end(), row, row + row_bytes);
    const int64_t blocks = matrix.blocks();
    return {constant(name, ElementType::U8, row_bytes, std::move(codes)),
            constant(name + "_scale", ElementType::F32, blocks, matrix.scales),
            matrix.has_zeros ? constant(name + "_zero", ElementType::U8, std::ssize(matrix.zeros) / matrix.n, matrix.zeros) : kAbsent};
  }
  void look_up(Node& node, const Table& table, int64_t block) const {
    const int64_t axis = node.integer("axis", 0), rank = graph_[table.codes].type.rank();
    node.domain = "com.microsoft";
    node.op = "GatherBlockQuantized";
    node.version = 1;
    node.schema = nullptr;
    node.inputs = {table.codes, node.inputs[1], table.scales};
    if (table.zeros != kAbsent) node.inputs.push_back(table.zeros);
    node.attributes = {
        {"bits", int64_t{form_.bits}}, {"block_size", block}, {"gather_axis", axis < 0 ? axis + rank : axis}, {"quantize_axis", rank - 1}};
  }

  Graph& graph_;
  const WeightForm& form_;
  WeightSavings& savings_;
  PerValue<int> definition_;
};

}  // namespace

Graph quantise_weights(Graph graph, const WeightForm& form, WeightSavings& savings) {
  WeightQuantiser(graph, form, savings).run();
  return graph;
}

Graph quantise_weights(Graph graph) {
  WeightSavings savings;
  return quantise_weights(std::move(graph), {.bits = 4, .block = 16, .fewest = 1}, savings);
}

}  // namespace onnxc
