// The arguments of Conv's kernels, and how operands are brought to them: for candidates of a Conv and for islands
// that contain one.
#pragma once
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/conv.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/window.hpp"

namespace onnxc {

/// Adds a member, unless `value` is the default that the kernel assumes.
inline void add_unless(NamedArgs& list, const char* name, Dim value, int64_t usual) {
  if (!(value == Dim(usual))) list.emplace_back(name, dim_arg(value));
}

/// Adds how a window moves over rows and columns.
inline void add_window(NamedArgs& list, const WindowAxis& y, const WindowAxis& x) {
  add_unless(list, "stride_y", y.stride, contract::kUsualStride);
  add_unless(list, "stride_x", x.stride, contract::kUsualStride);
  add_unless(list, "dilation_y", y.dilation, contract::kUsualDilation);
  add_unless(list, "dilation_x", x.dilation, contract::kUsualDilation);
  add_unless(list, "pad_top", y.pad_begin, contract::kUsualPad);
  add_unless(list, "pad_left", x.pad_begin, contract::kUsualPad);
}
inline void add_pixels(NamedArgs& list, Dim x_pixel, Dim y_pixel) {
  add_unless(list, "x_pixel", x_pixel, contract::kUsualPixel);
  add_unless(list, "y_pixel", y_pixel, contract::kUsualPixel);
}

/// The depth's members for kernels of volumes. They follow the strides of pixels.
inline NamedArgs depth_params(const WindowAxis& z) {
  return {{"d", dim_arg(z.in)},
          {"od", dim_arg(z.out)},
          {"kd", dim_arg(z.kernel)},
          {"stride_z", dim_arg(z.stride)},
          {"dilation_z", dim_arg(z.dilation)},
          {"pad_front", dim_arg(z.pad_begin)}};
}

/// The members for a convolution, or a transposed one, that slides `over` x or y.
inline NamedArgs conv_params(const Sliding& over, int64_t cin, int64_t cout, int64_t group, const View& x, const View& y) {
  NamedArgs list{{"n", dim_arg(over.n)},  {"h", dim_arg(over.y.in)},      {"w", dim_arg(over.x.in)},
                 {"cin", dim_arg(cin)},   {"oh", dim_arg(over.y.out)},    {"ow", dim_arg(over.x.out)},
                 {"cout", dim_arg(cout)}, {"kh", dim_arg(over.y.kernel)}, {"kw", dim_arg(over.x.kernel)}};
  add_window(list, over.y, over.x);
  add_unless(list, "group", group, contract::kUsualGroup);
  add_pixels(list, x.layout.pixel_stride, y.layout.pixel_stride);
  if (over.is_deep()) std::ranges::move(depth_params(over.z), std::back_inserter(list));
  return list;
}

/// A Conv as its kernels see it. `window` is the window of `over` without the depth.
struct ConvCall {
  Sliding over;
  Window window;
  Dim n, h, w, oh, ow, pixels;
  int64_t cin, cout, group, kh, kw;
  const ProductCosts* costs;  ///< of the target's machine
  double likely_pixels = 0, macs = 0;

