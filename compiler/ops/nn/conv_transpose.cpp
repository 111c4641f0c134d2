// ConvTranspose. With constant f32 weights in one to three dimensions it runs channels-last, a convolution for each phase of the stride; anything
// else takes the reference kernel. f16 and bf16 are computed in f32.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/scalar/conv_transpose.hpp"

namespace onnxc {
namespace {

/// The window with ConvTranspose's pads, and the spatial extents of the output.
struct Placement {
  Window window;
  Extents out;
};

Placement place(const Node& node, const Extents& x, const Extents& w) {
  const Extents in(x.begin() + 2, x.end()), kernel(w.begin() + 2, w.end());
  const std::size_t rank = in.size();
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  Node plain = node;  // auto_pad means something else than for Conv
  plain.attributes.erase("auto_pad");
  if (auto_pad != "NOTSET" && !auto_pad.empty()) plain.attributes.erase("pads");
  Placement p{read_window(plain, in, kernel), {}};
  const auto list = [&](const char* name, int64_t otherwise) {
    std::vector<int64_t> values = node.integers(name, std::vector<int64_t>(rank, otherwise));
    if (values.size() == rank + 2 && std::string_view(name) == "output_shape")
      values.erase(values.begin(), values.begin() + 2);  // some exporters give all axes
    if (values.size() != rank)
      node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' has {} values where {} are needed", name, values.size(), rank));
    for (int64_t v : values) {
      if (v < 0) node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' holds {}", name, v));
    }
    return values;
  };
  const std::vector<int64_t> extra = list("output_padding", 0), shape = list("output_shape", 0);
  const bool given = !node.integers("output_shape").empty(), upper = auto_pad == "SAME_UPPER", same = upper || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "VALID" && auto_pad != "NOTSET" && !auto_pad.empty())
    node.fail(ErrorKind::Invalid, fmt::format("auto_pad is '{}'; NOTSET, SAME_UPPER, SAME_LOWER or VALID are allowed", auto_pad));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim reach = (in[i] - 1) * p.window.strides[i] + extra[i] + (p.window.kernel[i] - 1) * p.window.dilations[i] + 1;
    if (given || same) {
      const Dim out = given ? Dim(shape[i]) : in[i] * p.window.strides[i];
      const Dim total = max(reach - out, 0), half = floor_div(total, 2);
      p.window.pads_begin[i] = upper ? half : total - half;
      p.window.pads_end[i] = upper ? total - half : half;
      p.out.push_back(out);
    } else {
      p.out.push_back(max(reach - p.window.pads_begin[i] - p.window.pads_end[i], 0));
    }
  }
  return p;
}

void infer_conv_transpose(Inference& n) {
  const Extents &x = n.extents(0), &w = n.extents(1);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (w.size() != x.size()) n.fail(fmt::format("the weights have rank {}, the input {}", w.size(), x.size()));
  const int64_t group = n.node().integer("group", 1);
  if (group < 1) n.fail(fmt::format("group is {}", group));
  n.unify(x[1], w[0], "the channels of the input and the weights");
  if (w[0].is_constant() && w[0].value() % group != 0)
    n.fail(fmt::format("{} input channels do not divide by group {}", w[0].value(), group));
  const Dim cout = w[1] * group;
  if (n.has(2)) n.unify(n.extents(2).size() == 1 ? n.extents(2)[0] : Dim(-1), cout, "the bias and the output channels");
  Extents out{x[0], cout};
  for (Dim d : place(n.node(), x, w).out) out.push_back(d);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_conv_transpose(Evaluation& e) {
  const Window window = place(e.node(), to_extents(e.input(0).shape), to_extents(e.input(1).shape)).window;
  scalar::ConvTransposeParams p;
  p.group = e.node().integer("group", 1);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
  }
  for_float(e.type(0), [&]<class T>() {
    scalar::conv_transpose<T>(Part{}, e.out<T>(), e.in<T>(0), e.in<T>(1), e.has(2) ? e.in<T>(2).data : nullptr, p);
  });
}

bool has_fast_kernel(const Graph& graph, const Node& node) {
  const TensorData* w = graph.constant(node.input(1));
  if (w == nullptr || w->type != ElementType::F32 || w->shape.size() > 5 || w->count() == 0) return false;
  return !node.has_input(2) || graph.constant(node.input(2)) != nullptr;
}

void lower_reference(KernelQuery& l) {
  const Window window = place(l.node(), l.extents(0), l.extents(1)).window;
  const View x = l.in(0), w = l.in(1), y = l.out(0);
  StepBuilder step = l.call("scalar_conv_transpose");
  step.type(y.element).tensor(y).tensor(x).tensor(w);
  if (l.has(2)) step.pointer(l.in(2));
  else step.name("nullptr");
  step.params({{"strides", dims_arg(window.strides)},
               {"dilations", dims_arg(window.dilations)},
               {"pads", dims_arg(window.pads_begin)},
               {"group", dim_arg(l.node().integer("group", 1))}})
      .emit();
}

