// The kernels that compute an onnxc.ByteConv, channels-last: a product of bytes for 1x1, an implicit one, or a depthwise convolution.
#include "compiler/ops/nn/conv.h"
#include "compiler/ops/selected.h"
#include "compiler/select/conv/byte_columns.h"
#include "compiler/select/conv/byte_pixels.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/quads.hpp"

namespace onnxc {
namespace {

bool is_byte_product(const ConvCall& c) { return c.kh == 1 && c.kw == 1 && c.group == 1 && c.has_unit_strides() && c.no_pads(); }

void consider_product(KernelQuery& l, const ConvCall& c) {
  const Tile tile = choose_tile(l.target(), {.m = c.pixels, .n = c.cout, .k = contract::quads(c.cin), .likely = c.image_pixels()});
  consider_pixels(l, c, "gemm_quads", gemm_macs(*c.costs, tile, c.likely_pixels, c.cout, contract::quads(c.cin)),
                  [&l, &c, tile](StepBuilder& step, const View& x, const View& y) {
                    step.template_arg(tile.rows).template_arg(tile.vectors).pointer(x);
                    step.pointer(l.weights(conv_weights_name(l), ElementType::I8,
                                           pack::quads(byte_weights(l), {.k = c.cin, .n = c.cout, .nr = tile.nr, .transposed = true})));
                    NamedArgs params{{"m", dim_arg(c.pixels)},
                                     {"n", dim_arg(c.cout)},
                                     {"k", dim_arg(4 * contract::quads(c.cin))},  // pixels are padded to whole quads
                                     {"lda", dim_arg(x.layout.pixel_stride)},
                                     {"ldc", dim_arg(y.layout.pixel_stride)}};
                    if (l.has(2)) params.emplace_back("start", l.in(2).pointer);
                    params.emplace_back("weights_end", UnitArg::WeightsEnd);
                    step.pointer(y);
                    return params;
                  });
}

/// Where an image of few channels is not channels-last yet, what it takes to convert it, in multiply-adds.
double conversion_macs(KernelQuery& l, const ConvCall& c) {
  constexpr double kElement = 2;  // of quads, in the time that pixels_of_bytes takes for a byte
  if (l.in_any(0).layout.channels_last) return 0;
  return kElement * static_cast<double>(c.likely_slices() * ConvCall::likely(c.h) * ConvCall::likely(c.w) * c.cin);
}

void consider_direct_bytes(KernelQuery& l, const ConvCall& c) {
  const int64_t channels = contract::quads(c.cin / c.group);
  const Tile tile = choose_tile(
      l.target(), {.m = c.pixels, .n = c.cout / c.group, .k = channels * c.taps(), .line = c.likely(c.ow), .likely = c.image_pixels()});
  const double macs = c.tiled_macs(tile) / static_cast<double>(c.cin / c.group) * static_cast<double>(channels) + conversion_macs(l, c);
  consider_pixels(l, c, "conv_quads", macs, [&l, &c, tile, channels](StepBuilder& step, const View& x, const View& y) {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin / c.group, .kh = c.kh, .kw = c.kw, .group = c.group, .nr = tile.nr};
    step.template_arg(tile.rows).template_arg(tile.vectors).pointer(x);
    step.pointer(l.weights(conv_weights_name(l), ElementType::I8, pack::conv_quads(byte_weights(l), shape))).pointer(y);
    View in_quads = x;
    in_quads.layout.pixel_stride = ceil_div(x.layout.pixel_stride, 4);
    const int64_t band = std::min(contract::quad_band(c.likely(c.ow)), c.oh.max_value());
    if (c.no_pads()) {
      step.null();
    } else {
      const int64_t rows = contract::inputs_under(band, c.window.strides[0], c.kh, c.window.dilations[0]);
      const Dim columns = (c.ow - 1) * c.window.strides[1] + ((c.kw - 1) * c.window.dilations[1] + 1);
      step.pointer(l.thread_workspace("rows", ElementType::U8, Dim(4 * channels * c.group * rows) * columns));
    }
    NamedArgs params = conv_params(c.over, channels * c.group, c.cout, c.group, in_quads, y);
    if (l.has(2)) params.emplace_back("start", l.in(2).pointer);
    if (!c.no_pads()) params.emplace_back("outside", dim_arg(l.node().integer("outside", 0)));
    params.emplace_back("band", dim_arg(band));
    params.emplace_back("weights_end", UnitArg::WeightsEnd);
    return params;
  });
}

/// An image of few channels as it is: quads are neighbours in a row.
void consider_planar(KernelQuery& l, const ConvCall& c) {
  if (c.group != 1 || c.cin > 3 || c.window.dilations[1] != 1 || l.in_any(0).layout.channels_last) return;
  const int64_t rows = c.cin * c.kh, steps = rows * contract::quads(c.kw);
  const Tile tile = choose_tile(l.target(), {.m = c.pixels, .n = c.cout, .k = steps, .line = c.likely(c.ow), .likely = c.image_pixels()});
  const double macs = c.tiled_macs(tile) / static_cast<double>(c.cin * c.taps()) * static_cast<double>(steps);
  l.consider("conv_quads_planar", macs, 0, [&l, &c, tile, rows] {
    const View x = l.in(0), y = pixels_of_result(l, c);
    StepBuilder step = l.call("conv_quads_planar");
    step.template_arg(tile.rows).template_arg(tile.vectors).pointer(x);
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .nr = tile.nr};
    step.pointer(l.weights(conv_weights_name(l), ElementType::I8, pack::planar_quads(byte_weights(l), shape))).pointer(y);
    step.pointer(l.thread_workspace("rows", ElementType::U8, Dim(rows) * ((c.ow - 1) * c.window.strides[1] + 4 * contract::quads(c.kw))));
    NamedArgs params = conv_params(c.over, c.cin, c.cout, contract::kUsualGroup, x, y);
    std::erase_if(params, [](const auto& p) { return p.first == "x_pixel"; });
    if (l.has(2)) params.emplace_back("start", l.in(2).pointer);
    if (!c.no_pads()) params.emplace_back("outside", dim_arg(l.node().integer("outside", 0)));
    step.params(std::move(params));
    finish_conv(l, step, c, y);
    copy_result(l, y);
  });
}

