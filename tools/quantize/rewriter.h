// Builds the graph of a quantised model from that of a network in floats, node by node.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tools/quantize/quantised_network.h"

namespace onnxc {

class Rewriter {
 public:
  explicit Rewriter(const onnx::ModelProto& model);

  const onnx::GraphProto& original() const { return original_; }
  /// A new initialiser, whose name begins like that.
  std::string constant(const std::string& base, const TensorData& tensor);
  std::string constant(const std::string& base, float value);
  std::string constant(const std::string& base, ElementType byte, int value);
  /// A new node with one new value, both called like that.
  std::string add(const std::string& op, const std::vector<std::string>& inputs, const std::string& base);
  /// A node as it is.
  onnx::NodeProto& add(onnx::NodeProto node);
  /// The node that was added last.
  onnx::NodeProto& last() { return nodes_.back(); }
  std::string fresh(const std::string& base) { return index_.fresh(base); }

  /// The weights of a layer as a new initialiser, their scales as another, and the DequantizeLinear of these: its output. Weights that several layers share are
  /// written once.
  /// Those with a scale for each block stand as MatMul has them, whatever they were: ONNX Runtime and OpenVINO know only this form.
  std::string dequantised_weights(const Layer& layer, const LayerWeights& weights);
  /// The codes with rows along that axis: the one of the weights, or 1 for what is to be multiplied from the right.
  std::string codes_of(const Layer& layer, const LayerWeights& weights, int64_t axis);
  /// The scales along rows, or the one scale.
  std::string scales_of(const Layer& layer, const LayerWeights& weights);
  /// Puts the corrected bias of the Add behind a MatMul into its place.
  void correct_addend(const LayerWeights& weights);
  /// A table of bytes that is looked up in, and dequantised afterwards.
  void look_up(const Layer& layer, const onnx::NodeProto& node, const LayerWeights& weights);

  /// The axis of rows in what `dequantised_weights` writes.
  int64_t written_axis(const Layer& layer, const LayerWeights& weights) const;

  /// The model with these nodes, without what nothing reads any more.
  onnx::ModelProto finish();

 private:
  onnx::ModelProto model_;
  onnx::GraphProto original_;
  GraphIndex index_;
  std::vector<onnx::NodeProto> nodes_;
  std::map<std::string, std::string> written_;  ///< of weights, which may be shared: what was written for which role
};

}  // namespace onnxc
