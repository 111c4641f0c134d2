#include "tools/model/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace onnxc {
namespace {

constexpr int64_t kSmallestTable = 1024;  ///< elements: below, codes and scale save nothing

class Finder {
 public:
  Finder(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types) : graph_(graph), index_(index), types_(types) {}

  std::vector<Layer> find() const {
    std::vector<Layer> layers;
    for (int i = 0; i < graph_.node_size(); ++i) {
      const onnx::NodeProto& node = graph_.node(i);
      static const std::set<std::string> kOthers = {"ConvTranspose", "LSTM", "GRU", "RNN", "Einsum", "DeformConv", "Attention"};
      Layer layer;
      if (is_op(node, "Conv")) layer = conv(node);
      else if (is_op(node, "Gemm")) layer = gemm(node);
      else if (is_op(node, "MatMul")) layer = matmul(node);
      else if (is_op(node, "Gather")) layer = table(node);
      else if (kOthers.contains(node.op_type())) layer.kept = fmt::format("{} stays as it is", node.op_type());
      else continue;
      if (layer.kept.empty() && layer.kind == Layer::Kind::Other) continue;
      layer.node = i;
      layer.name = shown(node);
      layer.output = node.output(0);
      if (layer.kept.empty()) layer.kept = why_not(layer);
      layers.push_back(std::move(layer));
    }
    return layers;
  }

 private:
  static std::string input(const onnx::NodeProto& node, int k) { return k < node.input_size() ? node.input(k) : std::string(); }
  const onnx::TensorProto* constant(const std::string& name, int rank) const {
    const onnx::TensorProto* tensor = index_.initialiser(name);
    return tensor != nullptr && tensor->dims_size() == rank ? tensor : nullptr;
  }
  static Layer kept(std::string why) {
    Layer layer;
    layer.kept = std::move(why);
    return layer;
  }
  Layer product(Layer::Kind kind, const onnx::NodeProto& node, int rank) const {
    if (index_.initialiser(input(node, 1)) == nullptr) return kept("its weights are computed, not constant");
    if (constant(input(node, 1), rank) == nullptr)
      return kept(fmt::format("its weights have {} axes", index_.initialiser(input(node, 1))->dims_size()));
    Layer layer;
    layer.kind = kind;
    layer.input = input(node, 0);
    layer.weight = input(node, 1);
    layer.bias = input(node, 2);
    if (index_.initialiser(layer.input) != nullptr) layer.kept = "its input is constant";
    return layer;
  }

  Layer conv(const onnx::NodeProto& node) const {
    const onnx::TensorProto* weight = index_.initialiser(input(node, 1));
    const int rank = weight == nullptr ? 4 : weight->dims_size();
    Layer layer = product(Layer::Kind::Conv, node, rank < 3 ? 3 : rank);
    if (!layer.bias.empty() && constant(layer.bias, 1) == nullptr) layer.kept = "its bias is computed, not constant";
    return layer;
  }
  Layer gemm(const onnx::NodeProto& node) const {
    if (integer_attribute(node, "transA", 0) != 0 || number_attribute(node, "alpha", 1) != 1 || number_attribute(node, "beta", 1) != 1)
      return kept("transA, alpha or beta");
    Layer layer = product(Layer::Kind::Gemm, node, 2);
    if (layer.kept.empty() && !layer.bias.empty()) {
      const onnx::TensorProto* bias = constant(layer.bias, 1);
      const int64_t outputs = constant(layer.weight, 2)->dims(integer_attribute(node, "transB", 0) != 0 ? 0 : 1);
      if (bias == nullptr || bias->dims(0) != outputs) layer.kept = "its addend is no vector of constants";
    }
    return layer;
  }
  Layer matmul(const onnx::NodeProto& node) const {
    if (index_.initialiser(input(node, 0)) == nullptr && index_.initialiser(input(node, 1)) == nullptr)
      return kept("a product of two activations");
    return product(Layer::Kind::MatMul, node, 2);
  }
  Layer table(const onnx::NodeProto& node) const {
    const onnx::TensorProto* table = constant(input(node, 0), 2);
    if (table == nullptr || table->data_type() != onnx::TensorProto::FLOAT || integer_attribute(node, "axis", 0) != 0 ||
        table->dims(0) * table->dims(1) < kSmallestTable)
      return {};
    Layer layer;
    layer.kind = Layer::Kind::Table;
    layer.weight = input(node, 0);
    layer.input = input(node, 1);
    return layer;
  }

