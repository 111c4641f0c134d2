#include "compiler/select/conv/conv_stem.h"

#include "compiler/select/conv/conv_planar.h"
#include "compiler/select/islands/conv_chain.h"
#include "runtime_stub/onnxc/contract/stem.hpp"

namespace onnxc {
namespace {

/// The floats from one pixel under a window to the next that the kernel is compiled for; 0: any number.
int64_t fixed_stride(const Window& window, int64_t pixel) {
  const int64_t stride = window.strides[1] * pixel;
  return window.dilations[1] == 1 && stride <= 16 ? stride : 0;
}

/// The tile for a row of the output. Empty if the input rows under a tile are more than the kernel can copy. `pairs`:
/// the tile may have pairs.
std::optional<Tile> stem_tile(const Target& target, Dim width, int64_t cin, int64_t cout, const Window& window, bool pairs) {
  const int64_t kh = window.kernel[0].value(), kw = window.kernel[1].value(), k = cin * kh * kw;
  // An odd row of the kernel leaves a step without a partner, which tiles with pairs take alone.
  const Tile tile = choose_tile(target, {.m = width, .n = cout, .k = pairs ? k + k % 2 : k, .pairs = pairs, .short_runs = true});
  const int64_t span = contract::inputs_under(tile.rows, window.strides[1], kw, window.dilations[1]);
  if (contract::stem_floats(cin, kh, span) > contract::kStemFloats) return std::nullopt;
  return tile;
}

}  // namespace

std::optional<Stem> stem_of(KernelQuery& l, bool pairs) {
  const ConvCall c(l);
  const Layout given = l.in_any(0).layout;
  const bool joined = given.channels_last && given.pixel_stride == Dim(c.cin) && c.window.dilations[1] == 1;
  // The slices of a volume are no planar images, since its channels come first.
  const bool volume = l.extents(0).size() > 4;
  if (volume || c.group != 1 || c.cin > (joined ? 4 : kFewChannels)) return std::nullopt;
  const auto tile = stem_tile(l.target(), c.ow, c.cin, c.cout, c.window, pairs && fixed_stride(c.window, joined ? c.cin : 1) > 0);
  return tile ? std::optional<Stem>({c, *tile, joined}) : std::nullopt;
}

PointerArg stem_weights(KernelQuery& l, const Stem& stem) {
  const ConvCall& c = stem.call;
  const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .group = 1, .nr = stem.tile.nr};
  std::vector<float> panels = stem.joined ? pack::conv(conv_weights(l), shape) : pack::conv_stem(conv_weights(l), shape);
  if (stem.tile.pairs) panels = pack::pairs(std::move(panels), shape.nr, l.target().vector_floats, c.kw * stem.pixel());
  return l.weights(conv_weights_name(l), ElementType::F32, panels);
}

View stem_input(KernelQuery& l, const Stem& stem) { return stem.joined ? l.in_any(0) : l.in(0); }

NamedArgs stem_params(KernelQuery& l, const Stem& stem, const View& x, const View& y) {
  const ConvCall& c = stem.call;
  const auto bias = conv_bias(l, {.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .group = 1, .nr = stem.tile.nr});
  if (!stem.joined) return c.params(x, y, bias);
  // Each row of pixels becomes a row of single values.
  Sliding over = c.over;
  over.x.in *= c.cin;
  over.x.kernel *= c.cin;
  over.x.stride *= c.cin;
  over.x.pad_begin *= c.cin;
  NamedArgs params = conv_params(over, 1, c.cout, c.group, x, y);
  if (bias) params.emplace_back("bias", *bias);
  return params;
}

StepBuilder& stem_args(StepBuilder& step, const Stem& stem) {
  return tile_args(step, stem.tile).template_arg(fixed_stride(stem.call.window, stem.pixel()));
}

std::optional<Stem> stem_in_place(KernelQuery& l, bool pairs) {
  auto stem = stem_of(l, pairs);
  return stem && (stem->joined || !l.in_any(0).layout.channels_last) ? stem : std::nullopt;
}

void consider_stem(KernelQuery& l) {
  const auto stem = stem_in_place(l, true);
  if (!stem) return;
  l.consider("conv_stem", stem->call.tiled_macs(stem->tile), 0, [&l, stem = *stem] {
    const View x = stem_input(l, stem), y = l.out_any(0);
    const PointerArg w = stem_weights(l, stem);
    auto params = stem_params(l, stem, x, y);
    StepBuilder step = l.call("conv_stem");
    stem_args(step, stem);
    if (stem.tile.pairs) step.template_arg(true);
    // The rows of the kernel are short, so known sizes shorten the set-up. With pairs the code for odd rows is long,
    // and specialising it costs more than it saves.
    else step.specialised();
    step.pointer(x).pointer(w).pointer(y);
    // Other systems than those that servers have may give a thread a few KiB of stack.
    if (l.target().features.empty()) {
      const Window& window = stem.call.window;
      const int64_t pixel = stem.pixel(),
                    span = contract::inputs_under(stem.tile.rows, window.strides[1] * pixel, stem.call.kw * pixel, window.dilations[1]);
      step.pointer(
          l.thread_workspace("rows", ElementType::F32, Dim(contract::stem_scratch(stem.joined ? 1 : stem.call.cin, stem.call.kh, span))));
    }
    step.params(std::move(params));
    finish_conv(l, step, stem.call, y);
  });
}

bool is_stem(const Graph& graph, const Node& node, const Target& target) {
  constexpr int64_t kFew = 4;
  if (!is_image_conv(graph, node) || node.integer("group", 1) != 1) return false;
  const Extents& weights = graph[node.input(1)].type.extents;
  const int64_t cout = weights[0].value(), cin = weights[1].value();
  const Window window = conv_window(node, graph[node.input(0)].type.extents, weights);
  return cin <= kFew && cout > kFewChannels && stem_tile(target, graph[node.outputs[0]].type.extents[3], cin, cout, window, false);
}

}  // namespace onnxc
