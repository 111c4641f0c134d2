#include "compiler/select/islands/conv_scaled.h"

#include "compiler/select/conv/conv_call.h"
#include "compiler/select/islands/conv_chain.h"
#include "runtime_stub/onnxc/contract/gemm.hpp"

namespace onnxc {
namespace {

bool is_product(const Expr& expr) {
  if (expr.terms.size() != 3 || expr.terms[2].kind != Expr::Kind::Apply || expr.terms[2].fn != Fn::Mul) return false;
  return expr.terms[0].kind == Expr::Kind::Input && expr.terms[1].kind == Expr::Kind::Input && expr.type() == ElementType::F32;
}

/// Whether the factors are [n, c, 1, 1] for n images of c channels.
bool is_per_channel(const Extents& factor, const Extents& image) {
  return factor == Extents{image[0], image[1], 1, 1} && !(factor == image);
}

/// The index of the Map's input that has the factors.
int factor_of(const Graph& graph, const Node& map) {
  return is_per_channel(graph[map.inputs[1]].type.extents, graph[map.outputs[0]].type.extents) ? 1 : 0;
}

}  // namespace

std::vector<const Node*> absorbed_by_scaled_conv(const Surroundings& around, const Node& conv, const Target&) {
  const Graph& graph = around.graph;
  if (!is_pointwise(graph, conv)) return {};
  const Node* const map = around.only_producer(conv.input(0));
  if (map == nullptr || !map->is_map() || map->inputs.size() != 2 || !is_product(*map->epilogue)) return {};
  const Extents& image = graph[map->outputs[0]].type.extents;
  const ValueId factor = map->inputs[static_cast<std::size_t>(factor_of(graph, *map))],
                scaled = map->inputs[static_cast<std::size_t>(1 - factor_of(graph, *map))];
  if (!is_per_channel(graph[factor].type.extents, image) || !(graph[scaled].type.extents == image)) return {};
  if (graph.constant(factor) != nullptr || graph.constant(scaled) != nullptr) return {};
  const bool few_weights = graph[conv.input(1)].type.extents[0].value() < image[2].value() * image[3].value();
  if (!few_weights) return {};
  return {map};
}

void lower_scaled_conv(KernelQuery& l) {
  KernelQuery map = l.of(*l.absorbed().front());
  const int factor = factor_of(l.graph(), map.node());
  const ConvCall c(l);
  const Tile tile = choose_tile(l.target(), {.m = c.pixels, .n = c.cout, .k = c.cin, .pairs = true, .likely = c.image_pixels()});
  const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = tile.nr};
  const View x = map.in(1 - factor, conv_input_layout(map, 1 - factor)), s = map.in(factor), y = l.out_any(0);
  const PointerArg w = l.weights(conv_weights_name(l), conv_panels(l, shape, tile));
  const PointerArg scaled = l.thread_workspace("scaled", ElementType::F32, Dim(contract::gemm_scaled_scratch(c.cin, c.cout, tile.nr)));
  StepBuilder step = l.call("gemm_scaled");
  tile_args(step, tile, true)
      .pointer(x)
      .pointer(w)
      .pointer(s)
      .pointer(y)
      .pointer(scaled)
      .params(gemm_params(l, c, x, y, shape))
      .dim(c.image_pixels());
  finish_conv(l, step, c, y);
}

}  // namespace onnxc
