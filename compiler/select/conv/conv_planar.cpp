#include "compiler/select/conv/conv_planar.h"

#include <functional>

#include "compiler/ops/pool/pool.h"
#include "compiler/ops/selected.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/pool/pool.h"
#include "runtime_stub/onnxc/contract/planar.hpp"

namespace onnxc {
namespace {

/// A register tile: rows of outputs by vectors of each. No rows: one pass of the kernel does not fit the registers.
struct PlanarTile {
  int rows = 0, vectors = 1;
};

/// The registers hold the accumulators, the vectors of the image that these share, and one weight.
bool in_registers(const Target& target, int64_t channels, PlanarTile tile) {
  return (channels + 1) * tile.rows * tile.vectors + 1 <= target.vector_registers;
}

/// Two rows where they fit, for more multiply-adds between loads, and as few pixels beyond the end of a row as
/// possible.
PlanarTile choose_planar_tile(const Target& target, int64_t width, int64_t channels) {
  const int64_t vectors = (width + target.vector_floats - 1) / target.vector_floats;
  PlanarTile tile{1, vectors == 1 ? 1 : 2};
  if (vectors % 2 != 0 && vectors % 3 == 0 && in_registers(target, channels, {1, 3})) tile.vectors = 3;
  if (in_registers(target, channels, {2, tile.vectors})) tile.rows = 2;
  return tile;
}

/// The tile for a 2x2 pool: two rows, and two vectors, which become one, where an image is wider than a vector.
PlanarTile choose_pooled_tile(const Target& target, int64_t width, int64_t channels) {
  for (const int nv : {2, 1}) {
    if (PlanarTile tile{2, nv}; (nv == 1 || width > target.vector_floats) && in_registers(target, channels, tile)) return tile;
  }
  return {};
}

/// Floats of a row of outputs, rounded up to whole tiles.
int64_t padded_width(const KernelQuery& l, const ConvCall& c, const PlanarTile& tile) {
  return contract::planar_width(c.ow.value(), int64_t{tile.vectors} * l.target().vector_floats);
}

/// Calls a kernel on the image that the Conv of `l` reads. Results go to `y`, and `finish` adds the step's last
/// arguments: its epilogues.
void call_planar(KernelQuery& l, std::string_view row, const PlanarTile& tile, const View& y,
                 const std::function<void(StepBuilder&)>& finish) {
  const ConvCall c(l);
  const View x = l.in(0);
  const PointerArg w = l.weights(
      conv_weights_name(l), ElementType::F32,
      pack::conv_stem(conv_weights(l), {.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .group = 1, .nr = static_cast<int>(c.cout)}));
  const auto bias = bias_as_given(l);
  const contract::PlanarShape shape{.cin = c.cin,
                                    .oh = c.oh.value(),
                                    .ow = c.ow.value(),
                                    .kh = c.kh,
                                    .kw = c.kw,
                                    .stride_y = c.window.strides[0],
                                    .dilation_y = c.window.dilations[0],
                                    .dilation_x = c.window.dilations[1]};
  const int64_t lanes = l.target().vector_floats;
  const PointerArg scratch =
      l.thread_workspace("padded", ElementType::F32, Dim(contract::planar_scratch(shape, tile.vectors * lanes, lanes)));
  StepBuilder step = l.call(row);
  step.template_arg(c.cout).template_arg(tile.vectors);
  step.pointer(x).pointer(w).pointer(y).pointer(scratch).params(c.params(x, y, bias)).specialised();
  finish(step.macs(c.pixels * (c.cout * c.cin * c.kh * c.kw)));
  step.emit();
}

/// Whether the pool's windows are 2x2 and adjoin.
bool pools_by_two(const Graph& graph, const Node& node) {
  const Window window = pool_window(node, graph[node.input(0)].type.extents);
  return window.kernel == Extents{2, 2} && window.strides[0] == 2 && window.strides[1] == 2;
}

}  // namespace

EpilogueShape planes(const Extents& y) { return {.row_extents = {y[0], y[1]}, .row_axes = {0, 1}, .col_axes = {2, 3}}; }

bool epilogue_fits_planes(const Graph& graph, const Node& node) {
  const Extents& y = graph[node.outputs[0]].type.extents;
  for (std::size_t i = static_cast<std::size_t>(node.own_inputs()); i < node.inputs.size(); ++i) {
    const Extents& operand = graph[node.inputs[i]].type.extents;
    if (!epilogue_operand(planes(y), y, operand, strides_of(operand, Layout{}))) return false;
  }
  return true;
}

PlanarUse planar_conv(const Graph& graph, const Node& node, int vector_floats) {
  const Extents &x = graph[node.input(0)].type.extents, &y = graph[node.outputs[0]].type.extents;
  if (!has_fast_conv(graph, node) || x.size() != 4 || node.integer("group", 1) != 1 || !x[1].is_constant() || x[1].value() > kFewChannels)
    return {};
  const Window window = conv_window(node, x, graph[node.input(1)].type.extents);
  // Outputs fill at most half a vector, and rows are long enough for vectors along them.
  const bool few_outputs = y[1].value() <= kFewChannels && 2 * y[1].value() <= vector_floats && y[2].is_constant() && y[3].is_constant() &&
                           2 * y[3].value() > vector_floats;
  return {.reads = true,
          .writes = few_outputs && window.strides[1] == 1 && window.pads_begin[0].is_constant() && window.pads_begin[1].is_constant() &&
                    epilogue_fits_planes(graph, node)};
}

std::vector<const Node*> absorbed_by_planar_pool(const Surroundings& around, const Node& pool, const Target& target) {
  const Graph& graph = around.graph;
  const Node* const conv = producer_of_max_pool(around, pool);
  if (target.bare || conv == nullptr || !is_planar_pool(around, pool) || !pools_by_two(graph, pool)) return {};
  if (!conv->is("Conv") || !planar_conv(graph, *conv, target.vector_floats).writes) return {};
  const Extents& y = graph[conv->outputs[0]].type.extents;
  if (choose_pooled_tile(target, y[3].value(), y[1].value()).rows == 0) return {};
  return {conv};
}

void lower_planar_pool(KernelQuery& pool) {
  KernelQuery conv = pool.of(*pool.absorbed().front());
  const ConvCall c(conv);
  const View y = pool.out_any(0);
  const PlanarTile tile = choose_pooled_tile(pool.target(), c.ow.value(), c.cout);
  call_planar(conv, "conv_planar_pool", tile, y, [&](StepBuilder& step) {
    step.epilogue(conv.epilogue(planes(conv.output_type(0).extents), step)).epilogue(pool.epilogue(planes(y.extents), step));
  });
}

void consider_conv_planar(KernelQuery& l) {
  const ConvCall c(l);
  const PlanarTile tile = choose_planar_tile(l.target(), c.ow.value(), c.cout);
  l.consider("conv_planar", c.macs * static_cast<double>(padded_width(l, c, tile)) / static_cast<double>(c.ow.value()), 0, [&l, c, tile] {
    const View y = l.out_any(0);
    call_planar(l, "conv_planar", tile, y,
                [&](StepBuilder& step) { step.template_arg(tile.rows).epilogue(l.epilogue(planes(y.extents), step)); });
  });
}

}  // namespace onnxc
