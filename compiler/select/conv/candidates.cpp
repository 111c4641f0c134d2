// The kernels that compute a Conv by constant f32 weights, channels-last: a GEMM or GEMV (1x1), Winograd, depthwise, small groups, the
// planar stem, or an implicit GEMM.
#include <cmath>

#include "compiler/ops/nn/conv.h"
#include "compiler/ops/selected.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/conv/conv_planar.h"
#include "compiler/select/conv/conv_stem.h"
#include "compiler/select/conv/conv_winograd.h"
#include "compiler/select/conv/depthwise.h"
#include "compiler/select/conv/stem_winograd.h"
#include "compiler/select/product/fast_inner_product.h"
#include "compiler/select/product/strassen.h"
#include "compiler/select/slicing.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "compiler/select/weights/stored.h"
#include "runtime_stub/onnxc/contract/windows.hpp"

namespace onnxc {
namespace {

/// Adds the weights, stored as `storage` says. `scales` gets a parameter if the storage has scales.
PointerArg stored_weights(KernelQuery& l, const pack::ConvShape& shape, const Tile& tile, const Storage& storage, NamedArgs& scales) {
  return add_stored(l, conv_weights_name(l), conv_panels(l, shape, tile), shape.cin * shape.kh * shape.kw, shape.nr, storage,
                    storage.scales.empty() ? std::vector<float>() : pack::conv_bias(storage.scales, shape), scales);
}

std::vector<Storage> storages(KernelQuery& l, const ConvCall& c, const Tile& tile) {
  return candidate_storages(l, {{conv_weights(l), c.cout, true}}, c.pixels, tile.rows);
}

bool is_pointwise_product(const ConvCall& c) {
  return !c.is_deep() && c.kh == 1 && c.kw == 1 && c.group == 1 && c.has_unit_strides() && c.no_pads();
}

/// The work of a kernel of register tiles, which reads, and widens, the weights once for each tile of rows.
StoredKernel stored_kernel(const ConvCall& c, std::string_view row, const Tile& tile) {
  const double macs =
      is_pointwise_product(c) && row != "gemv" ? gemm_macs(*c.costs, tile, c.likely_pixels, c.cout, c.cin) : c.tiled_macs(tile);
  return {row, macs, std::ceil(c.likely_pixels / tile.rows), c.cin / c.group * c.taps(), c.padded_columns(tile) * c.group};
}

/// A 1x1 convolution as a product, by the kernel of that row: gemm; gemv where the result is one pixel; gemm_any
/// where images are one pixel each and only a run tells how many there are.
void consider_product(KernelQuery& l, const ConvCall& c, const Tile& tile, std::string_view row) {
  const TiledProduct product{.m = c.pixels, .n = c.cout, .k = c.cin};
  const bool one_row = row == "gemv";
  consider_stored(l, stored_kernel(c, row, tile), storages(l, c, tile), [&l, c, tile, product, row, one_row](const Storage& storage) {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = tile.nr};
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    NamedArgs scales;
    const PointerArg w = stored_weights(l, shape, tile, storage, scales);
    auto params = gemm_params(l, c, x, y, shape);
    params.insert(params.end(), scales.begin(), scales.end());
    if (!one_row) add_streaming(l, tile, product, 1, params);
    StepBuilder step = l.call(row);
    if (one_row) step.template_arg(tile.vectors);
    else tile_args(step, tile, true);
    step.pointer(x).pointer(w).pointer(y).params(std::move(params));
    finish_conv(l, step, c, y);
  });
}

/// The same by algorithms that have fewer multiplications.
void consider_mixing_products(KernelQuery& l, const ConvCall& c, const TiledProduct& product) {
  const ConstantMatrix weights{conv_weights_name(l), conv_weights(l), true};
  consider_fast_inner_product(
      l, "fast_inner_product", product, weights, [&l, c](const InnerProductPlan& plan, PointerArg w, PointerArg scratch) {
        const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
        StepBuilder step = l.call("fast_inner_product");
        const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = l.target().vector_floats};
        fast_inner_product_args(step, plan, x, w, y, scratch, gemm_params(l, c, x, y, shape));
        finish_conv(l, step, c, y);
      });
  consider_strassen(l, product, c.oh * c.ow, weights, [&l, c](const StrassenPlan& plan, PointerArg w, PointerArg scratch) {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    StepBuilder step = l.call("strassen");
    strassen_args(step, plan, x, w, y, scratch,
                  gemm_params(l, c, x, y, {.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = plan.tile.nr}), c.oh * c.ow);
    finish_conv(l, step, c, y);
  });
}

void consider_gemm(KernelQuery& l, const ConvCall& c) {
  if (!is_pointwise_product(c)) return;
  const TiledProduct product{.m = c.pixels, .n = c.cout, .k = c.cin, .pairs = true, .likely = c.image_pixels()};
  consider_product(l, c, choose_tile(l.target(), product), "gemm");
  if (!l.target().bare) consider_mixing_products(l, c, product);
  // One pixel: above all the two convolutions of squeeze-and-excite.
  if (c.pixels == Dim(1)) consider_product(l, c, choose_row_tile(l.target(), c.cout), "gemv");
}