  explicit ConvCall(KernelQuery& l) {
    const Extents &x = l.extents(0), &weights = l.extents(1);
    costs = &l.target().machine->product;
    over = sliding(conv_window(l.node(), x, weights), x, l.output_type(0).extents);
    window = over.plane();
    n = over.n;
    h = over.y.in;
    w = over.x.in;
    oh = over.y.out;
    ow = over.x.out;
    pixels = n * over.z.out * oh * ow;
    group = l.node().integer("group", 1);
    cout = weights[0].value();
    cin = weights[1].value() * group;
    kh = window.kernel[0].value();
    kw = window.kernel[1].value();
    likely_pixels = static_cast<double>(likely_slices() * likely(oh) * likely(ow));
    macs = likely_pixels * static_cast<double>(cout * (cin / group) * taps());
  }
  bool is_deep() const { return over.is_deep(); }
  int64_t kd() const { return over.z.kernel.value(); }
  int64_t taps() const { return kd() * kh * kw; }
  /// The number of images, or of the slices of all volumes.
  int64_t likely_slices() const { return (n.is_constant() ? n.value() : 1) * likely(over.z.out); }
  /// An extent for cost estimates: where it is unknown, what follows if the extents that a caller chooses are 512, as an image's or a window's of
  /// a signal may be. Deeper layers have less.
  static int64_t likely(Dim d) {
    constexpr int64_t kSide = 512;
    return d.is_constant() ? d.value() : std::clamp<int64_t>(value_near(kSide, d), 1, kSide);
  }
  /// Pixels of one image; 0 where this is unknown.
  int64_t image_pixels() const { return oh.is_constant() && ow.is_constant() ? oh.value() * ow.value() : 0; }
  /// Output channels of a group, rounded up to whole panels.
  int64_t padded_columns(const Tile& tile) const { return (cout / group + tile.nr - 1) / tile.nr * tile.nr; }
  /// Multiply-adds of a kernel of register tiles, with those of columns that only fill a panel. Grouped convolutions
  /// add what each tap costs to begin.
  double tiled_macs(const Tile& tile) const {
    const double taps_of_groups = group > 1 ? 1 + costs->tap_steps / static_cast<double>(cin / group) : 1;
    return macs * taps_of_groups * static_cast<double>(padded_columns(tile)) / static_cast<double>(cout / group);
  }
  /// Strides and dilations of 1.
  bool has_unit_strides() const {
    for (std::size_t i = 0; i < 2; ++i) {
      if (window.strides[i] != 1 || window.dilations[i] != 1) return false;
    }
    return true;
  }
  bool no_pads() const {
    return window.pads_begin[0] == Dim(0) && window.pads_begin[1] == Dim(0) && window.pads_end[0] == Dim(0) && window.pads_end[1] == Dim(0);
  }
  NamedArgs params(const View& x, const View& y, std::optional<PointerArg> bias) const {
    NamedArgs list = conv_params(over, cin, cout, group, x, y);
    if (bias) list.emplace_back("bias", *bias);
    return list;
  }
};

inline const std::string& conv_weights_name(KernelQuery& l) { return l.graph()[l.node().input(1)].name; }
inline std::span<const float> conv_weights(KernelQuery& l) { return l.constant(1)->as<float>(); }
inline Layout conv_input_layout(KernelQuery& l, int input = 0) {
  // An input that is channels-last already stays as it is; any other is converted, without padding.
  const View x = l.in_any(input);
  return x.layout.channels_last ? x.layout : channels_last(Type::tensor(x.element, x.extents), l.target().vector_floats);
}
/// The panels of a convolution's weights, for this tile.
inline Packed conv_panels(KernelQuery& l, const pack::ConvShape& shape, const Tile& tile) {
  const std::span<const float> w = conv_weights(l);
  const int64_t lanes = l.target().vector_floats;
  return {w, pack::conv_size(shape), [w, shape, lanes, pairs = tile.pairs] {
            return pairs ? pack::pairs(pack::conv(w, shape), shape.nr, lanes) : pack::conv(w, shape);
          }};
}

inline std::optional<PointerArg> conv_bias(KernelQuery& l, const pack::ConvShape& shape) {
  if (!l.has(2)) return std::nullopt;
  return l.weights(l.graph()[l.node().input(2)].name, ElementType::F32, pack::conv_bias(l.constant(2)->as<float>(), shape));
}
/// The bias without padding, for kernels that read only as many values as there are channels.
inline std::optional<PointerArg> bias_as_given(KernelQuery& l) { return l.has(2) ? std::optional(l.in(2).pointer) : std::nullopt; }

/// The members of gemm for a 1x1 convolution.
inline NamedArgs gemm_params(KernelQuery& l, const ConvCall& c, const View& x, const View& y, const pack::ConvShape& shape) {
  NamedArgs params{{"m", dim_arg(c.pixels)},
                   {"n", dim_arg(c.cout)},
                   {"k", dim_arg(c.cin)},
                   {"lda", dim_arg(x.layout.pixel_stride)},
                   {"ldc", dim_arg(y.layout.pixel_stride)}};
  if (const auto bias = conv_bias(l, shape)) params.emplace_back("bias", *bias);
  return params;
}
/// Whether the kernel of Winograd's F(2,3) for depthwise convolutions, two rows at a time, can and should be a
/// candidate.
inline bool has_depthwise_winograd(const Target& target, const ConvCall& c) {
  return target.machine->adds_beside_products && c.kh == 3 && c.kw == 3 && c.has_unit_strides() && c.cin >= target.vector_floats;
}
/// Whether conv_few_outputs has a kernel for this number of output channels.
inline bool has_few_outputs(int64_t cout, int64_t group) { return cout <= 4 && group == 1; }

/// Completes a step that convolves: its epilogue, its multiply-adds, and emit().
inline void finish_conv(KernelQuery& l, StepBuilder& step, const ConvCall& c, const View& y) {
  step.epilogue(l.epilogue(l.image_shape(y.extents), step)).macs(c.pixels * (c.cout * (c.cin / c.group) * c.taps())).emit();
}
/// Adds a tile's template arguments. `pairs`: the kernel has a third one, which says whether the tile has pairs.
inline StepBuilder& tile_args(StepBuilder& step, const Tile& tile, bool pairs = false) {
  step.template_arg(tile.rows).template_arg(tile.vectors);
  return pairs && tile.pairs ? step.template_arg(true) : step;
}

}  // namespace onnxc
