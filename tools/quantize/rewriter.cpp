#include "tools/quantize/rewriter.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {
namespace {

constexpr int kMiddle = 128;  ///< the zero point of codes without sign

}  // namespace

Rewriter::Rewriter(const onnx::ModelProto& model) : model_(model), original_(model.graph()), index_(original_) {
  model_.mutable_graph()->clear_node();
}

std::string Rewriter::constant(const std::string& base, const TensorData& tensor) {
  const std::string name = index_.fresh(base);
  *model_.mutable_graph()->add_initializer() = to_proto(tensor, name);
  return name;
}
std::string Rewriter::constant(const std::string& base, float value) { return constant(base, *make_scalar(ElementType::F32, value)); }
std::string Rewriter::constant(const std::string& base, ElementType byte, int value) {
  return constant(base, *make_scalar(byte, static_cast<uint8_t>(value)));
}

std::string Rewriter::add(const std::string& op, const std::vector<std::string>& inputs, const std::string& base) {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_name(index_.fresh(base));
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(node.name());
  nodes_.push_back(std::move(node));
  return nodes_.back().output(0);
}
onnx::NodeProto& Rewriter::add(onnx::NodeProto node) {
  nodes_.push_back(std::move(node));
  return nodes_.back();
}

int64_t Rewriter::written_axis(const Layer& layer, const LayerWeights& weights) const {
  return weights.weights.block != 0 ? 1 : row_axis(layer, original_.node(layer.node));
}

std::string Rewriter::codes_of(const Layer& layer, const LayerWeights& weights, int64_t axis) {
  std::string& written = written_[fmt::format("{} codes {}", layer.weight, axis)];
  if (!written.empty()) return written;
  const onnx::TensorProto& weight = *index_.initialiser(layer.weight);
  const RoundedWeights& rounded = weights.weights;
  const bool is_nibble = rounded.block != 0;
  const std::vector<int8_t> codes = in_order_of_weights(rounded.codes, rounded.rows, axis);
  TensorData tensor{is_nibble ? ElementType::I4 : ElementType::I8, {weight.dims().begin(), weight.dims().end()}, {}, {}};
  if (axis != row_axis(layer, original_.node(layer.node))) std::ranges::reverse(tensor.shape);
  tensor.bytes.resize(static_cast<std::size_t>(storage_bytes(tensor.type, tensor.count())));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (is_nibble) tensor.bytes[i / 2] |= static_cast<std::byte>((codes[i] & 15) << (i % 2 * 4));
    else tensor.bytes[i] = static_cast<std::byte>(codes[i]);
  }
  return written = constant(layer.weight + "_quantized", tensor);
}

std::string Rewriter::scales_of(const Layer& layer, const LayerWeights& weights) {
  const RoundedWeights& rounded = weights.weights;
  const int64_t axis = written_axis(layer, weights);
  std::string& written = written_[fmt::format("{} scales {}", layer.weight, axis)];
  if (!written.empty()) return written;
  TensorData scales = floats_tensor(rounded.block == 0 ? rounded.scales : in_order_of_weights(rounded.scales, rounded.rows, axis));
  if (!rounded.per_row) scales.shape.clear();
  if (rounded.block != 0) scales.shape = {rounded.rows, rounded.blocks_of_row()};
  if (rounded.block != 0 && axis == 1) std::ranges::reverse(scales.shape);
  return written = constant(layer.weight + "_scale", scales);
}

std::string Rewriter::dequantised_weights(const Layer& layer, const LayerWeights& weights) {
  const RoundedWeights& rounded = weights.weights;
  const int64_t axis = written_axis(layer, weights);
  std::string& written = written_[fmt::format("{} dequantised {}", layer.weight, axis)];
  if (!written.empty()) return written;
  std::vector<std::string> inputs{codes_of(layer, weights, axis), scales_of(layer, weights)};
  if (rounded.block == 0) {
    const std::vector<int64_t> shape = rounded.per_row ? std::vector<int64_t>{rounded.rows} : std::vector<int64_t>{};
    inputs.push_back(constant(layer.weight + "_zero_point", TensorData::zeros(ElementType::I8, shape)));
  }
  written = add("DequantizeLinear", inputs, layer.weight + "_DequantizeLinear");
  if (rounded.block != 0) {
    set_attribute(last(), "axis", 1 - axis);
    set_attribute(last(), "block_size", rounded.block);
  } else if (rounded.per_row) {
    set_attribute(last(), "axis", axis);
  }
  return written;
}

void Rewriter::correct_addend(const LayerWeights& weights) {
  if (weights.corrects_addend) set_initialiser(*model_.mutable_graph(), weights.addend, floats_tensor(weights.bias));
}

void Rewriter::look_up(const Layer& layer, const onnx::NodeProto& node, const LayerWeights& weights) {
  // Bytes without sign: where ONNX Runtime 1.31 moves such a DequantizeLinear past a Transpose, it takes its zero point for one of u8.
  std::string& table = written_[layer.weight + " table"];
  if (table.empty()) {
    const onnx::TensorProto& weight = *index_.initialiser(layer.weight);
    TensorData codes{ElementType::U8, {weight.dims().begin(), weight.dims().end()}, {}, {}};
    for (const int8_t code : weights.weights.codes) codes.bytes.push_back(static_cast<std::byte>(code + kMiddle));
    table = constant(layer.weight + "_quantized", codes);
  }
  const std::string scale = scales_of(layer, weights);
  onnx::NodeProto gather = node;
  gather.set_input(0, table);
  gather.set_output(0, index_.fresh(node.output(0) + "_quantized"));
  const std::string found = gather.output(0), name = index_.fresh(node.output(0) + "_DequantizeLinear");
  add(std::move(gather));
  onnx::NodeProto dequantise;
  dequantise.set_op_type("DequantizeLinear");
  dequantise.set_name(name);
  dequantise.add_input(found);
  dequantise.add_input(scale);
  dequantise.add_input(constant(layer.weight + "_zero_point", ElementType::U8, kMiddle));
  dequantise.add_output(node.output(0));
  add(std::move(dequantise));
}

onnx::ModelProto Rewriter::finish() {
  for (onnx::NodeProto& node : nodes_) *model_.mutable_graph()->add_node() = std::move(node);
  remove_unused(*model_.mutable_graph());
  return std::move(model_);
}

}  // namespace onnxc
