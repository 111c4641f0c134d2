// What is done to a network in floats before it is quantised. Its outputs stay what they are, but for rounding.
#pragma once
#include <functional>

#include "tools/quantize/layers.h"

namespace onnxc {

/// Throws Error{Invalid} for a model that is quantised already; the message names the first such node.
void refuse_quantised(const onnx::GraphProto& graph);

/// A BatchNormalization behind a Conv or Gemm that nothing else reads goes into its weights. Returns their number.
int fold_batch_norms(onnx::GraphProto& graph);

/// Cross-layer equalisation (Nagel et al. 2019, Data-free quantization through weight equalization and bias correction): where a layer feeds another one through
/// nothing but Relu, channel by channel, a channel may be scaled down in the first and up in the second. Afterwards its greatest weights are the same in both, so one
/// scale for all channels fits better. Returns the number of pairs.
int equalise_layers(onnx::GraphProto& graph, const Types& types);

}  // namespace onnxc
