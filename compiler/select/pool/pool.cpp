#include "compiler/select/pool/pool.h"

#include <algorithm>
#include <iterator>

#include "compiler/ops/pool/pool.h"
#include "compiler/ops/selected.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/conv/conv_planar.h"

namespace onnxc {

Sliding pool_sliding(KernelQuery& l) { return sliding(pool_window(l.node(), l.extents(0)), l.extents(0), l.output_type(0).extents); }

NamedArgs pool_params(KernelQuery& l, const Sliding& s, Dim x_pixel, Dim y_pixel) {
  const bool average = l.node().op == "AveragePool";
  NamedArgs params{{"n", dim_arg(s.n)},      {"h", dim_arg(s.y.in)},   {"w", dim_arg(s.x.in)},      {"c", dim_arg(l.extents(0)[1])},
                   {"oh", dim_arg(s.y.out)}, {"ow", dim_arg(s.x.out)}, {"kh", dim_arg(s.y.kernel)}, {"kw", dim_arg(s.x.kernel)}};
  add_window(params, s.y, s.x);
  if (average) {
    add_unless(params, "pad_bottom", s.y.pad_end, contract::kUsualPad);
    add_unless(params, "pad_right", s.x.pad_end, contract::kUsualPad);
  }
  add_pixels(params, x_pixel, y_pixel);
  if (s.is_deep()) {
    std::ranges::move(depth_params(s.z), std::back_inserter(params));
    if (average) params.emplace_back("pad_back", dim_arg(s.z.pad_end));
  }
  if (average && l.node().integer("count_include_pad", 0) != 0) params.emplace_back("count_include_pad", flag_arg(true));
  return params;
}

PlanarUse planar_pool(const Graph& graph, const Node& node, int) {
  const Extents &x = graph[node.input(0)].type.extents, &y = graph[node.outputs[0]].type.extents;
  if (!has_fast_pool(graph, node) || node.op != "MaxPool" || x.size() != 4 || !x[2].is_constant() || !x[3].is_constant()) return {};
  if (!epilogue_fits_planes(graph, node)) return {};
  const Window window = pool_window(node, x);
  for (std::size_t i = 0; i < 2; ++i) {
    if (window.dilations[i] != 1 || !(window.pads_begin[i] == Dim(0)) || !(window.pads_end[i] == Dim(0)) || !y[i + 2].is_constant())
      return {};
    if ((y[i + 2].value() - 1) * window.strides[i] + window.kernel[i].value() > x[i + 2].value()) return {};
  }
  return window.strides[1] <= 2 ? PlanarUse{.reads = true, .writes = true} : PlanarUse{};
}

const Node* producer_of_max_pool(const Surroundings& around, const Node& node) {
  const Graph& graph = around.graph;
  if (!node.is("MaxPool") || !has_fast_pool(graph, node)) return nullptr;
  const Extents &x = graph[node.input(0)].type.extents, &y = graph[node.outputs[0]].type.extents;
  if (x.size() != 4 || !y[2].is_constant() || !y[3].is_constant()) return nullptr;
  const Node* const producer = around.only_producer(node.input(0));
  return producer != nullptr && producer->epilogue_operands == 0 ? producer : nullptr;
}

bool is_planar_pool(const Surroundings& around, const Node& pool) {
  return !around.is_channels_last(pool.input(0)) && !around.is_channels_last(pool.outputs[0]) && planar_pool(around.graph, pool, 0).writes;
}

namespace {

void lower_planar(KernelQuery& l) {
  const Window window = pool_window(l.node(), l.extents(0));
  const View x = l.in(0), y = l.out_any(0);
  StepBuilder step = l.call("max_pool_planar");
  step.template_arg(window.strides[1]).pointer(x).pointer(y).work(window_elements(window, y.extents));
  step.params({{"n", dim_arg(x.extents[0])},
               {"h", dim_arg(x.extents[2])},
               {"w", dim_arg(x.extents[3])},
               {"c", dim_arg(x.extents[1])},
               {"oh", dim_arg(y.extents[2])},
               {"ow", dim_arg(y.extents[3])},
               {"kh", dim_arg(window.kernel[0])},
               {"kw", dim_arg(window.kernel[1])},
               {"stride_y", dim_arg(window.strides[0])},
               {"stride_x", dim_arg(window.strides[1])}});
  step.epilogue(l.epilogue(planes(y.extents), step)).emit();
}

}  // namespace

void lower_fast_pool(KernelQuery& l) {
  const bool planar = !l.out_layout(0).channels_last && planar_pool(l.graph(), l.node(), 0).writes;
  if (planar) return lower_planar(l);
  const Extents& extents = l.extents(0);
  const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
  const bool average = l.node().op == "AveragePool";
  const Sliding s = pool_sliding(l);
  auto params = pool_params(l, s, x.layout.pixel_stride, y.layout.pixel_stride);
  StepBuilder step = l.call(average ? s.is_deep() ? "average_pool_3d" : "average_pool" : s.is_deep() ? "max_pool_3d" : "max_pool");
  step.pointer(x)
      .pointer(y)
      .params(std::move(params))
      .epilogue(l.epilogue(l.image_shape(y.extents), step))
      .work(window_elements(pool_window(l.node(), extents), y.extents))
      .emit();
}

void lower_byte_pool(KernelQuery& l) {
  const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
  StepBuilder step = l.call("max_pool_bytes");
  step.pointer(x)
      .pointer(y)
      .params(pool_params(l, pool_sliding(l), x.layout.pixel_stride, y.layout.pixel_stride))
      .work(window_elements(pool_window(l.node(), l.extents(0)), y.extents))
      .emit();
}

}  // namespace onnxc
