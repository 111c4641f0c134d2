// Conv. With constant f32 weights in one or two dimensions it runs channels-last, by the cheapest of: a GEMM (1x1), Winograd (3x3), depthwise, the
// planar stem, or an implicit GEMM. Anything else takes the reference kernel.
#include "compiler/ops/nn/conv.h"

#include <fmt/format.h>

#include "compiler/lowering/lowering.h"
#include "compiler/lowering/pack.h"
#include "compiler/lowering/tiles.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/nn/window.h"
#include "runtime_stub/onnxc/scalar/conv.hpp"

namespace onnxc {
namespace {

Extents spatial(const Extents& extents) { return {extents.begin() + 2, extents.end()}; }

Window window_of(const Node& node, const Extents& x, const Extents& w) { return read_window(node, spatial(x), spatial(w)); }

}  // namespace

Extents conv_extents(Inference& n, int x_input, int w_input) {
  const Extents &x = n.extents(x_input), &w = n.extents(w_input);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (w.size() != x.size()) n.fail(fmt::format("the weights have rank {}, the input {}", w.size(), x.size()));
  const int64_t group = n.node().integer("group", 1);
  if (group < 1) n.fail(fmt::format("group is {}", group));
  n.unify(x[1], w[1] * group, "the channels of the input and the weights");
  if (w[0].is_constant() && w[0].value() % group != 0) n.fail(fmt::format("{} output channels do not divide by group {}", w[0].value(), group));
  Extents out{x[0], w[0]};
  for (Dim d : window_output(n.node(), window_of(n.node(), x, w), spatial(x))) out.push_back(d);
  return out;
}

namespace {

void infer_conv(Inference& n) {
  if (n.has(2)) n.unify(n.extents(2).size() == 1 ? n.extents(2)[0] : Dim(-1), n.extents(1).empty() ? Dim(-1) : n.extents(1)[0], "the bias and the output channels");
  n.output(0, n.element(0), conv_extents(n, 0, 1));
}

void evaluate_conv(Evaluation& e) {
  const Window window = window_of(e.node(), to_extents(e.input(0).shape), to_extents(e.input(1).shape));
  scalar::ConvParams p;
  p.group = e.node().integer("group", 1);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
  }
  for_number(e.type(0), [&]<class T>() { scalar::conv<T>(e.out<T>(), e.in<T>(0), e.in<T>(1), e.has(2) ? e.in<T>(2).data : nullptr, p); });
}

bool has_fast_kernel(const Graph& graph, const Node& node) {
  const TensorData* w = graph.constant(node.input(1));
  if (w == nullptr || w->type != ElementType::F32 || w->shape.size() > 4 || w->count() == 0) return false;
  if (node.has_input(2) && graph.constant(node.input(2)) == nullptr) return false;
  return graph[node.outputs[0]].type.rank() <= 4;
}

/// What all kernels of this family are told.
struct ConvCall {
  Window window;
  Dim n, h, w, oh, ow, pixels;
  int64_t cin, cout, group, kh, kw;
  double macs = 0;

