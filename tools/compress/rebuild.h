// Writes a network without what a plan removes: weights are solved anew, factored, and cut.
#pragma once
#include <map>

#include "tools/compress/plan.h"

namespace onnxc {

/// The same as `network.model` but for the decisions.
///
/// 1. Weights of layers that lose inputs are solved anew by least squares, so that their outputs stay what they are as far as the inputs that are left tell; a bias takes
///    care of means.
/// 2. Weights that get a rank become two layers: y = U (U^T W x) with the principal components U of the outputs, which is the best for that rank. A convolution becomes
///    one with `rank` outputs and one of 1x1 behind it.
/// 3. Everything that has an element for each channel is cut, and numbers that count channels are stated anew.
onnx::ModelProto rebuild(const FloatNetwork& network, const GraphIndex& index, const Decisions& decisions);

}  // namespace onnxc
