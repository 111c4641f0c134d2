// A value v that is bytes keeps its name, and is followed by v_QuantizeLinear and v_DequantizeLinear. Nodes that read bytes read the latter; all others, outputs of
// the graph and regions read v itself, which was never rounded.
#include <cmath>

#include "tools/quantize/rewriter.h"

namespace onnxc {
namespace {

constexpr double kMostBias = 1 << 30;  ///< so that sums of 32 bits do not overflow

/// The bias in steps of the sums, or nothing where one is too large for 32 bits.
std::optional<TensorData> codes_of_bias(const std::vector<float>& bias, const RoundedWeights& weights, float input_scale,
                                        std::vector<float>& scales) {
  TensorData codes = TensorData::zeros(ElementType::I32, {static_cast<int64_t>(bias.size())});
  scales.resize(bias.size());
  for (std::size_t r = 0; r < bias.size(); ++r) {
    scales[r] = input_scale * weights.scales[weights.scale_index(static_cast<int64_t>(r), 0)];
    const double code = std::nearbyint(static_cast<double>(bias[r]) / static_cast<double>(scales[r]));
    if (!(std::abs(code) <= kMostBias)) return std::nullopt;
    codes.as<int32_t>()[r] = static_cast<int32_t>(code);
  }
  return codes;
}

class QdqWriter {
 public:
  QdqWriter(const Network& network, const QuantisedPlan& plan) : network_(network), plan_(plan), rewriter_(network.model) {}

  onnx::ModelProto write() {
    const onnx::GraphProto& graph = rewriter_.original();
    std::map<int, std::size_t> layer_of;
    for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
      if (plan_.layers[l].has_weights()) layer_of[plan_.layers[l].node] = l;
    }
    for (const auto& input : graph.input()) quantise(input.name());
    for (int i = 0; i < graph.node_size(); ++i) {
      onnx::NodeProto node = graph.node(i);
      if (const auto places = plan_.bytes.readers.find(i); places != plan_.bytes.readers.end()) {
        for (const int k : places->second) node.set_input(k, dequantised_.at(node.input(k)));
      }
      const auto layer = layer_of.find(i);
      if (layer == layer_of.end()) rewriter_.add(node);
      else add_layer(plan_.layers[layer->second], *network_.weights[layer->second], std::move(node));
      for (const std::string& output : graph.node(i).output()) quantise(output);
    }
    return rewriter_.finish();
  }

 private:
  void quantise(const std::string& value) {
    const auto group = plan_.bytes.group.find(value);
    if (group == plan_.bytes.group.end()) return;
    const Codes& codes = plan_.codes[static_cast<std::size_t>(group->second)];
    auto& [scale, zero] = constants_[group->second];
    if (scale.empty()) {
      scale = rewriter_.constant(value + "_scale", codes.scale);
      zero = rewriter_.constant(value + "_zero_point", ElementType::U8, codes.zero);
    }
    const std::string bytes = rewriter_.add("QuantizeLinear", {value, scale, zero}, value + "_QuantizeLinear");
    dequantised_[value] = rewriter_.add("DequantizeLinear", {bytes, scale, zero}, value + "_DequantizeLinear");
  }

  void add_layer(const Layer& layer, const LayerWeights& weights, onnx::NodeProto node) {
    rewriter_.correct_addend(weights);
    if (layer.kind == Layer::Kind::Table) return rewriter_.look_up(layer, node, weights);
    node.set_input(1, rewriter_.dequantised_weights(layer, weights));
    if (layer.kind != Layer::Kind::MatMul && !weights.bias.empty()) {
      const std::string bias = bias_of(layer, weights);
      if (node.input_size() > 2) node.set_input(2, bias);
      else node.add_input(bias);
    }
    rewriter_.add(std::move(node));
  }

  std::string bias_of(const Layer& layer, const LayerWeights& weights) {
    const std::string base = layer.bias.empty() ? layer.weight + "_bias" : layer.bias;
    const Codes& input = plan_.codes[static_cast<std::size_t>(plan_.bytes.group.at(layer.input))];
    std::vector<float> scales;
    const std::optional<TensorData> codes = codes_of_bias(weights.bias, weights.weights, input.scale, scales);
    if (!codes) return rewriter_.constant(base + "_corrected", floats_tensor(weights.bias));
    const bool per_row = weights.weights.per_row;
    const std::string scale =
        per_row ? rewriter_.constant(base + "_scale", floats_tensor(scales)) : rewriter_.constant(base + "_scale", scales[0]);
    const std::string dequantised =
        rewriter_.add("DequantizeLinear", {rewriter_.constant(base + "_quantized", *codes), scale}, base + "_DequantizeLinear");
    if (per_row) set_attribute(rewriter_.last(), "axis", 0);
    return dequantised;
  }

  const Network& network_;
  const QuantisedPlan& plan_;
  Rewriter rewriter_;
  std::map<std::string, std::string> dequantised_;
  std::map<int, std::pair<std::string, std::string>> constants_;  ///< scale and zero point of a group
};

}  // namespace

onnx::ModelProto write_qdq(const Network& network, const QuantisedPlan& plan) { return QdqWriter(network, plan).write(); }

}  // namespace onnxc