void lower_conv_transpose(KernelQuery& l) {
  if (!l.optimise() || !has_fast_kernel(l.graph(), l.node())) {
    lower_reference(l);
    return l.apply_epilogue(l.result());
  }
  const Extents &x_extents = l.extents(0), &w_extents = l.extents(1), &y_extents = l.output_type(0).extents;
  const Sliding s = sliding(place(l.node(), x_extents, w_extents).window, x_extents, y_extents);
  const Window window = s.plane();
  const int64_t group = l.node().integer("group", 1), cin = w_extents[0].value(), cout = w_extents[1].value() * group,
                kd = s.z.kernel.value(), kh = window.kernel[0].value(), kw = window.kernel[1].value();
  const Dim n = s.n, h = s.y.in, w = s.x.in, oh = s.y.out, ow = s.x.out,
            phase_pixels = ceil_div(s.z.out, s.z.stride) * ceil_div(oh, window.strides[0]) * ceil_div(ow, window.strides[1]);
  const Tile tile = choose_tile(l.target(), {.m = n * phase_pixels, .n = cout / group, .k = cin / group * kd * kh * kw});
  const std::span<const float> taps = l.constant(1)->as<float>();
  const pack::ConvShape shape{.cout = cout, .cin = cin / group, .kh = kd * kh, .kw = kw, .group = group, .nr = tile.nr};
  const View given = l.in_any(0),
             x = l.in(0, given.layout.channels_last ? given.layout : channels_last(x_extents, l.target().vector_floats)), y = l.out_any(0);
  const int64_t lanes = l.target().vector_floats, channels = (cin + lanes - 1) / lanes * lanes;
  const bool narrow = !s.is_deep() && is_narrow(cout, group) && 2 * cout * channels < tile.nr * cin;  // a step of it takes twice as long
  const std::string& name = l.graph()[l.node().input(1)].name;
  const PointerArg weights =
      narrow ? l.weights(name, ElementType::F32, pack::narrow(taps, shape, lanes, true))
             : l.weights(name, {taps, pack::conv_size(shape), [taps, shape] { return pack::conv_transpose(taps, shape); }});
  std::vector<std::pair<std::string, Arg>> params{{"n", dim_arg(n)},
                                                  {"h", dim_arg(h)},
                                                  {"w", dim_arg(w)},
                                                  {"cin", dim_arg(cin)},
                                                  {"oh", dim_arg(oh)},
                                                  {"ow", dim_arg(ow)},
                                                  {"cout", dim_arg(cout)},
                                                  {"kh", dim_arg(kh)},
                                                  {"kw", dim_arg(kw)},
                                                  {"stride_y", dim_arg(window.strides[0])},
                                                  {"stride_x", dim_arg(window.strides[1])},
                                                  {"dilation_y", dim_arg(window.dilations[0])},
                                                  {"dilation_x", dim_arg(window.dilations[1])},
                                                  {"pad_top", dim_arg(window.pads_begin[0])},
                                                  {"pad_left", dim_arg(window.pads_begin[1])},
                                                  {"group", dim_arg(group)},
                                                  {"x_pixel", dim_arg(x.layout.pixel_stride)},
                                                  {"y_pixel", dim_arg(y.layout.pixel_stride)}};
  if (s.is_deep()) std::ranges::move(depth_params(s.z), std::back_inserter(params));
  if (l.has(2))
    params.emplace_back("bias",
                        l.weights(l.graph()[l.node().input(2)].name, ElementType::F32, pack::conv_bias(l.constant(2)->as<float>(), shape)));
  StepBuilder step = l.call(s.is_deep() ? "conv_transpose_3d" : narrow ? "conv_transpose_narrow" : "conv_transpose");
  if (narrow) step.template_name(std::to_string(cout));
  else tile_args(step, tile);
  step.pointer(x).pointer(weights).pointer(y).params(std::move(params));
  step.epilogue(l.epilogue(l.image_shape(y_extents), step)).macs(n * s.z.in * h * w * (cin * (cout / group) * kd * kh * kw)).emit();
}

}  // namespace

extern const Operator op_ConvTranspose;
const Operator op_ConvTranspose{.name = "ConvTranspose",
                                .min_inputs = 2,
                                .max_inputs = 3,
                                .max_outputs = 1,
                                .infer = infer_conv_transpose,
                                .decompose = compute_in_float,
                                .evaluate = evaluate_conv_transpose,
                                .lower = lower_conv_transpose,
                                .layout = LayoutRule::Prefers,
                                .takes_epilogue = has_fast_kernel};

}  // namespace onnxc
