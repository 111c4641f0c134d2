#include "tools/quantize/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace onnxc {
namespace {

constexpr int kRounds = 20;  ///< over all pairs; a channel of a long chain takes some to settle

std::vector<float> floats(const onnx::TensorProto* tensor) {
  if (tensor == nullptr || tensor->data_type() != onnx::TensorProto::FLOAT) return {};
  const TensorData data = to_tensor(*tensor);
  const auto values = data.as<float>();
  return {values.begin(), values.end()};
}

TensorData vector_of(const std::vector<float>& values) {
  TensorData tensor = TensorData::zeros(ElementType::F32, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.as<float>().begin());
  return tensor;
}

/// How often nodes read an initialiser, which may be shared.
bool is_own(const GraphIndex& index, const std::string& name) { return name.empty() || index.has_one_reader(name); }

/// Multiplies each row of the layer's weights, and its bias, by a factor.
void scale_rows(TensorData& weight, int64_t axis, const std::vector<double>& factors) {
  const auto values = weight.as<float>();
  const std::size_t rows = factors.size(), columns = values.size() / rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = axis == 0 ? i / columns : i % rows;
    values[i] = static_cast<float>(static_cast<double>(values[i]) * factors[row]);
  }
}

/// The layers of a Conv or Gemm kind, by the position of their node.
std::map<int, Layer> scalable_layers(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types) {
  std::map<int, Layer> layers;
  for (Layer& layer : find_layers(graph, index, types)) {
    const bool scales = layer.kept.empty() && (layer.kind == Layer::Kind::Conv || layer.kind == Layer::Kind::Gemm);
    if (scales && is_own(index, layer.weight) && is_own(index, layer.bias)) layers.emplace(layer.node, std::move(layer));
  }
  return layers;
}

/// Two layers, where channel i of the first one's output is channel i of the second one's input.
struct Pair {
  Layer first, second;
};

std::vector<Pair> find_pairs(const onnx::GraphProto& graph, const Types& types) {
  const GraphIndex index(graph);
  const std::map<int, Layer> layers = scalable_layers(graph, index, types);
  std::vector<Pair> pairs;
  for (const auto& [position, first] : layers) {
    std::string value = first.output;
    while (index.has_one_reader(value)) {
      const int reader = index.readers(value)[0];
      if (is_op(graph.node(reader), "Relu")) {
        value = graph.node(reader).output(0);
        continue;
      }
      const auto second = layers.find(reader);
      if (second != layers.end() && second->second.input == value) pairs.push_back({first, second->second});
      break;
    }
  }
  return pairs;
}

/// The greatest magnitude of each row.
std::vector<double> greatest_of_rows(const WeightMatrix& matrix) {
  std::vector<double> greatest;
  for (int64_t r = 0; r < matrix.rows; ++r) {
    double most = 0;
    for (int64_t c = 0; c < matrix.columns; ++c) most = std::max(most, std::abs(static_cast<double>(matrix.row(r)[c])));
    greatest.push_back(most);
  }
  return greatest;
}

/// Calls visit(channel, index of the weight) for every weight of a layer, where channel is that of the input.
template <class Visit>
void for_each_input_channel(const Layer& layer, const onnx::NodeProto& node, const TensorData& weight, const Visit& visit) {
  const auto count = static_cast<std::size_t>(weight.count());
  if (layer.kind == Layer::Kind::Gemm) {
    const auto columns = static_cast<std::size_t>(weight.shape[1]);
    const bool transposed = row_axis(layer, node) == 0;
    for (std::size_t i = 0; i < count; ++i) visit(transposed ? i % columns : i / columns, i);
    return;
  }
  const auto rows = static_cast<std::size_t>(weight.shape[0]), channels = static_cast<std::size_t>(weight.shape[1]),
             taps = count / rows / channels;
  const auto groups = static_cast<std::size_t>(std::max<int64_t>(1, integer_attribute(node, "group", 1))), rows_of_group = rows / groups;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = i / (channels * taps);
    visit(row / rows_of_group * channels + i / taps % channels, i);
  }
}

void equalise(onnx::GraphProto& graph, const Pair& pair) {
  const onnx::NodeProto &first = graph.node(pair.first.node), &second = graph.node(pair.second.node);
  const GraphIndex index(graph);
  TensorData before = to_tensor(*index.initialiser(pair.first.weight)), behind = to_tensor(*index.initialiser(pair.second.weight));
  const std::vector<double> greatest = greatest_of_rows(weight_matrix(pair.first, first, before));
  std::vector<double> greatest_behind(greatest.size());
  const auto weights = behind.as<float>();
  bool fits = true;
  for_each_input_channel(pair.second, second, behind, [&](std::size_t channel, std::size_t i) {
    fits &= channel < greatest_behind.size();
    if (fits) greatest_behind[channel] = std::max(greatest_behind[channel], std::abs(static_cast<double>(weights[i])));
  });
  if (!fits) return;  // a Flatten, or so, is between
  std::vector<double> down(greatest.size(), 1.0), up(greatest.size(), 1.0);
  for (std::size_t c = 0; c < greatest.size(); ++c) {
    if (greatest[c] <= 0 || greatest_behind[c] <= 0) continue;
    up[c] = std::clamp(std::sqrt(greatest[c] / greatest_behind[c]), 1e-3, 1e3);
    down[c] = 1 / up[c];
  }
  scale_rows(before, row_axis(pair.first, first), down);
  for_each_input_channel(pair.second, second, behind, [&](std::size_t channel, std::size_t i) {
    weights[i] = static_cast<float>(static_cast<double>(weights[i]) * up[channel]);
  });
  if (!pair.first.bias.empty()) {
    TensorData bias = to_tensor(*index.initialiser(pair.first.bias));
    scale_rows(bias, 0, down);
    set_initialiser(graph, pair.first.bias, bias);
  }
  set_initialiser(graph, pair.first.weight, before);
  set_initialiser(graph, pair.second.weight, behind);
}

}  // namespace

