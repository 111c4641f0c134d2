// The first convolution of a network, which reads few channels as the user gives them: runtime_stub/onnxc/conv_stem.hpp.
#pragma once
#include <optional>

#include "compiler/select/conv/conv_call.h"

namespace onnxc {

/// What its kernels are told of it.
struct Stem {
  ConvCall call;
  Tile tile;
  bool
      joined;  ///< the image is channels-last without gaps: for the kernel, a planar one of one channel, whose rows, taps and strides are cin times as long

  /// Floats of the image between neighbours of a row.
  int64_t pixel() const { return joined ? call.cin : 1; }
};

/// Nothing where the kernel does not take it. `pairs`: it may get a tile with pairs.
std::optional<Stem> stem_of(KernelQuery& l, bool pairs = false);

/// The same, and nothing where the image would have to be turned first.
std::optional<Stem> stem_in_place(KernelQuery& l, bool pairs = false);

/// A candidate where the kernel takes it.
void consider_stem(KernelQuery& l);

/// Its weights, packed.
PointerArg stem_weights(KernelQuery& l, const Stem& stem);
/// What the kernel reads.
View stem_input(KernelQuery& l, const Stem& stem);
/// Parameters; pixels of the output lie as `y` says.
NamedArgs stem_params(KernelQuery& l, const Stem& stem, const View& x, const View& y);
/// Template arguments.
StepBuilder& stem_args(StepBuilder& step, const Stem& stem);

/// Whether a convolution of one image with constant extents is one for which stem_of is sure to have a kernel, wherever its input lies.
bool is_stem(const Graph& graph, const Node& node, const Target& target);

}  // namespace onnxc
