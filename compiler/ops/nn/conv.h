// The shape rule of Conv, for operators that convolve as it does.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// The extents of the convolution of input x by input w, with the window of the node's attributes; throws where they do not fit.
Extents conv_extents(Inference& n, int x, int w);

}  // namespace onnxc
