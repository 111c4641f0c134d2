// Layer by layer: from weights in floats, and what was seen of their inputs, to integers.
#pragma once
#include <optional>
#include <vector>

#include "tools/calibration/model_runner.h"
#include "tools/quantize/quantised_network.h"

namespace onnxc {

/// Values that calibration watches: the layers' inputs and outputs, and all that may become bytes.
std::set<std::string> values_to_watch(const Network& network, const GraphIndex& index);

/// Runs the samples through the network in floats: fills `network.seen`, and returns the moments of each layer's inputs.
std::vector<Moments> calibrate(Network& network, const ModelRunner& runner, const Samples& samples);

/// Fills `network.weights`. `moments`: by layer; empty without calibration. Layers whose scales cannot be represented get a reason to stay in float.
void round_layers(Network& network, const GraphIndex& index, const std::vector<Moments>& moments, const RoundingOptions& products,
                  const RoundingOptions& others);

}  // namespace onnxc
