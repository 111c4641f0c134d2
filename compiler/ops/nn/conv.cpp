// Conv. With constant f32 weights in one to three dimensions it runs channels-last, by the cheapest of: a GEMM or GEMV (1x1), Winograd, depthwise, small
// groups, the planar stem, or an implicit GEMM. Anything else takes the reference kernel.
#include "compiler/ops/nn/conv.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/conv/conv_planar.h"
#include "compiler/select/conv/conv_stem.h"
#include "compiler/select/conv/conv_winograd.h"
#include "compiler/select/conv/stem_winograd.h"
#include "compiler/select/islands/conv_chain.h"
#include "compiler/select/islands/row_sums.h"
#include "compiler/select/product/fast_inner_product.h"
#include "compiler/select/product/strassen.h"
#include "compiler/select/slicing.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "compiler/select/weights/stored.h"
#include "runtime_stub/onnxc/scalar/conv.hpp"

namespace onnxc {

Extents conv_extents(Inference& n, int x_input, int w_input) {
  const Extents &x = n.extents(x_input), &w = n.extents(w_input);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (w.size() != x.size()) n.fail(fmt::format("the weights have rank {}, the input {}", w.size(), x.size()));
  const int64_t group = n.node().integer("group", 1);
  if (group < 1) n.fail(fmt::format("group is {}", group));
  n.unify(x[1], w[1] * group, "the channels of the input and the weights");
  if (w[0].is_constant() && w[0].value() % group != 0)
    n.fail(fmt::format("{} output channels do not divide by group {}", w[0].value(), group));
  Extents out{x[0], w[0]};
  for (Dim d : window_output(n.node(), conv_window(n.node(), x, w), conv_spatial(x))) out.push_back(d);
  return out;
}

bool has_fast_conv(const Graph& graph, const Node& node) {
  const TensorData* w = graph.constant(node.input(1));
  if (w == nullptr || w->type != ElementType::F32 || w->shape.size() > 5 || w->count() == 0) return false;
  if (node.has_input(2) && graph.constant(node.input(2)) == nullptr) return false;
  return graph[node.outputs[0]].type.rank() <= 5;
}

namespace {

void infer_conv(Inference& n) {
  if (n.has(2))
    n.unify(n.extents(2).size() == 1 ? n.extents(2)[0] : Dim(-1), n.extents(1).empty() ? Dim(-1) : n.extents(1)[0],
            "the bias and the output channels");
  n.output(0, n.element(0), conv_extents(n, 0, 1));
}

void evaluate_conv(Evaluation& e) {
  const Window window = conv_window(e.node(), to_extents(e.input(0).shape), to_extents(e.input(1).shape));
  scalar::ConvParams p;
  p.group = e.node().integer("group", 1);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
  }
  for_number(e.type(0), [&]<class T>() { scalar::conv<T>(e.out<T>(), e.in<T>(0), e.in<T>(1), e.has(2) ? e.in<T>(2).data : nullptr, p); });
}

/// The weights as `storage` says; `scales` gets a parameter where they have any.
PointerArg stored_weights(KernelQuery& l, const pack::ConvShape& shape, const Tile& tile, const Storage& storage,
                          std::vector<std::pair<std::string, Arg>>& scales) {
  return add_stored(l, conv_weights_name(l), conv_panels(l, shape, tile), shape.cin * shape.kh * shape.kw, shape.nr, storage,
                    storage.scales.empty() ? std::vector<float>() : pack::conv_bias(storage.scales, shape), scales);
}

std::vector<Storage> storages(KernelQuery& l, const ConvCall& c, const Tile& tile) {
  return candidate_storages(l, {{conv_weights(l), c.cout, true}}, c.pixels, tile.rows);
}

bool is_product(const ConvCall& c) { return !c.is_deep() && c.kh == 1 && c.kw == 1 && c.group == 1 && c.plain_window() && c.no_pads(); }

/// What a tiled kernel takes, which reads the weights anew for each tile.
StoredKernel stored_kernel(const ConvCall& c, std::string_view row, const Tile& tile) {
  const double macs = is_product(c) && row != "gemv" ? gemm_macs(tile, c.likely_pixels, c.cout, c.cin) : c.tiled_macs(tile);
  return {row, macs, std::ceil(c.likely_pixels / tile.rows), c.cin / c.group * c.taps(), c.padded_columns(tile) * c.group};
}

/// A 1x1 convolution as a product by the kernel of that row: gemm, gemv for one pixel, gemm_any for one pixel of each of so many images as only a run tells.
void consider_product(KernelQuery& l, const ConvCall& c, const Tile& tile, std::string_view row) {
  const TiledProduct product{.m = c.pixels, .n = c.cout, .k = c.cin};
  const bool one_row = row == "gemv";
  consider_stored(l, stored_kernel(c, row, tile), storages(l, c, tile), [&l, c, tile, product, row, one_row](const Storage& storage) {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = tile.nr};
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    std::vector<std::pair<std::string, Arg>> scales;
    const PointerArg w = stored_weights(l, shape, tile, storage, scales);
    auto params = gemm_params(l, c, x, y, shape);
    params.insert(params.end(), scales.begin(), scales.end());
    if (!one_row) add_streaming(l, tile, product, 1, params);
    StepBuilder step = l.call(row);
    if (one_row) step.template_name(std::to_string(tile.vectors));
    else tile_args(step, tile, true);
    step.pointer(x).pointer(w).pointer(y).params(std::move(params));
    finish_conv(l, step, c, y);
  });
}

