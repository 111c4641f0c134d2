#include "compiler/select/gpu/conv.h"

#include <algorithm>

#include "compiler/ops/nn/conv.h"
#include "compiler/ops/quant/byte_products.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/gpu/rows_of_k.h"
#include "compiler/select/gpu/tiles.h"
#include "runtime_stub/onnxc/contract/gpu.hpp"

namespace onnxc {
namespace {

/// What the kernels compute with. `time`: of a multiply-add of a word, in those of f32.
struct Types {
  ElementType weights, sums;
  double time;
};
constexpr Types kFloats{ElementType::F32, ElementType::F32, 1.0}, kBytes{ElementType::I8, ElementType::I32, kGpuByteTime};

/// Weights [cout][channels][taps] as [cout][taps][row], with zeros behind the channels.
template <class T>
std::vector<T> channels_innermost(std::span<const T> w, const ConvCall& c, int64_t row) {
  const int64_t channels = c.cin / c.group, taps = c.taps();
  std::vector<T> packed(static_cast<std::size_t>(c.cout * taps * row));
  for (int64_t o = 0; o < c.cout; ++o) {
    for (int64_t i = 0; i < channels; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap)
        packed[static_cast<std::size_t>((o * taps + tap) * row + i)] = w[static_cast<std::size_t>((o * channels + i) * taps + tap)];
    }
  }
  return packed;
}
/// Weights [channels][taps] as [taps][row], with zeros behind the channels.
template <class T>
std::vector<T> taps_outermost(std::span<const T> w, const ConvCall& c, int64_t row) {
  std::vector<T> packed(static_cast<std::size_t>(c.taps() * row));
  for (int64_t i = 0; i < c.cout; ++i) {
    for (int64_t tap = 0; tap < c.taps(); ++tap)
      packed[static_cast<std::size_t>(tap * row + i)] = w[static_cast<std::size_t>(i * c.taps() + tap)];
  }
  return packed;
}

/// The weights as `pack` makes them, so many elements.
template <class Pack>
PointerArg weights(KernelQuery& l, const Types& types, int64_t count, Pack pack) {
  if (types.weights == ElementType::I8) return l.weights(conv_weights_name(l), ElementType::I8, pack(l.constant(1)->as<int8_t>()));
  const std::span<const float> w = conv_weights(l);
  return l.weights(conv_weights_name(l), {w, count, [=] { return pack(w); }});
}

/// The input's pixels, which begin at whole accesses. What follows the channels of a pixel is zero, or of bytes anything.
RowsOfK whole_pixels(KernelQuery& l, const ConvCall& c) {
  const View x = l.in_any(0);
  // Slices of a volume may count as images, and lie between its channels then.
  const Dim pixels = element_count(Extents(x.extents.begin() + 2, x.extents.end())), images = x.extents[0];
  if (!x.layout.channels_last)
    return rows_of_k(l, "pixels", x,
                     {.count = images, .rows = pixels, .k = c.cin, .step = pixels * c.cin, .from_row = 1, .from_k = pixels});
  const Dim stride = x.layout.pixel_stride;
  const bool ends_well = is_byte(x.element) || gpu_row_of(c.cin, x.element) == Dim(c.cin);
  if (ends_well && gpu_row_of(stride, x.element) == stride && l.is_aligned(x, 16)) return {x.pointer, stride};
  return rows_of_k(l, "pixels", x, {.rows = images * pixels, .k = c.cin, .from_row = stride, .from_k = 1});
}

/// Where the kernel writes, channels-last: the output, or memory from which it is copied there.
View pixels_of_result(KernelQuery& l) {
  if (l.out_layout(0).channels_last) return l.out_any(0);
  const Type& type = l.output_type(0);
  return {l.workspace("result", type.element, element_count(type.extents)), type.element, type.extents, Layout{true, type.extents[1]}};
}

constexpr std::string_view kProduct = "gpu_gemm", kWindows = "gpu_conv";

bool is_product(const ConvCall& c) { return c.taps() == 1 && c.group == 1 && c.has_unit_strides() && c.no_pads(); }
/// A product of pixels and weights.
NamedArgs product_params(const ConvCall& c, const View& x, const View& y) {
  return {{"m", dim_arg(c.pixels)},
          {"n", dim_arg(c.cout)},
          {"k", dim_arg(c.cin)},
          {"a_stride", dim_arg(x.layout.pixel_stride)},
          {"b_stride", dim_arg(gpu_row_of(c.cin, x.element))},
          {"y_stride", dim_arg(y.layout.pixel_stride)}};
}

/// States a kernel from pixels to pixels. `begin(step)` adds template arguments; `w()` gives the weights.
template <class Begin, class Weights>
void consider_pixels(KernelQuery& l, const ConvCall& c, const Types& types, std::string_view row, double macs, const GpuTilePlan& plan,
                     Begin begin, Weights w) {
  const double in = static_cast<double>(ConvCall::likely(c.n) * ConvCall::likely(c.h) * ConvCall::likely(c.w) * c.cin);
  const double values = in + c.likely_pixels * static_cast<double>(c.cout) + static_cast<double>(c.cout * (c.cin / c.group) * c.taps());
  l.consider(row, macs, static_cast<double>(gpu_bytes(types.weights)) * values, [&l, c, types, row, plan, begin, w] {
    const RowsOfK pixels = whole_pixels(l, c);
    View x = l.in_any(0);
    x.layout = {true, pixels.stride};
    const View y = pixels_of_result(l);
    StepBuilder step = l.call(row);
    begin(step);
    step.pointer(y).pointer(pixels.data).pointer(w());
    NamedArgs params = row == kProduct ? product_params(c, x, y) : c.params(x, y, std::nullopt);
    add_splits(l, step, plan, types.sums, params);
    if (const int64_t outside = l.node().integer("outside", 0); outside != 0 && !c.no_pads()) params.emplace_back("fill", dim_arg(outside));
    step.params(std::move(params)).epilogue(l.epilogue(l.image_shape(y.extents), step, bias_as_given(l)));
    step.macs(c.pixels * (c.cout * (c.cin / c.group) * c.taps())).emit();
    if (l.out_layout(0).channels_last) return;
    const View result = l.out(0);
    PointerArg from = y.pointer;
    from.writes = false;
    l.copy(result.extents, result.pointer, result.strides(), from, y.strides(), y.element);
  });
}

void consider_product(KernelQuery& l, const ConvCall& c, const Types& types) {
  const int64_t channels = c.cin / c.group, bytes = gpu_bytes(types.weights), row = contract::gpu::row_of(channels, bytes);
  if (c.group > 1 && row != channels) return;
  const bool floats = types.weights == ElementType::F32;
  if (floats && l.math() == Math::Strict) return;
  const char* const kind = floats ? gpu_float_kind(l) : "gpu::U8S8";
  const double time = floats ? gpu_float_time(l) : types.time;
  const GpuTilePlan plan = plan_gpu_product(*l.target().gpu, {.m = c.likely_pixels,
                                                              .n = static_cast<double>(c.cout / c.group),
                                                              .words = static_cast<double>(c.taps() * row * bytes / 4),
                                                              .matrices = static_cast<double>(c.group),
                                                              .may_split = c.pixels.is_constant()});
  consider_pixels(
      l, c, types, is_product(c) ? kProduct : kWindows, plan.macs * time, plan,
      [plan, kind](StepBuilder& step) { step.template_arg(RuntimeName{plan.tile.type()}).template_arg(RuntimeName{kind}); },
      [&l, c, types, row] { return weights(l, types, c.cout * c.taps() * row, [=](auto w) { return channels_innermost(w, c, row); }); });
}

void consider_depthwise(KernelQuery& l, const ConvCall& c, const Types& types) {
  if (c.cin != c.group || c.cout != c.group) return;
  const int64_t row = contract::gpu::row_of(c.cout, gpu_bytes(types.weights)), kw = c.kw, stride = c.window.strides[1];
  // Widths and strides for which there are loops of their own; 0 takes any.
  const bool known = c.window.dilations[1] == 1 && (kw == 3 || kw == 5) && stride <= 2;
  consider_pixels(
      l, c, types, "gpu_conv_depthwise", c.macs, {},
      [=](StepBuilder& step) { step.template_arg(known ? kw : 0).template_arg(known ? stride : 0); },
      [&l, c, types, row] { return weights(l, types, c.taps() * row, [=](auto w) { return taps_outermost(w, c, row); }); });
}

void consider_exact(KernelQuery& l, const ConvCall& c, const Types& types) {
  consider_pixels(
      l, c, types, "gpu_conv_exact", c.macs, {}, [](StepBuilder&) {},
      [&l, c, types] {
        const int64_t channels = c.cin / c.group;
        return weights(l, types, c.cout * c.taps() * channels, [=](auto w) { return channels_innermost(w, c, channels); });
      });
}

bool lower_conv(KernelQuery& l, const Types& types) {
  if (!has_room_for_bias(l)) return false;
  const ConvCall c(l);
  if (c.is_deep()) return false;
  consider_product(l, c, types);
  consider_depthwise(l, c, types);
  consider_exact(l, c, types);
  return true;
}

/// Whether each result is the sum of a channel's image: what the average of all pixels is made of.
bool sums_images(KernelQuery& l, const ConvCall& c) {
  const bool whole = Dim(c.kh) == c.h && Dim(c.kw) == c.w && c.no_pads() && c.window.dilations == std::vector<int64_t>{1, 1};
  return c.cin == c.group && c.cout == c.group && whole &&
         std::ranges::all_of(l.constant(1)->as<int8_t>(), [](int8_t weight) { return weight == 1; });
}

void lower_image_sums(KernelQuery& l, const ConvCall& c) {
  const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
  const Dim pixels = c.h * c.w, stride = x.layout.pixel_stride;
  StepBuilder step = l.call("gpu_sum_bytes_middle");
  step.pointer(x).pointer(y).params({{"outer", dim_arg(c.n)},
                                     {"r", dim_arg(pixels)},
                                     {"inner", dim_arg(c.cin)},
                                     {"x_row", dim_arg(stride)},
                                     {"x_outer", dim_arg(pixels * stride)},
                                     {"y_outer", dim_arg(y.layout.channels_last ? y.layout.pixel_stride : c.cin)}});
  step.epilogue(l.epilogue(l.image_shape(y.extents), step, bias_as_given(l))).work(c.n * pixels * c.cin).emit();
}

}  // namespace

bool lower_gpu_conv(KernelQuery& l) {
  return has_fast_conv(l.graph(), l.node()) && l.type(0).element == ElementType::F32 && lower_conv(l, kFloats);
}

bool lower_gpu_byte_conv(KernelQuery& l) {
  if (l.constant(1) == nullptr || l.extents(0).size() > 4) return false;
  // Whose windows may be larger than what the processor's kernel keeps.
  if (const ConvCall c(l); has_room_for_bias(l) && sums_images(l, c)) return lower_image_sums(l, c), true;
  return has_fast_byte_product(l.graph(), l.node()) && lower_conv(l, kBytes);
}

}  // namespace onnxc
