// The first convolution of a network by Winograd's algorithm along the columns of its image:
// runtime_stub/onnxc/stem_winograd.hpp.
#pragma once
#include <optional>

#include "compiler/select/conv/conv_stem.h"

namespace onnxc {

/// How the kernel is called: form F(outputs, taps), and the pixels of a row that a tile takes.
struct StemWinograd {
  int outputs, taps, pixels;
  Dim scratch;      ///< floats for each thread share
  int64_t weights;  ///< floats
  double macs;      ///< includes the cost of beginning and ending tiles

  int64_t growth(const ConvCall& c) const { return 4 * (weights - c.cout * c.cin * c.kh * c.kw); }
};

/// The cheapest plan. Empty where no form fits the convolution or the machine.
std::optional<StemWinograd> plan_stem_winograd(const KernelQuery& l, const Stem& stem);

/// States a candidate where there is a plan.
void consider_stem_winograd(KernelQuery& l);

/// The packed weights and the template arguments. All other arguments are those of stem_params and stem_input.
PointerArg stem_winograd_weights(KernelQuery& l, const Stem& stem, const StemWinograd& plan);
StepBuilder& stem_winograd_args(StepBuilder& step, const Stem& stem, const StemWinograd& plan);

}  // namespace onnxc
