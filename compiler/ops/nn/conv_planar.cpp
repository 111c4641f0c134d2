#include "compiler/ops/nn/conv_planar.h"

#include <algorithm>

#include "compiler/ops/nn/conv_call.h"
#include "compiler/ops/nn/conv_chain.h"

namespace onnxc {
namespace {

constexpr int64_t kBand = 16;  // as in conv_planar.hpp

/// Vectors of pixels at a time: enough multiply-adds between loads, and few pixels beyond the row.
int choose_vectors(int64_t width, int64_t channels, int vector_floats) {
  const int64_t vectors = (width + vector_floats - 1) / vector_floats;
  for (const int nv : {4, 3, 2}) {
    if (nv * channels <= 24 && vectors % nv == 0) return nv;
  }
  return vectors == 1 ? 1 : 2;
}

}  // namespace

PlanarUse planar_conv(const Graph& graph, const Node& node, int vector_floats) {
  const Extents &x = graph[node.input(0)].type.extents, &y = graph[node.outputs[0]].type.extents;
  if (!has_fast_conv(graph, node) || x.size() != 4 || node.integer("group", 1) != 1 || !x[1].is_constant() || x[1].value() > kFewChannels) return {};
  const Window window = conv_window(node, x, graph[node.input(1)].type.extents);
  // Not more than half a vector of outputs, and rows that are worth vectors.
  const bool narrow = y[1].value() <= kFewChannels && 2 * y[1].value() <= vector_floats && y[2].is_constant() && y[3].is_constant() && 2 * y[3].value() > vector_floats;
  return {.reads = true, .writes = narrow && window.strides[1] == 1 && window.pads_begin[0].is_constant() && window.pads_begin[1].is_constant()};
}

void consider_conv_planar(Lowering& l) {
  const ConvCall c(l);
  const int nv = choose_vectors(c.ow.value(), c.cout, l.target().vector_floats);
  const int64_t nr = int64_t{nv} * l.target().vector_floats, across = (c.ow.value() + nr - 1) / nr * nr;
  l.consider("conv_planar", c.macs * static_cast<double>(across) / static_cast<double>(c.ow.value()), 0, [&l, c, nv, across] {
    const View x = l.in(0), y = l.out_any(0);
    const PointerArg w = l.weights(conv_weights_name(l), *l.constant(1));
    std::optional<PointerArg> bias;
    if (l.has(2)) bias = l.in(2).pointer;
    const int64_t rows = (std::min(c.oh.value(), kBand) - 1) * c.window.strides[0] + (c.kh - 1) * c.window.dilations[0] + 1, pitch = across + (c.kw - 1) * c.window.dilations[1];
    const PointerArg scratch = l.workspace("padded", ElementType::F32, Dim(c.cin * rows * pitch) * l.threads());
    StepBuilder step = l.call("conv_planar");
    step.template_name(std::to_string(c.cout)).template_name(std::to_string(nv)).pointer(x).pointer(w).pointer(y).pointer(scratch).params(c.params(x, y, bias));
    step.epilogue(l.epilogue({.row_extents = {c.n, Dim(c.cout)}, .row_axes = {0, 1}, .col_axes = {2, 3}}, step)).macs(c.pixels * (c.cout * c.cin * c.kh * c.kw));
  });
}

}  // namespace onnxc