void consider_gemm(KernelQuery& l, const ConvCall& c) {
  if (!is_product(c)) return;
  const TiledProduct product{.m = c.pixels, .n = c.cout, .k = c.cin, .pairs = true, .likely = c.image_pixels()};
  consider_product(l, c, choose_tile(l.target(), product), "gemm");
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
  if (c.pixels == Dim(1)) consider_product(l, c, choose_row_tile(l.target(), c.cout), "gemv");  // the two of squeeze-and-excite, above all
}

/// As in depthwise.hpp.
int64_t depthwise_any_scratch(const ConvCall& c, int64_t lanes) {
  constexpr int64_t kColumns = 64;
  const int64_t span = (kColumns - 1) * c.window.strides[1] + (c.kw - 1) * c.window.dilations[1] + 1;
  return ((c.kh - 1) * c.window.dilations[0] + 1) * span * lanes;
}

bool is_depthwise(const ConvCall& c) { return !c.is_deep() && c.group == c.cin && c.cout == c.cin; }
/// Kernels whose rows are unrolled, with the stride along them.
bool has_unrolled_rows(const ConvCall& c) {
  return c.kh == c.kw && (c.kh == 3 || c.kh == 5 || c.kh == 7) && c.window.dilations[1] == 1 && c.window.strides[1] <= 2;
}

void consider_depthwise(KernelQuery& l, const ConvCall& c) {
  if (!is_depthwise(c)) return;
  const bool unrolled = has_unrolled_rows(c);
  const int64_t lanes = l.target().vector_floats, channels = (c.cin + lanes - 1) / lanes * lanes,
                scratch = unrolled ? 0 : depthwise_any_scratch(c, lanes);
  if (4 * scratch > l.target().workspace_bytes()) return;  // a dilation beyond reason
  l.consider(unrolled ? "depthwise" : "depthwise_any", c.macs * static_cast<double>(channels) / static_cast<double>(c.cin), 0,
             [&l, c, unrolled, scratch] {
               const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
               const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::depthwise(conv_weights(l), c.cin, c.kh, c.kw));
               StepBuilder step = l.call(unrolled ? "depthwise" : "depthwise_any");
               auto params = c.params(x, y, bias_as_given(l));
               if (unrolled) {
                 step.template_name(std::to_string(c.kh))
                     .template_name(std::to_string(c.kw))
                     .template_name(std::to_string(c.window.strides[1]))
                     .template_name("7");
                 if (const auto sums = wanted_row_sums(l)) {
                   step.template_name("true");
                   params.emplace_back("row_sums", *sums);
                 }
               }
               step.pointer(x).pointer(w).pointer(y);
               if (!unrolled) step.pointer(l.part_workspace("rows", ElementType::F32, Dim(scratch)));
               step.params(std::move(params));
               if (unrolled && c.kh < 7)
                 step.specialised();  // rows are short against what it takes to find their edges: up to half of the time
               finish_conv(l, step, c, y);
             });
}

