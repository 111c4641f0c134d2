// Cross-layer equalisation (Nagel et al. 2019, Data-free quantization through weight equalization and bias correction): where a layer feeds another one through
// nothing but Relu, channel by channel, a channel may be scaled down in the first and up in the second. Afterwards its greatest weights are the same in both, so one
// scale for all channels fits better.
#pragma once
#include "tools/model/layers.h"

namespace onnxc {

/// Outputs stay what they are, but for rounding. Returns the number of pairs.
int equalise_layers(onnx::GraphProto& graph, const Types& types);

}  // namespace onnxc
