// How a Resize runs.
//
//   f32, a table of sources for each axis, no region: vectors. Channels-last images two axes at once; row-major tensors the last two axes at once, others
//   one after the other.
//   all else: scalars, one axis after the other.
#include "compiler/ops/resize/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/reduce/passes_over_axes.h"
#include "compiler/ops/resize/tables.h"

namespace onnxc {
namespace {

/// Whether kernels have a form for so many sources of a result. Two axes with more, as antialiasing has them, are less work one after the other.
bool is_held(int64_t taps) { return taps == 1 || taps == 2 || taps == 4; }

/// One walk over the tensor: along an axis, or along two neighbours at once.
struct Pass {
  const ResizedAxis* down = nullptr;    ///< or null: it stays as it is
  const ResizedAxis* across = nullptr;  ///< the axis behind it, or null
};

/// How much larger a pass makes the tensor; 1 where only a run tells.
double growth(const Pass& pass) {
  double g = 1;
  for (const ResizedAxis* a : {pass.down, pass.across}) {
    if (a != nullptr && a->is_static() && a->in.value() > 0) g *= static_cast<double>(a->out.value()) / static_cast<double>(a->in.value());
  }
  return g;
}

/// What is smallest comes first, so that what lies between is small. `last`: the axis along which `across` goes, the one before is its `down`.
std::vector<Pass> passes_of(const Node& node, const ResizePlan& plan, int last) {
  std::vector<Pass> passes;
  const ResizedAxis *down = nullptr, *across = nullptr;
  for (const ResizedAxis& a : plan.axes) {
    if (a.axis == last) across = &a;
    else if (a.axis == last - 1) down = &a;
    else passes.push_back({&a, nullptr});
  }
  const auto taps = [&](const ResizedAxis* a) { return a != nullptr ? table_params(node, *a).taps : 1; };
  const bool at_once = is_held(taps(down)) && is_held(taps(across));
  if (at_once && (down != nullptr || across != nullptr)) passes.push_back({down, across});
  if (!at_once && down != nullptr) passes.push_back({down, nullptr});
  if (!at_once && across != nullptr) passes.push_back({nullptr, across});
  std::ranges::stable_sort(passes, {}, growth);
  return passes;
}

Dim product(const Extents& extents, std::size_t first, std::size_t last) {
  Dim n = 1;
  for (std::size_t k = first; k < last; ++k) n *= extents[k];
  return n;
}

/// ResizeAxis, and the taps as a template argument.
struct AxisArgs {
  Arg params;
  std::string taps;
  Dim sources = 1;  ///< of a position
};
AxisArgs axis_args(Lowering& l, const ResizePlan& plan, const ResizedAxis* a, Dim extent) {
  if (a == nullptr) return {params_arg({{"size", dim_arg(extent)}}), "1"};
  const ResizeTableArgs table = place_table(l, plan, *a);
  const bool held = table.taps.is_constant() && is_held(table.taps.value());
  return {params_arg({{"size", dim_arg(a->out)}, {"taps", dim_arg(table.taps)}, {"index", table.index}, {"weight", table.weight_or_null()}}),
          held ? table.taps.text() : "onnxc::kAnyTaps", table.taps};
}

/// The extents once a pass has been done.
Extents after(Extents extents, const Pass& pass) {
  for (const ResizedAxis* a : {pass.down, pass.across}) {
    if (a != nullptr) extents[static_cast<std::size_t>(a->axis)] = a->out;
  }
  return extents;
}

/// `step` writes `to`, in the last pass the result, with the node's epilogue where it fits.
void finish(Lowering& l, StepBuilder& step, const EpilogueShape& shape, bool last, bool& applied) {
  applied = last && l.node().epilogue && epilogue_fits(l, shape);
  if (applied) step.epilogue(l.epilogue(shape, step));
}

void lower_planar(Lowering& l, const ResizePlan& plan) {
  View from = l.in(0);
  const View y = l.out(0);
  const int rank = static_cast<int>(from.extents.size());
  const std::vector<Pass> passes = passes_of(l.node(), plan, rank - 1);
  bool applied = false;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    const Pass& pass = passes[k];
    const bool last = k + 1 == passes.size();
    View to = y;
    if (!last) {
      to.extents = after(from.extents, pass);
      to.pointer = l.workspace(fmt::format("pass{}", k), ElementType::F32, element_count(to.extents));
    }
    // Rows of planes: [outer, down, all behind it]. An axis alone that is the last has planes of one row.
    const auto at = static_cast<std::size_t>(pass.down != nullptr ? pass.down->axis : rank - 1), behind = pass.down != nullptr ? at + 1 : at, end = from.extents.size();
    const AxisArgs down = axis_args(l, plan, pass.down, 1), across = axis_args(l, plan, pass.across, product(to.extents, behind, end));
    EpilogueShape shape;
    for (std::size_t axis = 0; axis < end; ++axis) {
      if (axis < at) shape.row_extents.push_back(to.extents[axis]), shape.row_axes.push_back(static_cast<int>(axis));
      else shape.col_axes.push_back(static_cast<int>(axis));
    }
    StepBuilder step = l.call("resize_planar");
    step.template_name(down.taps).template_name(pass.across != nullptr ? across.taps : "onnxc::kStays").pointer(from).pointer(to);
    step.params({{"planes", dim_arg(product(from.extents, 0, at))},
                 {"h", dim_arg(product(from.extents, at, behind))},
                 {"w", dim_arg(product(from.extents, behind, end))},
                 {"y", down.params},
                 {"x", across.params}}).macs(element_count(to.extents) * down.sources * across.sources);
    finish(l, step, shape, last, applied);
    from = to;
    from.pointer.writes = false;
  }
  if (!applied) l.apply_epilogue(l.result());
}

void lower_channels_last(Lowering& l, const ResizePlan& plan) {
  View from = l.in_any(0);
  const View y = l.out_any(0);
  const int rank = static_cast<int>(from.extents.size());
  const std::vector<Pass> passes = passes_of(l.node(), plan, rank - 1);
  bool applied = false;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    const Pass& pass = passes[k];
    const bool last = k + 1 == passes.size();
    View to = y;
    if (!last) {
      to.extents = after(from.extents, pass);
      to.layout = channels_last(to.extents, l.target().vector_floats);
      to.pointer = l.workspace(fmt::format("pass{}", k), ElementType::F32, storage_elements(to.extents, to.layout));
    }
    // Images of pixels: [n and what lies before, down, all spatial axes behind it].
    const auto at = static_cast<std::size_t>(pass.down != nullptr ? pass.down->axis : rank - 1), behind = pass.down != nullptr ? at + 1 : at, end = from.extents.size();
    const AxisArgs down = axis_args(l, plan, pass.down, 1), across = axis_args(l, plan, pass.across, product(to.extents, behind, end));
    const std::string any = "onnxc::kAnyTaps";
    const bool held = down.taps != any && across.taps != any;
    StepBuilder step = l.call("resize");
    step.template_name(held ? down.taps : any).template_name(held ? across.taps : any).pointer(from).pointer(to);
    step.params({{"n", dim_arg(from.extents[0] * product(from.extents, 2, at))},
                 {"h", dim_arg(product(from.extents, at, behind))},
                 {"w", dim_arg(product(from.extents, behind, end))},
                 {"c", dim_arg(from.extents[1])},
                 {"x_pixel", dim_arg(from.layout.pixel_stride)},
                 {"y_pixel", dim_arg(to.layout.pixel_stride)},
                 {"y", down.params},
                 {"x", across.params}}).macs(element_count(to.extents) * down.sources * across.sources);
    finish(l, step, l.image_shape(to.extents), last, applied);
    from = to;
    from.pointer.writes = false;
  }
  if (!applied) l.apply_epilogue(y);
}