/// Pairs of rows, and of columns the two beside them.
void consider_depthwise_winograd(KernelQuery& l, const ConvCall& c) {
  if (!is_depthwise(c) || !has_depthwise_winograd(l.target(), c)) return;
  constexpr double kBegin = 20;                    // multiply-adds of vectors that two rows of one take to begin
  const double beside = 4 * c.cin < 1024 ? 0 : 2;  // what a pixel waits for L2, where the next is in another line of each page
  const int64_t lanes = l.target().vector_floats, channels = (c.cin + lanes - 1) / lanes * lanes;
  const double pairs = static_cast<double>(c.likely_slices() * ((ConvCall::likely(c.oh) + 1) / 2)),
               steps = (12 + beside) * static_cast<double>(ConvCall::likely(c.ow)) + kBegin;
  l.consider(
      "depthwise_winograd", pairs * steps * static_cast<double>(channels), 0,
      [&l, c] {
        const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
        const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::depthwise_winograd(conv_weights(l), c.cin));
        StepBuilder step = l.call("depthwise_winograd");
        auto params = c.params(x, y, bias_as_given(l));
        if (const auto sums = wanted_row_sums(l)) {
          step.template_name("true");
          params.emplace_back("row_sums", *sums);
        }
        step.pointer(x).pointer(w).pointer(y).params(std::move(params)).specialised();
        finish_conv(l, step, c, y);
      },
      4 * 3 * c.cin);
}

/// Pixels that are a part of a vector, with nothing between them.
void consider_depthwise_narrow(KernelQuery& l, const ConvCall& c) {
  constexpr int64_t kVectors = 8;  // of a step, as in depthwise_narrow.hpp
  const int64_t lanes = l.target().vector_floats;
  if (!is_depthwise(c) || !has_unrolled_rows(c) || c.window.strides[1] != 1 || c.cin >= lanes || lanes % c.cin != 0) return;
  const Layout dense{true, c.cin};
  if (l.in_any(0).layout != dense || l.out_layout(0) != dense || l.node().epilogue_operands > 0 || wants_row_sums(l)) return;
  const int64_t columns = ConvCall::likely(c.ow), together = kVectors * lanes / c.cin,
                padded = (columns + together - 1) / together * together;
  l.consider("depthwise_narrow", c.macs * static_cast<double>(padded) / static_cast<double>(std::max<int64_t>(columns, 1)), 0,
             [&l, c, dense] {
               const View x = l.in(0, dense), y = l.out_any(0);
               ONNXC_CHECK(x.layout == dense && y.layout == dense, "nothing lies between the pixels of depthwise_narrow");
               const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::depthwise(conv_weights(l), c.cin, c.kh, c.kw));
               StepBuilder step = l.call("depthwise_narrow");
               for (const int64_t value : {c.kh, c.kw, c.cin}) step.template_name(std::to_string(value));
               step.pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias_as_given(l)));
               if (c.kh < 7) step.specialised();
               finish_conv(l, step, c, y);
             });
}

/// Groups that are a part of a vector, or one.
void consider_grouped(KernelQuery& l, const ConvCall& c) {
  const int64_t channels = c.cin / c.group, lanes = l.target().vector_floats;
  const bool odd_width = c.kw % 2 == 1 && c.kw <= 7;
  if (c.is_deep() || c.group == 1 || channels < 2 || c.cout != c.cin || lanes % channels != 0 || !odd_width || c.window.dilations[1] != 1 ||
      c.window.strides[1] > 2)
    return;
  // More pixels where nothing is to be shuffled, if there are registers.
  const int pixels = channels == lanes && l.target().vector_registers() >= 32 ? 14 : 7;
  const pack::ConvShape shape{.cout = c.cout, .cin = channels, .kh = c.kh, .kw = c.kw};
  l.consider("conv_grouped", c.macs, 0, [&l, c, shape, lanes, pixels] {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::grouped(conv_weights(l), shape, lanes));
    StepBuilder step = l.call("conv_grouped");
    for (const int64_t value : {c.kw, c.window.strides[1], shape.cin, int64_t{pixels}}) step.template_name(std::to_string(value));
    step.pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias_as_given(l)));
    finish_conv(l, step, c, y);
  });
}

