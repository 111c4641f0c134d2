// The first convolution of a network, which reads the few channels of an image as the user gives them:
// runtime_stub/onnxc/conv_stem.hpp.
#pragma once
#include <optional>

#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// What its kernels need to know of a stem.
struct Stem {
  ConvCall call;
  Tile tile;
  /// The image is channels-last without gaps. For the kernel it is then a planar image of one channel, whose rows, taps
  /// and strides are cin times as long.
  bool joined;

  /// Floats of the image from one pixel of a row to the next.
  int64_t pixel() const { return joined ? call.cin : 1; }
};

/// Empty where the kernel does not support the convolution. `pairs`: its tile may have pairs.
std::optional<Stem> stem_of(KernelQuery& l, bool pairs = false);

/// As stem_of, but empty where the image would have to be transposed first.
std::optional<Stem> stem_in_place(KernelQuery& l, bool pairs = false);

/// States a candidate where the kernel supports the convolution.
void consider_stem(KernelQuery& l);

/// The packed weights.
PointerArg stem_weights(KernelQuery& l, const Stem& stem);
/// The image that the kernel reads.
View stem_input(KernelQuery& l, const Stem& stem);
/// The kernel's parameters. Pixels of the output lie as `y` says.
NamedArgs stem_params(KernelQuery& l, const Stem& stem, const View& x, const View& y);
/// Adds the kernel's template arguments.
StepBuilder& stem_args(StepBuilder& step, const Stem& stem);

/// Whether stem_of is sure to succeed for this convolution of one image with constant extents, in whichever layout
/// its input is.
bool is_stem(const Graph& graph, const Node& node, const Target& target);

}  // namespace onnxc