/// One axis after the other, in the order of the plan.
void lower_scalar(Lowering& l, const ResizePlan& plan) {
  const View x = l.in(0), y = l.out(0);
  const ElementType type = x.element, weight = wide_weights(type) ? ElementType::F64 : ElementType::F32;
  View from = x;
  for (std::size_t k = 0; k < plan.axes.size(); ++k) {
    const ResizedAxis& a = plan.axes[k];
    const ResizeTableParams p = table_params(l.node(), a);
    const ResizeTableArgs table = place_table(l, plan, a);
    const bool last = k + 1 == plan.axes.size();
    const auto axis = static_cast<std::size_t>(a.axis);
    View to = y;
    if (!last) {
      to.element = table.weight ? weight : from.element;
      to.extents = from.extents;
      to.extents[axis] = a.out;
      to.pointer = l.workspace(fmt::format("axis{}", a.axis), to.element, element_count(to.extents));
    }
    std::vector<std::pair<std::string, Arg>> params{{"outer", dim_arg(product(from.extents, 0, axis))},
                                                    {"in", dim_arg(a.in)},
                                                    {"out", dim_arg(a.out)},
                                                    {"inner", dim_arg(product(from.extents, axis + 1, from.extents.size()))},
                                                    {"taps", dim_arg(table.taps)}};
    if (reads_region(p))
      params.emplace_back("extrapolation", NumberArg{static_cast<double>(l.node().number("extrapolation_value", 0)), ElementType::F64});
    if (p.antialias && is_integer(to.element)) params.emplace_back("rounds", flag_arg(true));  // as ONNX Runtime does
    l.call("scalar_resize").type(to.element).type(from.element).type(weight).pointer(to).pointer(from).pointer(table.index).arg(table.weight_or_null()).params(std::move(params));
    from = to;
    from.pointer.writes = false;
  }
  l.apply_epilogue(l.result());
}

bool takes_vectors(Lowering& l, const ResizePlan& plan) {
  return l.optimise() && l.type(0).element == ElementType::F32 && std::ranges::none_of(plan.axes, [&](const ResizedAxis& a) { return reads_region(table_params(l.node(), a)); });
}

}  // namespace

void lower_resize(Lowering& l) {
  const ResizePlan plan = plan_resize(l.graph(), l.node());
  ONNXC_CHECK(!plan.axes.empty(), "a Resize that changes nothing is decomposed");
  const ElementType type = l.type(0).element;
  if (!is_nearest(l.node()) && !is_float(type) && !is_integer(type)) l.unsupported(fmt::format("interpolation of {}", name(type)));
  if (!takes_vectors(l, plan)) return lower_scalar(l, plan);
  const bool pixels = l.in_any(0).layout.channels_last && l.out_layout(0).channels_last && std::ranges::all_of(plan.axes, [](const ResizedAxis& a) { return a.axis >= 2; });
  pixels ? lower_channels_last(l, plan) : lower_planar(l, plan);
}

bool resizes_to_output(const Graph& graph, const Node& node) {
  const ValueId y = node.outputs[0];
  if (std::ranges::find(graph.outputs, y) == graph.outputs.end()) return false;
  if (std::ranges::any_of(graph.nodes, [&](const Node& reader) { return std::ranges::find(reader.inputs, y) != reader.inputs.end(); })) return false;
  const Extents &from = graph[node.input(0)].type.extents, &to = graph[y].type.extents;
  return likely_value(element_count(to)) > likely_value(element_count(from));
}

}  // namespace onnxc
