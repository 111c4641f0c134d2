// The forms that need no calibration: products of integers whose inputs are quantised as they come, and weights that are stored in few bits.
#include "tools/quantize/rewriter.h"

namespace onnxc {
namespace {

/// The layers that have weights to be replaced, by the position of their node.
std::map<int, std::size_t> layers_by_node(const QuantisedPlan& plan) {
  std::map<int, std::size_t> layers;
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    if (plan.layers[l].has_weights()) layers[plan.layers[l].node] = l;
  }
  return layers;
}

/// y = (bytes of x) (codes of w) * (scale of x) (scale of w) + bias
class DynamicWriter {
 public:
  explicit DynamicWriter(Rewriter& rewriter) : rewriter_(rewriter) {}

  void add_layer(const Layer& layer, const LayerWeights& weights, const onnx::NodeProto& node) {
    const Input& x = quantised(layer.input);
    const std::string base = node.output(0);
    const bool is_conv = layer.kind == Layer::Kind::Conv;
    const std::string codes = rewriter_.codes_of(layer, weights, is_conv ? 0 : 1);  // MatMulInteger has no transB
    const std::string sums = rewriter_.add(is_conv ? "ConvInteger" : "MatMulInteger", {x.bytes, codes, x.zero}, base + "_sums");
    if (is_conv) *rewriter_.last().mutable_attribute() = node.attribute();
    const std::string real = rewriter_.add("Cast", {sums}, base + "_real");
    set_attribute(rewriter_.last(), "to", onnx::TensorProto::FLOAT);
    const std::string factor = rewriter_.add("Mul", {x.scale, scales_of(weights.weights, layer)}, base + "_factor");
    const bool has_bias = layer.kind != Layer::Kind::MatMul && !weights.bias.empty();
    const std::string product = rewriter_.add("Mul", {real, factor}, base + "_product");
    if (!has_bias) {
      rewriter_.last().set_output(0, base);
      return;
    }
    rewriter_.add("Add", {product, rewriter_.constant(layer.weight + "_bias", along_channels(weights.bias, layer))}, base + "_sum");
    rewriter_.last().set_output(0, base);
  }

 private:
  struct Input {
    std::string bytes, scale, zero;
  };

  const Input& quantised(const std::string& value) {
    Input& input = inputs_[value];
    if (!input.bytes.empty()) return input;
    input.bytes = rewriter_.add("DynamicQuantizeLinear", {value}, value + "_quantized");
    input.scale = rewriter_.fresh(value + "_scale");
    input.zero = rewriter_.fresh(value + "_zero_point");
    rewriter_.last().add_output(input.scale);
    rewriter_.last().add_output(input.zero);
    return input;
  }
  /// A vector along the channels of an image, or along the columns of a product.
  TensorData along_channels(const std::vector<float>& values, const Layer& layer) const {
    TensorData tensor = floats_tensor(values);
    if (layer.kind != Layer::Kind::Conv) return tensor;
    const auto rank = static_cast<std::size_t>(GraphIndex(rewriter_.original()).initialiser(layer.weight)->dims_size());
    tensor.shape.assign(rank, 1);
    tensor.shape[1] = static_cast<int64_t>(values.size());
    return tensor;
  }

  std::string scales_of(const RoundedWeights& rounded, const Layer& layer) {
    if (!rounded.per_row) return rewriter_.constant(layer.weight + "_scale", rounded.scales[0]);
    return rewriter_.constant(layer.weight + "_scale", along_channels(rounded.scales, layer));
  }

  Rewriter& rewriter_;
  std::map<std::string, Input> inputs_;
};

}  // namespace

onnx::ModelProto write_dynamic(const Network& network, const QuantisedPlan& plan) {
  Rewriter rewriter(network.model);
  DynamicWriter writer(rewriter);
  const std::map<int, std::size_t> layers = layers_by_node(plan);
  for (int i = 0; i < rewriter.original().node_size(); ++i) {
    const onnx::NodeProto& node = rewriter.original().node(i);
    const auto at = layers.find(i);
    if (at == layers.end()) {
      rewriter.add(node);
      continue;
    }
    const Layer& layer = plan.layers[at->second];
    const LayerWeights& weights = *network.weights[at->second];
    rewriter.correct_addend(weights);
    if (layer.kind == Layer::Kind::Table) rewriter.look_up(layer, node, weights);
    else writer.add_layer(layer, weights, node);
  }
  return rewriter.finish();
}

onnx::ModelProto write_weights(const Network& network, const QuantisedPlan& plan) {
  Rewriter rewriter(network.model);
  const std::map<int, std::size_t> layers = layers_by_node(plan);
  for (int i = 0; i < rewriter.original().node_size(); ++i) {
    onnx::NodeProto node = rewriter.original().node(i);
    const auto at = layers.find(i);
    if (at == layers.end()) {
      rewriter.add(std::move(node));
      continue;
    }
    const Layer& layer = plan.layers[at->second];
    const LayerWeights& weights = *network.weights[at->second];
    rewriter.correct_addend(weights);
    if (layer.kind == Layer::Kind::Table) {
      rewriter.look_up(layer, node, weights);
      continue;
    }
    node.set_input(1, rewriter.dequantised_weights(layer, weights));
    if (rewriter.written_axis(layer, weights) != row_axis(layer, node)) clear_attribute(node, "transB");
    if (layer.kind != Layer::Kind::MatMul && !weights.bias.empty()) {
      const std::string bias =
          rewriter.constant((layer.bias.empty() ? layer.weight + "_bias" : layer.bias) + "_corrected", floats_tensor(weights.bias));
      if (node.input_size() > 2) node.set_input(2, bias);
      else node.add_input(bias);
    }
    rewriter.add(std::move(node));
  }
  return rewriter.finish();
}

}  // namespace onnxc