/// A few output channels, with vectors along the input's.
void consider_narrow(KernelQuery& l, const ConvCall& c) {
  if (c.is_deep() || !is_narrow(c.cout, c.group) || c.taps() == 1) return;  // a product of so few steps for each sum is gemm's
  const int64_t lanes = l.target().vector_floats, channels = (c.cin + lanes - 1) / lanes * lanes;
  l.consider("conv_narrow", c.macs * static_cast<double>(channels) / static_cast<double>(c.cin), 0, [&l, c, lanes] {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw};
    const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::narrow(conv_weights(l), shape, lanes));
    StepBuilder step = l.call("conv_narrow");
    step.template_name(std::to_string(c.cout)).pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias_as_given(l)));
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
  const char* const row = c.is_deep() ? "conv_3d" : "conv";
  consider_stored(l, stored_kernel(c, row, tile), storages(l, c, tile), [&l, c, row, tile, product](const Storage& storage) {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin / c.group, .kh = c.kd() * c.kh, .kw = c.kw, .group = c.group, .nr = tile.nr};
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    std::vector<std::pair<std::string, Arg>> scales;
    const PointerArg w = stored_weights(l, shape, tile, storage, scales);
    auto params = c.params(x, y, conv_bias(l, shape));
    params.insert(params.end(), scales.begin(), scales.end());
    add_streaming(l, tile, product, shape.cin, params);
    StepBuilder step = l.call(row);
    tile_args(step, tile, true).pointer(x).pointer(w).pointer(y).params(std::move(params));
    finish_conv(l, step, c, y);
  });
}

void lower_reference(KernelQuery& l) {
  const Window window = conv_window(l.node(), l.extents(0), l.extents(1));
  const View x = l.in(0), w = l.in(1), y = l.out(0);
  StepBuilder step = l.call("scalar_conv");
  step.tensor(y).tensor(x).tensor(w).macs(element_count(l.extents(1)) * element_count({y.extents.begin() + 2, y.extents.end()}) *
                                          y.extents[0]);
  if (l.has(2)) step.pointer(l.in(2));
  else step.name(fmt::format("static_cast<const {}*>(nullptr)", info(y.element).cpp_name));
  step.params({{"strides", dims_arg(window.strides)},
               {"dilations", dims_arg(window.dilations)},
               {"pads", dims_arg(window.pads_begin)},
               {"group", dim_arg(l.node().integer("group", 1))}})
      .emit();
}

void lower_conv(KernelQuery& l) {
  if (!l.optimise() || !has_fast_conv(l.graph(), l.node())) {
    lower_reference(l);
    return l.apply_epilogue(l.result());
  }
  if (!l.out_layout(0).channels_last && planar_conv(l.graph(), l.node(), l.target().vector_floats).writes) {
    consider_conv_planar(l);
    return l.build_cheapest();
  }
  const ConvCall c(l);
  if (is_product(c) && c.image_pixels() == 1 && !c.pixels.is_constant() && !is_narrow(c.cout, c.group)) {
    consider_product(l, c, choose_tile(l.target(), {.m = c.pixels, .n = c.cout, .k = c.cin}), "gemm_any");
    return l.build_cheapest();
  }
  consider_gemm(l, c);
  consider_winograd(l, c);
  consider_winograd_line(l, c);
  consider_depthwise(l, c);
  consider_depthwise_winograd(l, c);
  consider_depthwise_narrow(l, c);
  consider_grouped(l, c);
  consider_narrow(l, c);
  consider_stem(l);
  consider_stem_winograd(l);
  consider_direct(l, c);
  l.build_cheapest();
}

}  // namespace

extern const Operator op_Conv;
const Operator op_Conv{.name = "Conv",
                       .min_inputs = 2,
                       .max_inputs = 3,
                       .max_outputs = 1,
                       .infer = infer_conv,
                       .evaluate = evaluate_conv,
                       .lower = lower_conv,
                       .layout = LayoutRule::Prefers,
                       .planar = planar_conv,
                       .takes_epilogue = has_fast_conv};

}  // namespace onnxc