/// Groups of a whole vector of channels, or of a divisor of one.
void consider_grouped(KernelQuery& l, const ConvCall& c) {
  const int64_t channels = c.cin / c.group, lanes = l.target().vector_floats;
  const bool odd_width = c.kw % 2 == 1 && c.kw <= 7;
  if (c.is_deep() || c.group == 1 || channels < 2 || c.cout != c.cin || lanes % channels != 0 || !odd_width || c.window.dilations[1] != 1 ||
      c.window.strides[1] > 2)
    return;
  // A group of a whole vector needs no shuffles, so its kernel takes more pixels at a time if there are registers for
  // their sums.
  const int pixels = channels == lanes && l.target().vector_registers >= 32 ? 14 : 7;
  const pack::ConvShape shape{.cout = c.cout, .cin = channels, .kh = c.kh, .kw = c.kw};
  l.consider("conv_grouped", c.macs, 0, [&l, c, shape, lanes, pixels] {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::grouped(conv_weights(l), shape, lanes));
    StepBuilder step = l.call("conv_grouped");
    for (const int64_t value : {c.kw, c.window.strides[1], shape.cin, int64_t{pixels}}) step.template_arg(value);
    step.pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias_as_given(l)));
    finish_conv(l, step, c, y);
  });
}

/// A few output channels: the vectors run along the input channels.
void consider_few_outputs(KernelQuery& l, const ConvCall& c) {
  // With one tap a sum has so few steps that gemm is better.
  if (c.is_deep() || !has_few_outputs(c.cout, c.group) || c.taps() == 1) return;
  const int64_t lanes = l.target().vector_floats, channels = (c.cin + lanes - 1) / lanes * lanes;
  l.consider("conv_few_outputs", c.macs * static_cast<double>(channels) / static_cast<double>(c.cin), 0, [&l, c, lanes] {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw};
    const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::few_outputs(conv_weights(l), shape, lanes));
    StepBuilder step = l.call("conv_few_outputs");
    step.template_arg(c.cout).pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias_as_given(l)));
    finish_conv(l, step, c, y);
  });
}

/// A kernel that multiplies windows by packed panels. `more(storage, step, params)` is called before the parameters are given.
template <class More>
void consider_panels(KernelQuery& l, const ConvCall& c, const char* row, const Tile& tile, bool has_pairs, const More& more) {
  consider_stored(l, stored_kernel(c, row, tile), storages(l, c, tile), [&l, c, row, tile, has_pairs, more](const Storage& storage) {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin / c.group, .kh = c.kd() * c.kh, .kw = c.kw, .group = c.group, .nr = tile.nr};
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    NamedArgs scales;
    const PointerArg w = stored_weights(l, shape, tile, storage, scales);
    auto params = c.params(x, y, conv_bias(l, shape));
    params.insert(params.end(), scales.begin(), scales.end());
    StepBuilder step = l.call(row);
    tile_args(step, tile, has_pairs).pointer(x).pointer(w).pointer(y);
    more(storage, step, params);
    step.params(std::move(params));
    finish_conv(l, step, c, y);
  });
}

void consider_direct(KernelQuery& l, const ConvCall& c) {
  const TiledProduct product{.m = c.pixels,
                             .n = c.cout / c.group,
                             .k = c.cin / c.group * c.taps(),
                             .line = c.likely(c.ow),
                             .pairs = !c.is_deep() && c.cin / c.group % 2 == 0,
                             .likely = c.image_pixels()};
  const Tile tile = choose_tile(l.target(), product);
  const int64_t channels = c.cin / c.group;
  consider_panels(l, c, c.is_deep() ? "conv_3d" : "conv", tile, true,
                  [&l, tile, product, channels](const Storage&, StepBuilder&, NamedArgs& params) {
                    add_streaming(l, tile, product, channels, params);
                  });
}

/// Windows copied to memory, for cores without a cache: no volumes.
void consider_windows(KernelQuery& l, const ConvCall& c) {
  const int64_t k = c.cin / c.group * c.taps();
  const Tile tile = choose_tile(l.target(), {.m = c.pixels, .n = c.cout / c.group, .k = k});
  consider_panels(l, c, "conv_windows", tile, false, [&l, c, tile, k](const Storage& storage, StepBuilder& step, NamedArgs&) {
    const int64_t rows = tile.rows * contract::tiles_at_once(l.target().vector_floats, storage.element == ElementType::F32);
    if (c.taps() == 1 && c.no_pads()) step.null();  // each window is read where it lies
    else step.pointer(l.thread_workspace("windows", ElementType::F32, Dim(contract::window_floats(rows, k))));
  });
}

/// On a microcontroller: what is small and has its scratch memory in the arena.
void lower_small_conv(KernelQuery& l, const ConvCall& c) {
  // A window of one pixel is read where it lies, so the kernel of other convolutions, which a unit has anyway, is as fast as gemm.
  if (is_pointwise_product(c) && (!l.small() || c.image_pixels() == 1)) consider_gemm(l, c);
  consider_depthwise_taps(l, c);
  c.is_deep() ? consider_direct(l, c) : consider_windows(l, c);
  l.build_cheapest();
}

}  // namespace

void lower_fast_conv(KernelQuery& l) {
  if (!l.out_layout(0).channels_last && planar_conv(l.graph(), l.node(), l.target().vector_floats).writes) {
    consider_conv_planar(l);
    return l.build_cheapest();
  }
  const ConvCall c(l);
  if (is_pointwise_product(c) && c.image_pixels() == 1 && !c.pixels.is_constant() && !has_few_outputs(c.cout, c.group)) {
    consider_product(l, c, choose_tile(l.target(), {.m = c.pixels, .n = c.cout, .k = c.cin}), "gemm_any");
    return l.build_cheapest();
  }
  if (l.target().bare) return lower_small_conv(l, c);
  consider_gemm(l, c);
  consider_winograd(l, c);
  consider_winograd_line(l, c);
  consider_depthwise(l, c);
  consider_depthwise_winograd(l, c);
  consider_grouped(l, c);
  consider_few_outputs(l, c);
  consider_stem(l);
  consider_stem_winograd(l);
  consider_direct(l, c);
  l.build_cheapest();
}

}  // namespace onnxc
