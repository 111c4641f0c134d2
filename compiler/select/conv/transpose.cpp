// ConvTranspose by constant weights: one convolution for each phase of the stride; for few outputs, with vectors
// along the input channels.
#include "compiler/ops/nn/conv_transpose.h"
#include "compiler/ops/selected.h"
#include "compiler/select/conv/conv_call.h"

namespace onnxc {

void lower_fast_conv_transpose(KernelQuery& l) {
  const Extents &x_extents = l.extents(0), &w_extents = l.extents(1), &y_extents = l.output_type(0).extents;
  const Sliding s = sliding(read_conv_transpose(l.node(), x_extents, w_extents).window, x_extents, y_extents);
  const Window window = s.plane();
  const int64_t group = l.node().integer("group", 1), cin = w_extents[0].value(), cout = w_extents[1].value() * group,
                kd = s.z.kernel.value(), kh = window.kernel[0].value(), kw = window.kernel[1].value();
  const Dim n = s.n, h = s.y.in, w = s.x.in, oh = s.y.out, ow = s.x.out,
            phase_pixels = ceil_div(s.z.out, s.z.stride) * ceil_div(oh, window.strides[0]) * ceil_div(ow, window.strides[1]);
  const Tile tile = choose_tile(l.target(), {.m = n * phase_pixels, .n = cout / group, .k = cin / group * kd * kh * kw});
  const std::span<const float> taps = l.constant(1)->as<float>();
  const pack::ConvShape shape{.cout = cout, .cin = cin / group, .kh = kd * kh, .kw = kw, .group = group, .nr = tile.nr};
  const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
  const int64_t lanes = l.target().vector_floats, channels = (cin + lanes - 1) / lanes * lanes;
  const bool few_outputs =
      !s.is_deep() && has_few_outputs(cout, group) && l.target().machine->product.few_outputs_time * cout * channels < tile.nr * cin;
  const std::string& name = l.graph()[l.node().input(1)].name;
  const PointerArg weights =
      few_outputs ? l.weights(name, ElementType::F32, pack::few_outputs(taps, shape, lanes, true))
                  : l.weights(name, {taps, pack::conv_size(shape), [taps, shape] { return pack::conv_transpose(taps, shape); }});
  auto params = conv_params(s, cin, cout, group, x, y);
  if (l.has(2))
    params.emplace_back("bias",
                        l.weights(l.graph()[l.node().input(2)].name, ElementType::F32, pack::conv_bias(l.constant(2)->as<float>(), shape)));
  StepBuilder step = l.call(s.is_deep() ? "conv_transpose_3d" : few_outputs ? "conv_transpose_few_outputs" : "conv_transpose");
  if (few_outputs) step.template_arg(cout);
  else tile_args(step, tile);
  step.pointer(x).pointer(weights).pointer(y).params(std::move(params));
  step.epilogue(l.epilogue(l.image_shape(y_extents), step)).macs(n * s.z.in * h * w * (cin * (cout / group) * kd * kh * kw)).emit();
}

}  // namespace onnxc
