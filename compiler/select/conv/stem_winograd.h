// The first convolution of a network after Winograd along the columns of its image: runtime_stub/onnxc/stem_winograd.hpp.
#pragma once
#include <optional>

#include "compiler/select/conv/conv_stem.h"

namespace onnxc {

/// How its kernels go about it: F(outputs, taps), so many pixels of a row at a time.
struct StemWinograd {
  int outputs, taps, pixels;
  Dim scratch;      ///< floats of each part
  int64_t weights;  ///< floats
  double macs;      ///< with what it takes to begin and end

  int64_t growth(const ConvCall& c) const { return 4 * (weights - c.cout * c.cin * c.kh * c.kw); }
};

/// The quickest; nothing where none fits the convolution or the machine.
std::optional<StemWinograd> plan_stem_winograd(const KernelQuery& l, const Stem& stem);

/// A candidate where there is a plan.
void consider_stem_winograd(KernelQuery& l);

/// Its weights, packed, and its template arguments; what else the kernel is told is as stem_params and stem_input have it.
PointerArg stem_winograd_weights(KernelQuery& l, const Stem& stem, const StemWinograd& plan);
StepBuilder& stem_winograd_args(StepBuilder& step, const Stem& stem, const StemWinograd& plan);

}  // namespace onnxc
