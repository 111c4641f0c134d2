// What the kernels of an onnxc.ByteConv have in common: they read and write channels-last images.
#pragma once
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

inline bool is_byte_depthwise(const ConvCall& c) { return c.group > 1 && c.cin == c.group && c.cout == c.group; }

inline std::span<const int8_t> byte_weights(KernelQuery& l) { return l.constant(1)->as<int8_t>(); }

/// Where the kernel writes, channels-last: the output, or memory from which sums of 32 bits, which are no image, are copied to it.
inline View pixels_of_result(KernelQuery& l, const ConvCall& c) {
  if (l.out_layout(0).channels_last) return l.out_any(0);
  const Type& type = l.output_type(0);
  return {l.workspace("sums", type.element, element_count(type.extents)), type.element, type.extents, Layout{true, c.cout}};
}
inline void copy_result(KernelQuery& l, const View& from) {
  if (l.out_layout(0).channels_last) return;
  const View y = l.out(0);
  PointerArg sums = from.pointer;
  sums.writes = false;
  l.copy(y.extents, y.pointer, y.strides(), sums, from.strides(), y.element);
}

/// Considers a kernel from pixels to pixels. `build(step, x, y)` gives its arguments and returns its parameters.
template <class Build>
void consider_pixels(KernelQuery& l, const ConvCall& c, const char* kernel, double macs, Build build) {
  l.consider(kernel, macs, 0, [&l, &c, kernel, build] {
    const View x = l.in(0, conv_input_layout(l)), y = pixels_of_result(l, c);
    StepBuilder step = l.call(kernel);
    step.params(build(step, x, y));
    finish_conv(l, step, c, y);
    copy_result(l, y);
  });
}

}  // namespace onnxc