void consider_depthwise_bytes(KernelQuery& l, const ConvCall& c) {
  const int64_t lanes = l.target().vector_floats, stride_x = c.window.strides[1], dilation_x = c.window.dilations[1];
  const double channels = static_cast<double>((c.cin + lanes - 1) / lanes * lanes);
  consider_pixels(
      l, c, "depthwise_bytes", c.macs * channels / static_cast<double>(c.cin),
      [&l, &c, lanes, stride_x, dilation_x](StepBuilder& step, const View& x, const View& y) {
        int64_t rows = contract::depthwise_bytes_rows(c.kh, c.window.strides[0], c.window.dilations[0]);
        if (c.oh.is_constant()) rows = std::clamp(c.oh.value(), int64_t{1}, rows);
        step.template_arg(rows).template_arg(contract::depthwise_bytes_unrolled(c.kh, c.kw)).pointer(x);
        step.pointer(l.weights(
            conv_weights_name(l), ElementType::I8,
            pack::depthwise_quads(byte_weights(l),
                                  {.c = c.cin, .kh = c.kh, .kw = c.kw, .rows = rows, .stride_y = c.window.strides[0], .lanes = lanes})));
        step.pointer(y).pointer(l.thread_workspace("columns", ElementType::U8,
                                                   Dim(contract::depthwise_bytes_scratch(c.kh, c.kw, stride_x, dilation_x, lanes))));
        NamedArgs params = conv_params(c.over, c.cin, c.cout, contract::kUsualGroup, x, y);
        if (l.has(2)) params.emplace_back("start", l.in(2).pointer);
        if (!c.no_pads()) params.emplace_back("outside", dim_arg(l.node().integer("outside", 0)));
        return params;
      });
}

}  // namespace

void lower_fast_byte_conv(KernelQuery& l) {
  const ConvCall c(l);
  if (consider_columns(l, c)) return l.build_cheapest();
  if (is_byte_depthwise(c)) consider_depthwise_bytes(l, c);
  else if (is_byte_product(c)) consider_product(l, c);
  else consider_direct_bytes(l, c);
  consider_planar(l, c);
  l.build_cheapest();
}

}  // namespace onnxc
