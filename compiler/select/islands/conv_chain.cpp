#include "compiler/select/islands/conv_chain.h"

#include <algorithm>

#include "compiler/select/conv/conv_call.h"
#include "compiler/select/conv/conv_stem.h"
#include "compiler/select/islands/row_sums.h"
#include "runtime_stub/onnxc/contract/row_bands.hpp"

namespace onnxc {

bool is_image_conv(const Graph& graph, const Node& node) {
  if (!node.is("Conv") || !has_fast_conv(graph, node)) return false;
  for (const Extents* e : {&graph[node.input(0)].type.extents, &graph[node.outputs[0]].type.extents}) {
    if (e->size() != 4 || !(*e)[1].is_constant() || !(*e)[2].is_constant() || !(*e)[3].is_constant()) return false;
  }
  return true;
}

int64_t image_bytes(const Graph& graph, ValueId value) {
  const Extents& e = graph[value].type.extents;
  return 4 * e[1].value() * e[2].value() * e[3].value();
}

int64_t chain_pitch(int64_t channels) {
  const int64_t whole = (channels + 15) / 16 * 16;
  return whole % 512 == 0 ? whole + 16 : whole;
}

int64_t choose_band(const Target& target, int64_t rows, const std::function<int64_t(int64_t)>& floats) {
  int64_t band = 1;
  while (band < rows && floats(band + 1) * 4 <= target.workspace_bytes() / 2) ++band;
  const int64_t bands = std::max<int64_t>(1, (rows + band - 1) / band);
  return std::max<int64_t>(1, (rows + bands - 1) / bands);
}

namespace {

bool is_depthwise(const Graph& graph, const Node& node) {
  if (!is_image_conv(graph, node)) return false;
  const Extents& w = graph[node.input(1)].type.extents;
  const int64_t channels = graph[node.input(0)].type.extents[1].value();
  if (node.integer("group", 1) != channels || !(w[0] == Dim(channels)) || channels < 16) return false;
  const Window window = conv_window(node, graph[node.input(0)].type.extents, w);
  if (!(window.kernel[0] == window.kernel[1]) || !(window.kernel[0] == Dim(3) || window.kernel[0] == Dim(5))) return false;
  return window.dilations[0] == 1 && window.dilations[1] == 1 && window.strides[0] == window.strides[1] && window.strides[0] <= 2;
}

/// The operands of a chain's 1x1 convolution.
struct Pointwise {
  Tile tile{0, 1, 0};
  Arg weights = NullArg{};
  std::optional<PointerArg> bias;
};
Pointwise pointwise(KernelQuery& l, const Tile& tile) {
  const ConvCall c(l);
  Pointwise p;
  p.tile = tile;
  const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = p.tile.nr};
  p.weights = l.weights(conv_weights_name(l), conv_panels(l, shape, p.tile));
  p.bias = conv_bias(l, shape);
  return p;
}

}  // namespace

bool is_pointwise(const Graph& graph, const Node& node) {
  if (!is_image_conv(graph, node) || node.integer("group", 1) != 1) return false;
  const Window window = conv_window(node, graph[node.input(0)].type.extents, graph[node.input(1)].type.extents);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!(window.kernel[i] == Dim(1)) || window.strides[i] != 1 || !(window.pads_begin[i] == Dim(0)) || !(window.pads_end[i] == Dim(0)))
      return false;
  }
  return true;
}

std::vector<const Node*> absorbed_by_conv_chain(const Surroundings& around, const Node& last, const Target& target) {
  if (target.bare) return {};  // there is no cache that an image could leave
  const Graph& graph = around.graph;
  const auto before = [&](const Node& node, bool (*is)(const Graph&, const Node&)) -> const Node* {
    const Node* producer = around.only_producer(node.input(0));
    return producer != nullptr && producer->epilogue_operands == 0 && is(graph, *producer) ? producer : nullptr;
  };
  const auto leaves_cache = [&](const Node& node) { return image_bytes(graph, node.outputs[0]) > target.workspace_bytes(); };
  const Node* const depthwise = is_depthwise(graph, last) ? &last : is_pointwise(graph, last) ? before(last, is_depthwise) : nullptr;
  if (depthwise == nullptr) return {};
  const Node* expand = before(*depthwise, is_pointwise);
  if (const Node* stem = around.only_producer(depthwise->input(0));
      expand == nullptr && stem != nullptr && stem->epilogue_operands == 0 && is_stem(graph, *stem, target))
    expand = stem;
  std::vector<const Node*> nodes;
  if (expand != nullptr && leaves_cache(*expand)) nodes.push_back(expand);
  if (depthwise != &last && (!nodes.empty() || leaves_cache(*depthwise))) nodes.push_back(depthwise);
  return nodes;
}

