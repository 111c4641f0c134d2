// A network in floats and what is known of it: what a plan to compress it is made from.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "tools/calibration/model_runner.h"
#include "tools/compress/channel_sets.h"
#include "tools/model/moments.h"

namespace onnxc {

struct FloatNetwork {
  onnx::ModelProto model;
  Types types;
  std::vector<Layer> layers;
  ChannelSets channels;
  std::vector<Moments> inputs,
      outputs;  ///< by layer; without columns where the layer is no Conv, Gemm or MatMul of f32, and without rows where no sample reached it
  std::vector<int64_t> multiply_adds;  ///< by layer, of one sample

  const onnx::NodeProto& node(std::size_t layer) const { return model.graph().node(layers[layer].node); }
  int64_t groups(std::size_t layer) const;
  bool is_known(std::size_t layer) const { return inputs[layer].rows() > 0; }
};

/// Values that have to be watched for `observe`.
std::set<std::string> values_to_observe(const FloatNetwork& network);
/// Runs the samples: fills `inputs`, `outputs` and `multiply_adds`. The channels of layers that no sample reaches, or whose values are not finite, stay.
void observe(FloatNetwork& network, const GraphIndex& index, const ModelRunner& runner, const Samples& samples);

/// The sampled moments of a layer's inputs, for one block of columns: their covariance where the layer has a bias, which takes care of means, else E[x x^T]. It is made
/// well enough conditioned for inverses: something is added to the diagonal, and where rows are few beside columns, correlations, which few rows exaggerate, are reduced.
std::vector<double> input_covariance(const Moments& moments, int64_t group, int64_t block, bool has_bias);

/// Whether a layer has, or can be given, a vector that is added to each output. `addend`: of a MatMul, that of the Add behind it.
struct LayerBias {
  bool can_have = false;
  std::string name;  ///< its initialiser; empty: none yet
};
LayerBias bias_of(const FloatNetwork& network, const GraphIndex& index, std::size_t layer);

}  // namespace onnxc