void refuse_quantised(const onnx::GraphProto& graph) {
  static const std::set<std::string> kQuantised = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear",
                                                   "MatMulNBits",    "MatMulBnb4",       "GatherBlockQuantized"};
  for (const auto& node : graph.node()) {
    const std::string& op = node.op_type();
    if (kQuantised.contains(op) || op.starts_with("QLinear") || op.ends_with("Integer") || op == "QGemm" || op == "QAttention" ||
        op == "DynamicQuantizeMatMul" || op == "DynamicQuantizeLSTM")
      throw Error(ErrorKind::Invalid, fmt::format("the model is quantised already: it has {}", shown(node)),
                  "give the model in floats that it was made from");
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) refuse_quantised(attribute.g());
    }
  }
}

int fold_batch_norms(onnx::GraphProto& graph) {
  int folded = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& norm = graph.node(i);
    if (!is_op(norm, "BatchNormalization") || norm.input_size() != 5 || norm.output_size() != 1 ||
        integer_attribute(norm, "training_mode", 0) != 0)
      continue;
    GraphIndex index(graph);
    const int position = index.producer(norm.input(0));
    if (position < 0 || !index.has_one_reader(norm.input(0))) continue;
    const onnx::NodeProto& node = graph.node(position);
    Layer layer;
    layer.kind = is_op(node, "Conv") ? Layer::Kind::Conv : is_op(node, "Gemm") ? Layer::Kind::Gemm : Layer::Kind::Other;
    if (layer.kind == Layer::Kind::Other || node.input_size() < 2) continue;
    if (layer.kind == Layer::Kind::Gemm && (number_attribute(node, "alpha", 1) != 1 || number_attribute(node, "beta", 1) != 1)) continue;
    const onnx::TensorProto* const weight = index.initialiser(node.input(1));
    const std::string bias_name = node.input_size() > 2 ? node.input(2) : std::string();
    if (weight == nullptr || weight->data_type() != onnx::TensorProto::FLOAT || weight->dims_size() < 2 || !is_own(index, node.input(1)) ||
        !is_own(index, bias_name))
      continue;
    const std::vector<float> scale = floats(index.initialiser(norm.input(1))), shift = floats(index.initialiser(norm.input(2))),
                             mean = floats(index.initialiser(norm.input(3))), variance = floats(index.initialiser(norm.input(4)));
    const auto rows = static_cast<std::size_t>(weight->dims(static_cast<int>(row_axis(layer, node))));
    std::vector<float> bias = bias_name.empty() ? std::vector<float>(rows) : floats(index.initialiser(bias_name));
    if (scale.size() != rows || shift.size() != rows || mean.size() != rows || variance.size() != rows || bias.size() != rows) continue;
    const double epsilon = static_cast<double>(number_attribute(norm, "epsilon", 1e-5f));
    std::vector<double> factors(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      factors[r] = static_cast<double>(scale[r]) / std::sqrt(static_cast<double>(variance[r]) + epsilon);
      bias[r] =
          static_cast<float>((static_cast<double>(bias[r]) - static_cast<double>(mean[r])) * factors[r] + static_cast<double>(shift[r]));
    }
    TensorData scaled = to_tensor(*weight);
    scale_rows(scaled, row_axis(layer, node), factors);
    set_initialiser(graph, node.input(1), scaled);
    onnx::NodeProto& folded_into = *graph.mutable_node(position);
    if (bias_name.empty()) {
      const std::string name = index.fresh(node.input(1) + "_bias");
      *graph.add_initializer() = to_proto(vector_of(bias), name);
      if (folded_into.input_size() == 3) folded_into.set_input(2, name);
      else folded_into.add_input(name);
    } else {
      set_initialiser(graph, bias_name, vector_of(bias));
    }
    folded_into.set_output(0, norm.output(0));
    graph.mutable_node()->DeleteSubrange(i--, 1);
    ++folded;
  }
  if (folded > 0) remove_unused(graph);
  return folded;
}

int equalise_layers(onnx::GraphProto& graph, const Types& types) {
  const std::vector<Pair> pairs = find_pairs(graph, types);
  for (int round = 0; round < kRounds; ++round) {
    for (const Pair& pair : pairs) equalise(graph, pair);
  }
  return static_cast<int>(pairs.size());
}

}  // namespace onnxc
