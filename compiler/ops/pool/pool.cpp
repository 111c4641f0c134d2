// MaxPool, AveragePool, LpPool. f32 images in one to three dimensions run channels-last on vectors of channels; the rest takes the reference kernel.
// f16 and bf16 are computed in f32.
#include <fmt/format.h>

#include <optional>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/conv/conv_planar.h"
#include "compiler/select/conv/conv_stem.h"
#include "compiler/select/conv/stem_winograd.h"
#include "compiler/select/islands/conv_chain.h"
#include "runtime_stub/onnxc/scalar/pool.hpp"

namespace onnxc {
namespace {

Extents spatial(const Extents& extents) { return {extents.begin() + 2, extents.end()}; }

Window window_of(const Node& node, const Extents& x) {
  if (!node.has("kernel_shape")) node.fail(ErrorKind::Invalid, "attribute 'kernel_shape' is missing");
  return read_window(node, spatial(x), {});
}

void infer_pool(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  const std::string auto_pad = n.node().string("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  Extents out{x[0], x[1]};
  for (Dim d : window_output(n.node(), window_of(n.node(), x), spatial(x), n.node().integer("ceil_mode", 0) != 0 && !same))
    out.push_back(d);
  n.output(1, ElementType::I64, out);
  n.output(0, n.element(0), std::move(out));
}

/// LpPool's p was a float before opset 2.
double norm_of(const Node& node) {
  const auto it = node.attributes.find("p");
  if (it == node.attributes.end()) return 2;
  const auto* number = std::get_if<float>(&it->second);
  const double p = number != nullptr ? static_cast<double>(*number) : static_cast<double>(node.integer("p", 2));
  if (!(p > 0)) node.fail(ErrorKind::Invalid, fmt::format("p is {}", p));
  return p;
}

void evaluate_pool(Evaluation& e) {
  const Window window = window_of(e.node(), to_extents(e.input(0).shape));
  scalar::PoolParams p;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.kernel[p.kernel.size++] = window.kernel[i].value();
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
    p.pads_end[p.pads_end.size++] = window.pads_end[i].value();
  }
  p.count_include_pad = e.node().integer("count_include_pad", 0) != 0;
  p.column_major = e.node().integer("storage_order", 0) != 0;
  if (e.node().op == "MaxPool") {
    for_number(e.type(0), [&]<class T>() {
      scalar::max_pool<T>(Part{}, e.out<T>(), e.has_output(1) ? e.out<int64_t>(1).data : nullptr, e.in<T>(0), p);
    });
  } else if (e.node().op == "AveragePool") {
    for_float(e.type(0), [&]<class T>() { scalar::average_pool<T>(Part{}, e.out<T>(), e.in<T>(0), p); });
  } else {
    p.p = norm_of(e.node());
    for_float(e.type(0), [&]<class T>() { scalar::lp_pool<T>(Part{}, e.out<T>(), e.in<T>(0), p); });
  }
}

bool has_fast_kernel(const Graph& graph, const Node& node) {
  const Type& x = graph[node.input(0)].type;
  return x.element == ElementType::F32 && x.rank() <= 5 && node.op != "LpPool" && !node.has_output(1);
}

/// Elements of windows, all together.
Dim taken(const Window& window, const Extents& y) {
  Dim n = element_count(y);
  for (const auto& k : window.kernel) n *= k;
  return n;
}

void lower_reference(KernelQuery& l) {
  const Node& node = l.node();
  const Window window = window_of(node, l.extents(0));
  const View x = l.in(0), y = l.out(0);
  const bool is_max = node.op == "MaxPool";
  StepBuilder step = l.call(is_max ? "scalar_max_pool" : node.op == "AveragePool" ? "scalar_average_pool" : "scalar_lp_pool");
  step.type(y.element).tensor(y).work(taken(window, y.extents));
  if (is_max && l.has_output(1)) step.pointer(l.out(1));
  else if (is_max) step.name("nullptr");
  std::vector<std::pair<std::string, Arg>> params{{"kernel", dims_arg(window.kernel)},
                                                  {"strides", dims_arg(window.strides)},
                                                  {"dilations", dims_arg(window.dilations)},
                                                  {"pads", dims_arg(window.pads_begin)},
                                                  {"pads_end", dims_arg(window.pads_end)}};
  if (node.op == "AveragePool" && node.integer("count_include_pad", 0) != 0) params.emplace_back("count_include_pad", flag_arg(true));
  if (is_max && node.integer("storage_order", 0) != 0) params.emplace_back("column_major", flag_arg(true));
  if (node.op == "LpPool") params.emplace_back("p", NumberArg{norm_of(node), ElementType::F64});
  step.tensor(x).params(std::move(params)).emit();
}

/// max_pool_planar takes it.
PlanarUse planar_pool(const Graph& graph, const Node& node, int) {
  const Extents &x = graph[node.input(0)].type.extents, &y = graph[node.outputs[0]].type.extents;
  if (!has_fast_kernel(graph, node) || node.op != "MaxPool" || x.size() != 4 || !x[2].is_constant() || !x[3].is_constant()) return {};
  const Window window = window_of(node, x);
  for (std::size_t i = 0; i < 2; ++i) {
    if (window.dilations[i] != 1 || !(window.pads_begin[i] == Dim(0)) || !(window.pads_end[i] == Dim(0)) || !y[i + 2].is_constant())
      return {};
    if ((y[i + 2].value() - 1) * window.strides[i] + window.kernel[i].value() > x[i + 2].value()) return {};
  }
  return window.strides[1] <= 2 ? PlanarUse{.reads = true, .writes = true} : PlanarUse{};
}

void lower_planar(KernelQuery& l) {
  const Window window = window_of(l.node(), l.extents(0));
  const View x = l.in(0), y = l.out_any(0);
  StepBuilder step = l.call("max_pool_planar");
  step.template_name(std::to_string(window.strides[1])).pointer(x).pointer(y).work(taken(window, y.extents));
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
  step.epilogue(l.epilogue({.row_extents = {y.extents[0], y.extents[1]}, .row_axes = {0, 1}, .col_axes = {2, 3}}, step)).emit();
}

Sliding pool_sliding(KernelQuery& l) { return sliding(window_of(l.node(), l.extents(0)), l.extents(0), l.output_type(0).extents); }

/// What the channels-last kernels are told.
std::vector<std::pair<std::string, Arg>> pool_params(KernelQuery& l, const Sliding& s, Dim x_pixel, Dim y_pixel) {
  const bool average = l.node().op == "AveragePool";
  const Window window = s.plane();
  std::vector<std::pair<std::string, Arg>> params{{"n", dim_arg(s.n)},
                                                  {"h", dim_arg(s.y.in)},
                                                  {"w", dim_arg(s.x.in)},
                                                  {"c", dim_arg(l.extents(0)[1])},
                                                  {"oh", dim_arg(s.y.out)},
                                                  {"ow", dim_arg(s.x.out)},
                                                  {"kh", dim_arg(window.kernel[0])},
                                                  {"kw", dim_arg(window.kernel[1])},
                                                  {"stride_y", dim_arg(window.strides[0])},
                                                  {"stride_x", dim_arg(window.strides[1])},
                                                  {"dilation_y", dim_arg(window.dilations[0])},
                                                  {"dilation_x", dim_arg(window.dilations[1])},
                                                  {"pad_top", dim_arg(window.pads_begin[0])},
                                                  {"pad_left", dim_arg(window.pads_begin[1])}};
  if (average) {
    params.emplace_back("pad_bottom", dim_arg(window.pads_end[0]));
    params.emplace_back("pad_right", dim_arg(window.pads_end[1]));
  }
  params.emplace_back("x_pixel", dim_arg(x_pixel));
  params.emplace_back("y_pixel", dim_arg(y_pixel));
  if (s.is_deep()) {
    std::ranges::move(depth_params(s.z), std::back_inserter(params));
    if (average) params.emplace_back("pad_back", dim_arg(s.z.pad_end));
  }
  if (average && l.node().integer("count_include_pad", 0) != 0) params.emplace_back("count_include_pad", flag_arg(true));
  return params;
}

/// 2x2 windows side by side: planar_pool's, which planar convolutions do as well.
bool pools_by_two(const Graph& graph, const Node& node) {
  const Window window = window_of(node, graph[node.input(0)].type.extents);
  return window.kernel == Extents{2, 2} && window.strides[0] == 2 && window.strides[1] == 2;
}

/// The convolution before a max pooling: of a planar image, which pools in registers, or a stem whose image would leave the L2 cache of the target.
std::vector<const Node*> absorbed_by_pool(const Surroundings& around, const Node& node, const Target& target) {
  const Graph& graph = around.graph;
  const Extents &x = graph[node.input(0)].type.extents, &y = graph[node.outputs[0]].type.extents;
  if (!node.is("MaxPool") || !has_fast_kernel(graph, node) || x.size() != 4 || !y[2].is_constant() || !y[3].is_constant()) return {};
  const Node* const conv = around.only_producer(node.input(0));
  if (conv == nullptr || conv->epilogue_operands != 0) return {};
  const auto is_planar = [&](ValueId v) { return !around.layouts[static_cast<std::size_t>(v)].channels_last; };
  const bool planar = is_planar(node.input(0)) && is_planar(node.outputs[0]) && planar_pool(graph, node, target.vector_floats).writes;
  if (planar && !(pools_by_two(graph, node) && planar_conv_pools(graph, *conv, target))) return {};
  if (planar) return {conv};
  constexpr int64_t kMostPoolRows = 8;  // as in pool.hpp
  if (window_of(node, x).kernel[0].value() > kMostPoolRows || !is_stem(graph, *conv, target) ||
      image_bytes(graph, node.input(0)) <= target.workspace_bytes())
    return {};
  return {conv};
}

/// As many rows of the pool as leave the stem's, which they read, half of L2.
void lower_stem_pool(KernelQuery& l) {
  KernelQuery stem_part = l.of(*l.absorbed().front());
  const auto stem = stem_of(stem_part);
  ONNXC_CHECK(stem, "an absorbed stem has a kernel");
  const ConvCall& c = stem->call;
  const Window window = window_of(l.node(), l.extents(0));
  const int64_t pitch = chain_pitch(c.cout), reach = (window.kernel[0].value() - 1) * window.dilations[0] + 1;
  const auto build = [&](const std::optional<StemWinograd>& plan) {
    const int64_t together = plan ? plan->outputs : 1;  // rows of the stem that are made at a time
    const auto floats = [&](int64_t band) { return ((band - 1) * window.strides[0] + reach + together - 1) * c.ow.value() * pitch; };
    const int64_t band = choose_band(l.target(), l.output_type(0).extents[2].value(), floats);
    const View x = stem_input(stem_part, *stem), y = l.out_any(0);
    const PointerArg w = plan ? stem_winograd_weights(stem_part, *stem, *plan) : stem_weights(stem_part, *stem),
                     ring = l.part_workspace("rows", ElementType::F32, Dim(floats(band)));
    auto stem_arguments = stem_params(stem_part, *stem, x, y);
    StepBuilder step = l.call(plan ? "stem_winograd_pool" : "stem_pool");
    if (plan) stem_winograd_args(step, *stem, *plan);
    else stem_args(step, *stem);
    step.pointer(x).pointer(w).pointer(y).pointer(ring);
    if (plan) step.pointer(l.part_workspace("transformed", ElementType::F32, plan->scratch));
    step.params({{"stem", params_arg(std::move(stem_arguments))},
                 {"pool", params_arg(pool_params(l, pool_sliding(l), pitch, y.layout.pixel_stride))},
                 {"band", dim_arg(band)},
                 {"pitch", dim_arg(pitch)}});
    step.epilogue(stem_part.epilogue(stem_part.image_shape(stem_part.output_type(0).extents), step))
        .epilogue(l.epilogue(l.image_shape(y.extents), step));
    step.macs(c.pixels * (c.cout * c.cin * c.kh * c.kw)).emit();
  };
  l.consider("stem_pool", c.tiled_macs(stem->tile), 0, [&] { build(std::nullopt); });
  if (const auto plan = plan_stem_winograd(stem_part, *stem))
    l.consider("stem_winograd_pool", plan->macs, 0, [&, plan] { build(plan); }, plan->growth(c));
  l.build_cheapest();
}

void lower_pool(KernelQuery& l) {
  if (!l.optimise() || !has_fast_kernel(l.graph(), l.node())) {
    lower_reference(l);
    return l.apply_epilogue(l.result());
  }
  const bool planar = !l.out_layout(0).channels_last && planar_pool(l.graph(), l.node(), 0).writes;
  if (!l.absorbed().empty()) return planar ? lower_planar_conv_pool(l) : lower_stem_pool(l);
  if (planar) return lower_planar(l);
  const Extents& extents = l.extents(0);
  const View given = l.in_any(0), x = l.in(0, given.layout.channels_last ? given.layout : channels_last(extents, l.target().vector_floats)),
             y = l.out_any(0);
  const bool average = l.node().op == "AveragePool";
  const Sliding s = pool_sliding(l);
  auto params = pool_params(l, s, x.layout.pixel_stride, y.layout.pixel_stride);
  StepBuilder step = l.call(average ? s.is_deep() ? "average_pool_3d" : "average_pool" : s.is_deep() ? "max_pool_3d" : "max_pool");
  step.pointer(x)
      .pointer(y)
      .params(std::move(params))
      .epilogue(l.epilogue(l.image_shape(y.extents), step))
      .work(taken(window_of(l.node(), extents), y.extents))
      .emit();
}

Operator pool_operator(std::string_view name, int outputs) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = outputs,
          .infer = infer_pool,
          .decompose = compute_in_float,
          .evaluate = evaluate_pool,
          .lower = lower_pool,
          .layout = name == "LpPool" ? LayoutRule::RowMajor : LayoutRule::Prefers,
          .planar = name == "LpPool" ? nullptr : planar_pool,
          .takes_epilogue = has_fast_kernel,
          .absorbs = absorbed_by_pool};
}

}  // namespace

std::span<const Operator> table_pools() {
  static const Operator rows[] = {pool_operator("MaxPool", 2), pool_operator("AveragePool", 1), pool_operator("LpPool", 1)};
  return rows;
}

}  // namespace onnxc