  explicit ConvCall(Lowering& l) {
    const Extents &x = l.extents(0), &weights = l.extents(1), &y = l.output_type(0).extents;
    const bool line = x.size() == 3;
    window = as_two_dimensional(window_of(l.node(), x, weights));
    n = x[0];
    h = line ? Dim(1) : x[2];
    w = x.back();
    oh = line ? Dim(1) : y[2];
    ow = y.back();
    pixels = n * oh * ow;
    group = l.node().integer("group", 1);
    cout = weights[0].value();
    cin = weights[1].value() * group;
    kh = window.kernel[0].value();
    kw = window.kernel[1].value();
    macs = (pixels.is_constant() ? static_cast<double>(pixels.value()) : 4096.0) * static_cast<double>(cout * (cin / group) * kh * kw);
  }
  /// Multiply-adds of a tiled kernel: those of the columns that only fill a panel included.
  double tiled_macs(const Tile& tile) const {
    const int64_t columns = cout / group;
    return macs * static_cast<double>((columns + tile.nr - 1) / tile.nr * tile.nr) / static_cast<double>(columns);
  }
  bool plain_window() const {
    for (std::size_t i = 0; i < 2; ++i) {
      if (window.strides[i] != 1 || window.dilations[i] != 1) return false;
    }
    return true;
  }
  bool no_pads() const {
    return window.pads_begin[0] == Dim(0) && window.pads_begin[1] == Dim(0) && window.pads_end[0] == Dim(0) && window.pads_end[1] == Dim(0);
  }
  std::vector<std::pair<std::string, Arg>> params(const View& x, const View& y, std::optional<PointerArg> bias) const {
    std::vector<std::pair<std::string, Arg>> list{
        {"n", dim_arg(n)}, {"h", dim_arg(h)}, {"w", dim_arg(w)}, {"cin", dim_arg(cin)}, {"oh", dim_arg(oh)}, {"ow", dim_arg(ow)}, {"cout", dim_arg(cout)},
        {"kh", dim_arg(kh)}, {"kw", dim_arg(kw)}, {"stride_y", dim_arg(window.strides[0])}, {"stride_x", dim_arg(window.strides[1])},
        {"dilation_y", dim_arg(window.dilations[0])}, {"dilation_x", dim_arg(window.dilations[1])}, {"pad_top", dim_arg(window.pads_begin[0])},
        {"pad_left", dim_arg(window.pads_begin[1])}, {"group", dim_arg(group)}, {"x_pixel", dim_arg(x.layout.pixel_stride)}, {"y_pixel", dim_arg(y.layout.pixel_stride)}};
    if (bias) list.emplace_back("bias", *bias);
    return list;
  }
};

const std::string& weights_name(Lowering& l) { return l.graph()[l.node().input(1)].name; }
std::span<const float> weights_of(Lowering& l) { return l.constant(1)->as<float>(); }
Layout input_layout(Lowering& l) {
  // As it lies when it is channels-last already; else converted without padding.
  const View x = l.in_any(0);
  return x.layout.channels_last ? x.layout : channels_last(x.extents, l.target().vector_floats);
}
std::optional<PointerArg> bias_of(Lowering& l, const pack::ConvShape& shape) {
  if (!l.has(2)) return std::nullopt;
  return l.weights(l.graph()[l.node().input(2)].name, ElementType::F32, pack::conv_bias(l.constant(2)->as<float>(), shape));
}
void finish(Lowering& l, StepBuilder& step, const ConvCall& c, const View& y) {
  step.epilogue(l.epilogue(l.image_shape(y.extents), step)).macs(c.pixels * (c.cout * (c.cin / c.group) * c.kh * c.kw));
}
StepBuilder& tile_args(StepBuilder& step, const Tile& tile) { return step.template_name(std::to_string(tile.rows)).template_name(std::to_string(tile.vectors)); }

void consider_gemm(Lowering& l, const ConvCall& c) {
  if (c.kh != 1 || c.kw != 1 || c.group != 1 || !c.plain_window() || !c.no_pads()) return;
  const Tile tile = choose_tile(l.target(), c.pixels, c.cout);
  l.consider("gemm", c.tiled_macs(tile), 0, [&l, c, tile] {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = tile.nr};
    const View x = l.in(0, input_layout(l)), y = l.out_any(0);
    const PointerArg w = l.weights(weights_name(l), ElementType::F32, pack::conv(weights_of(l), shape));
    StepBuilder step = l.call("gemm");
    tile_args(step, tile).pointer(x).pointer(w).pointer(y);
    std::vector<std::pair<std::string, Arg>> params{{"m", dim_arg(c.pixels)}, {"n", dim_arg(c.cout)}, {"k", dim_arg(c.cin)}, {"lda", dim_arg(x.layout.pixel_stride)}, {"ldc", dim_arg(y.layout.pixel_stride)}};
    if (const auto bias = bias_of(l, shape)) params.emplace_back("bias", *bias);
    step.params(std::move(params));
    finish(l, step, c, y);
  });
}

/// `exact`: our own attribute, of convolutions of integers that f32 holds. Sums of products are exact then, transforms are not.
bool is_exact(const Node& node) { return node.integer("exact", 0) != 0; }

void consider_winograd(Lowering& l, const ConvCall& c) {
  if (is_exact(l.node()) || c.kh != 3 || c.kw != 3 || c.group != 1 || !c.plain_window() || c.cin < 16 || c.cout < 16 || !c.pixels.is_constant()) return;
  for (const int outputs : {2, 4}) {
    const int side = outputs + 2;
    const int64_t down = (c.oh.value() + outputs - 1) / outputs, across = (c.ow.value() + outputs - 1) / outputs, tiles = c.n.value() * down * across;
    // Blocks of one size whose transformed input fits most of L2; for a block all constants stream by once.
    const int64_t fits = std::max<int64_t>(16, l.target().l2_bytes * 3 / 4 / (4 * side * side * (c.cin + 16)));
    const int64_t blocks = std::max<int64_t>(1, (tiles + fits - 1) / fits), even = (tiles + blocks - 1) / blocks;
    const auto [tile, relative] = choose_winograd_tile(l.target(), even, c.cout);
    const int64_t block = blocks == 1 ? tiles : (even + tile.rows - 1) / tile.rows * tile.rows;
    const int64_t whole = block == 0 ? 0 : tiles / block, rows = whole * padded_rows(block, tile.rows) + padded_rows(tiles - whole * block, tile.rows);
    const int64_t columns = (c.cout + tile.nr - 1) / tile.nr * tile.nr, bytes = 4 * side * side * c.cin * columns;
    const double macs = static_cast<double>(rows * side * side) * static_cast<double>(c.cin) * static_cast<double>(columns) * relative;
    const int64_t growth = bytes - 4 * 9 * c.cin * c.cout;
    l.consider(outputs == 2 ? "winograd_2" : "winograd_4", macs, static_cast<double>(bytes), [&l, c, outputs, side, block, tile = tile] {
      const View x = l.in(0, input_layout(l)), y = l.out_any(0);
      const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 3, .kw = 3, .group = 1, .nr = tile.nr};
      const PointerArg w = l.weights(weights_name(l), ElementType::F32, pack::winograd(weights_of(l), c.cout, c.cin, tile.nr, outputs));
      const int64_t room = (block + tile.rows - 1) / tile.rows * tile.rows, pitch = (c.cin + 15) / 16 * 16 + 16;
      const PointerArg scratch = l.workspace("tiles", ElementType::F32, Dim(side * side * room * (pitch + tile.nr)) * l.threads());
      const auto bias = bias_of(l, shape);
      StepBuilder step = l.call(outputs == 2 ? "winograd_2" : "winograd_4");
      step.template_name(std::to_string(outputs));
      tile_args(step, tile).pointer(x).pointer(w).pointer(y).pointer(scratch).params(c.params(x, y, bias)).dim(block);
      finish(l, step, c, y);
    }, growth);
  }
}