  bool is_float32(const std::string& value) const {
    const auto type = types_.find(value);
    return type != types_.end() && type->second.is_tensor() && type->second.element == ElementType::F32;
  }
  /// What the weights themselves say.
  std::string why_not(const Layer& layer) const {
    const onnx::TensorProto& weight = *index_.initialiser(layer.weight);
    if (weight.data_type() != onnx::TensorProto::FLOAT || !is_float32(layer.output)) return "it does not compute in f32";
    if (layer.kind != Layer::Kind::Table && (!types_.contains(layer.input) || !types_.at(layer.input).ranked))
      return "its input has no known rank";
    bool has_nonzero = false;
    for (const double w : to_doubles(to_tensor(weight))) {
      if (!std::isfinite(w)) return "its weights hold NaN or infinity";
      has_nonzero |= w != 0;
    }
    if (!has_nonzero) return "all its weights are 0";
    if (!layer.bias.empty()) {
      const std::vector<double> bias = to_doubles(to_tensor(*index_.initialiser(layer.bias)));
      if (!std::ranges::all_of(bias, [](double b) { return std::isfinite(b); })) return "its bias holds NaN or infinity";
    }
    return {};
  }

  const onnx::GraphProto& graph_;
  const GraphIndex& index_;
  const Types& types_;
};

}  // namespace

std::vector<Layer> find_layers(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types) {
  return Finder(graph, index, types).find();
}

std::string addend_behind(const Layer& layer, const onnx::GraphProto& graph, const GraphIndex& index, int64_t rows) {
  if (layer.kind != Layer::Kind::MatMul || !index.has_one_reader(layer.output)) return {};
  const onnx::NodeProto& add = graph.node(index.readers(layer.output)[0]);
  if (!is_op(add, "Add")) return {};
  const std::string& other = add.input(add.input(0) == layer.output ? 1 : 0);
  const onnx::TensorProto* addend = index.initialiser(other);
  const bool fits =
      addend != nullptr && addend->data_type() == onnx::TensorProto::FLOAT && addend->dims_size() == 1 && addend->dims(0) == rows;
  return fits && index.has_one_reader(other) ? other : std::string();
}

void scale_rows(TensorData& weight, int64_t axis, const std::vector<double>& factors) {
  const auto values = weight.as<float>();
  const std::size_t rows = factors.size(), columns = values.size() / rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = axis == 0 ? i / columns : i % rows;
    values[i] = static_cast<float>(static_cast<double>(values[i]) * factors[row]);
  }
}

int64_t row_axis(const Layer& layer, const onnx::NodeProto& node) {
  switch (layer.kind) {
    case Layer::Kind::MatMul: return 1;
    case Layer::Kind::Gemm: return integer_attribute(node, "transB", 0) != 0 ? 0 : 1;
    case Layer::Kind::Conv:
    case Layer::Kind::Table:
    case Layer::Kind::Other: return 0;
  }
  return 0;
}

WeightMatrix weight_matrix(const Layer& layer, const onnx::NodeProto& node, const TensorData& weight) {
  const int64_t axis = row_axis(layer, node);
  const auto values = weight.as<float>();
  WeightMatrix matrix;
  matrix.rows = weight.shape[static_cast<std::size_t>(axis)];
  matrix.columns = matrix.rows == 0 ? 0 : weight.count() / matrix.rows;
  if (layer.kind == Layer::Kind::Conv) matrix.groups = std::max<int64_t>(1, integer_attribute(node, "group", 1));
  matrix.values.assign(values.begin(), values.end());
  if (axis == 1) {
    for (int64_t r = 0; r < matrix.rows; ++r) {
      for (int64_t c = 0; c < matrix.columns; ++c) matrix.row(r)[c] = values[static_cast<std::size_t>(c * matrix.rows + r)];
    }
  }
  return matrix;
}

}  // namespace onnxc