namespace {

/// A chain and how its kernel computes it.
struct ConvChain {
  std::vector<KernelQuery> convs;  ///< in the order of the graph
  ConvCall c;                      ///< the depthwise convolution
  bool expands, projects;          ///< a convolution comes before it, or after it
  bool has_stem;                   ///< the one before it is the network's first
  bool winograd = false;
  int64_t pitch = chain_pitch(c.cin);
  int64_t band = 0;  ///< rows that are computed at once
  Tile expanding{0, 1, 0};
  int64_t scratch_floats = 0;

  KernelQuery& first() { return convs.front(); }
  KernelQuery& depthwise() { return convs[expands ? 1 : 0]; }
  KernelQuery& last() { return convs.back(); }
  bool has_pointwise() const { return expands && !has_stem; }
  const char* row() const { return has_stem ? "stem_depthwise" : winograd ? "depthwise_winograd_chain" : "depthwise_chain"; }
};

ConvChain chain_of(KernelQuery& last) {
  std::vector<KernelQuery> convs;
  for (const Node* node : last.absorbed()) convs.push_back(last.of(*node));
  convs.push_back(last);
  const auto middle = std::ranges::find_if(convs, [](KernelQuery& l) { return is_depthwise(l.graph(), l.node()); });
  ONNXC_CHECK(middle != convs.end(), "a chain has a depthwise convolution");
  const bool expands = middle != convs.begin(), projects = middle + 1 != convs.end();
  const bool has_stem = expands && !is_pointwise((middle - 1)->graph(), (middle - 1)->node());
  const ConvCall c(*middle);
  return {.convs = std::move(convs), .c = c, .expands = expands, .projects = projects, .has_stem = has_stem};
}

/// Chooses the rows of a band, the tile of the expansion and the kernel's form.
void choose_form(ConvChain& chain) {
  const ConvCall& c = chain.c;
  const Target& target = chain.last().target();
  const int64_t stride = c.window.strides[0], w_in = c.w.value();
  const auto choose_expanding = [&](int64_t rows) {
    const ConvCall call(chain.first());
    return choose_tile(target, {.m = rows * stride * w_in, .n = call.cout, .k = call.cin});
  };
  // The ring buffer holds the expanded rows of one panel of channels, or of all panels if a projection follows, which
  // needs them all. A stem's rows lie in one ring buffer.
  const contract::ChainShape shape{.kh = c.kh,
                                   .stride_y = stride,
                                   .dilation_y = c.window.dilations[0],
                                   .w = w_in,
                                   .ow = c.ow.value(),
                                   .channels = c.cin,
                                   .pitch = chain.pitch,
                                   .projects = chain.projects};
  const auto floats = [&](int64_t band) {
    if (chain.has_stem) return contract::stem_depthwise_scratch(shape, band);
    return contract::depthwise_chain_scratch(shape, band, chain.has_pointwise() ? choose_expanding(band).nr : 0);
  };
  // All bands have the same size. They take as many rows as fit half of L2. After an expansion they take only a few,
  // since a ring buffer for each panel of channels should stay in L1.
  constexpr int64_t kFew = 4;
  const int64_t fits = choose_band(target, c.oh.value(), floats), most = chain.has_pointwise() ? std::min(fits, kFew) : fits;
  chain.winograd = chain.has_pointwise() && chain.last().may_mix() && has_depthwise_winograd(target, c) && fits >= 2;
  const int64_t bands = (c.oh.value() + most - 1) / most, equal = (c.oh.value() + bands - 1) / bands;
  // Winograd's form computes rows in pairs.
  chain.band = !chain.winograd || equal % 2 == 0 ? equal : equal < fits ? equal + 1 : equal - 1;
  if (chain.has_pointwise()) chain.expanding = choose_expanding(chain.band);
  chain.scratch_floats = floats(chain.band);
}

NamedArgs chain_params(ConvChain& chain, const Pointwise& expand, const Pointwise& project, NamedArgs conv, const View& x, const View& y) {
  NamedArgs params{{"conv", params_arg(std::move(conv))},
                   {"cin", dim_arg(chain.expands ? ConvCall(chain.first()).cin : chain.c.cin)},
                   {"cout", dim_arg(chain.projects ? ConvCall(chain.last()).cout : chain.c.cout)},
                   {"x_pixel", dim_arg(x.layout.pixel_stride)},
                   {"y_pixel", dim_arg(y.layout.pixel_stride)}};
  if (expand.bias) params.emplace_back("expand_bias", *expand.bias);
  if (project.bias) params.emplace_back("project_bias", *project.bias);
  params.emplace_back("band", dim_arg(chain.band));
  params.emplace_back("pitch", dim_arg(chain.pitch));
  return params;
}

/// Adds the epilogues of the three convolutions, with empty ones for those that the chain lacks, and their multiply-adds.
void finish_chain(ConvChain& chain, StepBuilder& step) {
  Dim macs = 0;
  for (KernelQuery* l : {chain.expands ? &chain.first() : nullptr, &chain.depthwise(), chain.projects ? &chain.last() : nullptr}) {
    if (l != nullptr) {
      const ConvCall call(*l);
      macs += call.pixels * (call.cout * (call.cin / call.group) * call.kh * call.kw);
    }
    step.epilogue(l != nullptr ? l->epilogue(l->image_shape(l->output_type(0).extents), step) : EpilogueArg{});
  }
  step.macs(macs).emit();
}

void emit_chain(KernelQuery& last, ConvChain& chain) {
  const ConvCall& c = chain.c;
  KernelQuery& depthwise = chain.depthwise();
  const std::optional<Stem> stem = chain.has_stem ? stem_of(chain.first()) : std::nullopt;
  Pointwise expand, project;
  if (chain.expands && !stem) expand = pointwise(chain.first(), chain.expanding);
  if (chain.projects) {
    const ConvCall call(chain.last());
    project =
        pointwise(chain.last(), choose_tile(last.target(), {.m = chain.band * c.ow.value(), .n = call.cout, .k = call.cin, .pairs = true}));
  }
  const View x = stem ? stem_input(chain.first(), *stem) : chain.first().in(0, conv_input_layout(chain.first())), y = last.out_any(0);
  if (stem) expand.weights = stem_weights(chain.first(), *stem);
  const PointerArg w = depthwise.weights(conv_weights_name(depthwise), ElementType::F32,
                                         chain.winograd ? pack::depthwise_winograd(conv_weights(depthwise), c.cin)
                                                        : pack::depthwise(conv_weights(depthwise), c.cin, c.kh, c.kw));
  const auto bias = bias_as_given(depthwise);
  const std::optional<PointerArg> sums = chain.projects ? std::nullopt : wanted_row_sums(last);
  const PointerArg scratch = last.thread_workspace("rows", ElementType::F32, Dim(chain.scratch_floats));

  StepBuilder step = last.call(chain.row());
  if (stem) stem_args(step, *stem);
  else tile_args(step, expand.tile);
  step.template_arg(c.kh).template_arg(c.kw).template_arg(c.window.strides[1]);
  tile_args(step, project.tile, true);
  if (sums || chain.winograd) {
    if (!project.tile.pairs) step.template_arg(false);
    step.template_arg(sums.has_value());
    if (chain.winograd) step.template_arg(true);
  }
  step.pointer(x).arg(expand.weights).pointer(w).arg(project.weights).pointer(y).pointer(scratch);
  auto conv = c.params(x, y, bias);
  if (sums) conv.emplace_back("row_sums", *sums);
  NamedArgs params = chain_params(chain, expand, project, std::move(conv), x, y);
  if (stem) params = {{"stem", params_arg(stem_params(chain.first(), *stem, x, y))}, {"chain", params_arg(std::move(params))}};
  step.params(std::move(params));
  finish_chain(chain, step);
}

}  // namespace

void lower_conv_chain(KernelQuery& last) {
  ConvChain chain = chain_of(last);
  choose_form(chain);
  double macs = chain.c.macs;
  if (chain.expands) macs += ConvCall(chain.first()).macs;
  if (chain.projects) macs += ConvCall(chain.last()).macs;
  const char* const row = chain.row();
  last.consider(row, macs, 0, [&last, chain = std::move(chain)]() mutable { emit_chain(last, chain); });
}

}  // namespace onnxc