void consider_depthwise(Lowering& l, const ConvCall& c) {
  if (c.group != c.cin || c.cout != c.cin) return;
  const bool unrolled = c.kh == c.kw && (c.kh == 3 || c.kh == 5 || c.kh == 7) && c.window.dilations[1] == 1 && c.window.strides[1] <= 2;
  l.consider(unrolled ? "depthwise" : "depthwise_any", c.macs, 0, [&l, c, unrolled] {
    const View x = l.in(0, input_layout(l)), y = l.out_any(0);
    const PointerArg w = l.weights(weights_name(l), ElementType::F32, pack::depthwise(weights_of(l), c.cin, c.kh, c.kw));
    std::optional<PointerArg> bias;
    if (l.has(2)) bias = l.in(2).pointer;
    StepBuilder step = l.call(unrolled ? "depthwise" : "depthwise_any");
    if (unrolled) step.template_name(std::to_string(c.kh)).template_name(std::to_string(c.kw)).template_name(std::to_string(c.window.strides[1])).template_name("7");
    step.pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias));
    finish(l, step, c, y);
  });
}

void consider_stem(Lowering& l, const ConvCall& c, const Tile& tile) {
  constexpr int64_t kStemFloats = 4096;  // as in conv_stem.hpp
  if (c.group != 1 || c.cin > 4 || l.in_any(0).layout.channels_last) return;
  if (c.cin * c.kh * ((tile.rows - 1) * c.window.strides[1] + (c.kw - 1) * c.window.dilations[1] + 1) > kStemFloats) return;
  l.consider("conv_stem", c.tiled_macs(tile), 0, [&l, c, tile] {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .group = 1, .nr = tile.nr};
    const View x = l.in(0), y = l.out_any(0);
    const PointerArg w = l.weights(weights_name(l), ElementType::F32, pack::conv_stem(weights_of(l), shape));
    const auto bias = bias_of(l, shape);
    StepBuilder step = l.call("conv_stem");
    tile_args(step, tile).pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias));
    finish(l, step, c, y);
  });
}

void consider_direct(Lowering& l, const ConvCall& c, const Tile& tile) {
  l.consider("conv", c.tiled_macs(tile), 0, [&l, c, tile] {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin / c.group, .kh = c.kh, .kw = c.kw, .group = c.group, .nr = tile.nr};
    const View x = l.in(0, input_layout(l)), y = l.out_any(0);
    const PointerArg w = l.weights(weights_name(l), ElementType::F32, pack::conv(weights_of(l), shape));
    const auto bias = bias_of(l, shape);
    StepBuilder step = l.call("conv");
    tile_args(step, tile).pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias));
    finish(l, step, c, y);
  });
}

void lower_reference(Lowering& l) {
  const Window window = window_of(l.node(), l.extents(0), l.extents(1));
  const View x = l.in(0), w = l.in(1), y = l.out(0);
  StepBuilder step = l.call("scalar_conv");
  step.tensor(y).tensor(x).tensor(w);
  if (l.has(2)) step.pointer(l.in(2));
  else step.name(fmt::format("static_cast<const {}*>(nullptr)", info(y.element).cpp_name));
  step.params({{"strides", dims_arg(window.strides)}, {"dilations", dims_arg(window.dilations)}, {"pads", dims_arg(window.pads_begin)}, {"group", dim_arg(l.node().integer("group", 1))}});
}

void lower_conv(Lowering& l) {
  if (!l.optimise() || !has_fast_kernel(l.graph(), l.node())) {
    lower_reference(l);
    return l.apply_epilogue(l.result());
  }
  const ConvCall c(l);
  const Tile tile = choose_tile(l.target(), c.pixels, c.cout / c.group);
  consider_gemm(l, c);
  consider_winograd(l, c);
  consider_depthwise(l, c);
  consider_stem(l, c, tile);
  consider_direct(l, c, tile);
  l.build_cheapest();
}

}  // namespace

extern const Operator op_Conv;
const Operator op_Conv{.name = "Conv", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .infer = infer_conv, .evaluate = evaluate_conv, .lower = lower_conv,
                       .layout = LayoutRule::Prefers, .takes_epilogue = has_fast_kernel};

}  // namespace onnxc
