#include "compiler/select/conv/byte_columns.h"

#include "compiler/ops/selected.h"
#include "compiler/select/conv/byte_pixels.h"

namespace onnxc {
namespace {

constexpr ColumnKernels kPlain{contract::kPlainColumns, "conv_columns_plain", "depthwise_columns_plain"},
    kDsp{contract::kDspColumns, "conv_columns_dsp", "depthwise_columns_dsp"},
    kHelium{contract::kHeliumColumns, "conv_columns_helium", "depthwise_columns_helium"};

std::span<const int32_t> start_of(KernelQuery& l) { return l.has(2) ? l.constant(2)->as<int32_t>() : std::span<const int32_t>(); }

/// The kernels for these weights.
const ColumnKernels& kernels_for(KernelQuery& l, const pack::ColumnShape& shape) {
  const ColumnKernels* const kernels = column_kernels(l.target());
  return kernels == &kDsp && !pack::fits_pairs(l.constant(1)->as<int8_t>(), shape) ? kPlain : *kernels;
}

/// Pixels as the kernel reads them: an image of one channel is channels-last as it is.
View input_pixels(KernelQuery& l, const ConvCall& c) {
  if (l.in_any(0).layout.channels_last) return l.in(0, conv_input_layout(l));
  const Layout packed{true, c.cin};
  if (c.cin > 1) return l.in(0, packed);
  View x = l.in(0);
  x.layout = packed;
  return x;
}

/// Whether the result is one pixel, whose layouts are the same.
bool is_pixel(const ConvCall& c) { return c.oh == Dim(1) && c.ow == Dim(1); }

View output_pixels(KernelQuery& l, const ConvCall& c) {
  if (!is_pixel(c) || l.out_layout(0).channels_last) return pixels_of_result(l, c);
  View y = l.out(0);
  y.layout = {true, c.cout};
  return y;
}
void finish_pixels(KernelQuery& l, StepBuilder& step, const ConvCall& c, const View& y) {
  finish_conv(l, step, c, y);
  if (!is_pixel(c)) copy_result(l, y);
}

void add_start(KernelQuery& l, NamedArgs& params, const std::vector<int32_t>& start) {
  params.emplace_back("start", l.weights(l.has(2) ? l.graph()[l.node().input(2)].name : conv_weights_name(l), ElementType::I32, start));
}

void build_conv(KernelQuery& l, const ConvCall& c) {
  const View x = input_pixels(l, c), y = output_pixels(l, c);
  const int64_t channels = c.cin / c.group;
  pack::ColumnShape shape{.cout = c.cout, .cin = channels, .kh = c.kh, .kw = c.kw, .group = c.group};
  shape.joined = c.group == 1 && x.layout.pixel_stride == Dim(c.cin) && c.window.dilations[1] == 1;
  const ColumnKernels& kernels = kernels_for(l, shape);
  shape.form = kernels.form;
  StepBuilder step = l.call(kernels.conv);
  step.pointer(x).pointer(l.weights(conv_weights_name(l), ElementType::I8, pack::columns(byte_weights(l), shape))).pointer(y);
  const contract::WindowRuns runs = contract::window_runs(c.kh, c.kw, channels, shape.joined);
  const bool in_place = runs.count == 1 && c.no_pads() && (kernels.form.bytes == 1 || c.pixels == Dim(1));
  if (in_place) step.null();
  else step.pointer(l.thread_workspace("columns", ElementType::U8, contract::column_scratch(kernels.form, runs)));
  NamedArgs params = conv_params(c.over, c.cin, c.cout, c.group, x, y);
  add_start(l, params, pack::column_start(start_of(l), byte_weights(l), shape));
  if (!c.no_pads()) params.emplace_back("outside", dim_arg(l.node().integer("outside", 0)));
  step.params(std::move(params));
  finish_pixels(l, step, c, y);
}

void build_depthwise(KernelQuery& l, const ConvCall& c, const ColumnKernels& kernels) {
  const View x = input_pixels(l, c), y = output_pixels(l, c);
  StepBuilder step = l.call(kernels.depthwise);
  step.pointer(x);
  step.pointer(
      l.weights(conv_weights_name(l), ElementType::I8, pack::depthwise_columns(byte_weights(l), kernels.form, c.cin, c.kh * c.kw)));
  step.pointer(y).pointer(
      l.thread_workspace("taps", ElementType::U8, contract::depthwise_columns_scratch(c.kh * c.kw, c.cin, l.target().pointer_bits / 8)));
  NamedArgs params = conv_params(c.over, c.cin, c.cout, contract::kUsualGroup, x, y);
  add_start(l, params, pack::depthwise_start(start_of(l), kernels.form, c.cin));
  if (!c.no_pads()) params.emplace_back("outside", dim_arg(l.node().integer("outside", 0)));
  step.params(std::move(params));
  finish_pixels(l, step, c, y);
}

bool is_for_columns(KernelQuery& l) { return column_kernels(l.target()) != nullptr && (!l.has(2) || l.constant(2) != nullptr); }

}  // namespace

const ColumnKernels* column_kernels(const Target& target) {
  if (target.has(Feature::Helium)) return &kHelium;
  if (target.has(Feature::Dsp)) return &kDsp;
  return target.vector_floats == 1 ? &kPlain : nullptr;
}

bool consider_columns(KernelQuery& l, const ConvCall& c) {
  if (!is_for_columns(l)) return false;
  const ColumnKernels* const kernels = column_kernels(l.target());
  if (is_byte_depthwise(c)) l.consider(kernels->depthwise, c.macs, 0, [&l, &c, kernels] { build_depthwise(l, c, *kernels); });
  else l.consider(kernels->conv, c.macs, 0, [&l, &c] { build_conv(l, c); });
  return true;
}

bool consider_column_product(KernelQuery& l, Dim rows) {
  if (!is_for_columns(l)) return false;
  const int64_t k = l.extents(1)[0].value(), n = l.extents(1)[1].value();
  const double likely = rows.is_constant() ? static_cast<double>(rows.value()) : 128.0;
  l.consider(column_kernels(l.target())->conv, likely * static_cast<double>(k * n), 0, [&l, rows, k, n] {
    const View x = l.in(0), y = l.out(0);
    const std::span<const int8_t> weights = l.constant(1)->as<int8_t>();
    pack::ColumnShape shape{.cout = n, .cin = k, .transposed = true};
    const ColumnKernels& kernels = kernels_for(l, shape);
    shape.form = kernels.form;
    StepBuilder step = l.call(kernels.conv);
    step.pointer(x).pointer(l.weights(conv_weights_name(l), ElementType::I8, pack::columns(weights, shape))).pointer(y);
    const contract::WindowRuns runs = contract::window_runs(1, 1, k, true);
    if (kernels.form.bytes == 1 || rows == Dim(1)) step.null();
    else step.pointer(l.thread_workspace("columns", ElementType::U8, contract::column_scratch(kernels.form, runs)));
    NamedArgs params{{"w", dim_arg(rows)}, {"cin", dim_arg(k)},     {"ow", dim_arg(rows)},
                     {"cout", dim_arg(n)}, {"x_pixel", dim_arg(k)}, {"y_pixel", dim_arg(n)}};
    add_start(l, params, pack::column_start(start_of(l), weights, shape));
    step.params(std::move(params)).epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(rows * (k * n)).emit();
  });
  return true;
}

bool lower_byte_columns(KernelQuery& l) {
  if (!l.optimise() || l.extents(0).size() > 4) return false;
  const ConvCall c(l);
  if (!consider_columns(l, c)) return false;
  l.build_cheapest();
  return true;
}

}  // namespace onnxc
