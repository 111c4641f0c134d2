#include "tools/quantize/equalise.h"

#include <algorithm>
#include <cmath>

namespace onnxc {
namespace {

constexpr int kEqualisingRounds = 20;  ///< over all pairs; a channel of a long chain takes some to settle

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

int equalise_layers(onnx::GraphProto& graph, const Types& types) {
  const std::vector<Pair> pairs = find_pairs(graph, types);
  for (int round = 0; round < kEqualisingRounds; ++round) {
    for (const Pair& pair : pairs) equalise(graph, pair);
  }
  return static_cast<int>(pairs.size());
}

}  // namespace onnxc
