// How a Resize runs:
//
//   f32 with a table of sources for each axis and no region: vectors. Channels-last images resize two axes at once; row-major
//   tensors the last two axes at once, and other axes one after the other.
//   Everything else: scalars, one axis after the other.
#include "compiler/ops/resize/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/reduce/passes_over_axes.h"
#include "compiler/ops/resize/tables.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// Whether kernels have a form for this number of sources of a result. With more sources, as in antialiasing, two
/// axes cost less one after the other.
bool is_held(int64_t taps) { return taps == 1 || taps == 2 || taps == 4; }

/// One pass over the tensor: along one axis, or along two neighbouring ones at once.
struct Pass {
  const ResizedAxis* down = nullptr;    ///< null: this axis does not change
  const ResizedAxis* across = nullptr;  ///< the axis after it, or null
};

/// The factor by which a pass enlarges the tensor; 1 if only a run knows it.
double growth(const Pass& pass) {
  double g = 1;
  for (const ResizedAxis* a : {pass.down, pass.across}) {
    if (a != nullptr && a->is_static() && a->in.value() > 0) g *= static_cast<double>(a->out.value()) / static_cast<double>(a->in.value());
  }
  return g;
}

/// The passes in the order of their growth, so that the tensors in between are small. `last`: the axis of `across`;
/// the axis before it is that of its `down`.
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

Dim count_over(const Extents& extents, std::size_t first, std::size_t last) {
  Dim n = 1;
  for (std::size_t k = first; k < last; ++k) n *= extents[k];
  return n;
}

/// The argument ResizeAxis, and what is known of it at compile time.
struct AxisArgs {
  Arg params;
  std::optional<int64_t> taps;  ///< set if a kernel holds this number in registers
  Dim sources = 1;              ///< for each position
  bool stays = false;
};
TemplateArg taps_arg(std::optional<int64_t> taps) { return taps ? TemplateArg(*taps) : RuntimeName{"kAnyTaps"}; }
AxisArgs axis_args(KernelQuery& l, const ResizePlan& plan, const ResizedAxis* a, Dim extent) {
  if (a == nullptr) return {params_arg({{"size", dim_arg(extent)}}), 1, 1, true};
  const ResizeTableArgs table = provide_table(l, plan, *a);
  const bool held = table.taps.is_constant() && is_held(table.taps.value());
  return {
      params_arg({{"size", dim_arg(a->out)}, {"taps", dim_arg(table.taps)}, {"index", table.index}, {"weight", table.weight_or_null()}}),
      held ? std::optional(table.taps.value()) : std::nullopt, table.taps};
}

/// The extents after a pass.
Extents after(Extents extents, const Pass& pass) {
  for (const ResizedAxis* a : {pass.down, pass.across}) {
    if (a != nullptr) extents[static_cast<std::size_t>(a->axis)] = a->out;
  }
  return extents;
}

/// What both kernels, of rows of planes and of pixels, need to know, each in its own form.
struct PassCall {
  const View &from, &to;
  std::size_t at, next;  ///< at: the axis of `down`, or the last one; next: the first axis of `across`
  const AxisArgs &down, &across;
};
void call_planar(StepBuilder& step, const PassCall& p) {
  step.template_arg(taps_arg(p.down.taps))
      .template_arg(p.across.stays ? RuntimeName{"kStays"} : taps_arg(p.across.taps))
      .pointer(p.from)
      .pointer(p.to);
  step.params({{"planes", dim_arg(count_over(p.from.extents, 0, p.at))},
               {"h", dim_arg(count_over(p.from.extents, p.at, p.next))},
               {"w", dim_arg(count_over(p.from.extents, p.next, p.from.extents.size()))},
               {"y", p.down.params},
               {"x", p.across.params}});
}
void call_pixels(StepBuilder& step, const PassCall& p) {
  const bool held = p.down.taps && p.across.taps;
  for (const auto& taps : {p.down.taps, p.across.taps}) step.template_arg(taps_arg(held ? taps : std::nullopt));
  step.pointer(p.from).pointer(p.to);
  step.params({{"n", dim_arg(p.from.extents[0] * count_over(p.from.extents, 2, p.at))},
               {"h", dim_arg(count_over(p.from.extents, p.at, p.next))},
               {"w", dim_arg(count_over(p.from.extents, p.next, p.from.extents.size()))},
               {"c", dim_arg(p.from.extents[1])},
               {"x_pixel", dim_arg(p.from.layout.pixel_stride)},
               {"y_pixel", dim_arg(p.to.layout.pixel_stride)},
               {"y", p.down.params},
               {"x", p.across.params}});
}

/// The epilogue's matrix for planes: the axes before `at` are its rows.
EpilogueShape planes_shape(const Extents& extents, std::size_t at) {
  EpilogueShape shape;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis < at) shape.row_extents.push_back(extents[axis]), shape.row_axes.push_back(static_cast<int>(axis));
    else shape.col_axes.push_back(static_cast<int>(axis));
  }
  return shape;
}

/// Lowers a Resize of channels-last images (`pixels`), or of row-major tensors, with vectors.
void lower_vectors(KernelQuery& l, const ResizePlan& plan, bool pixels) {
  View from = pixels ? l.in_any(0) : l.in(0);
  const View y = pixels ? l.out_any(0) : l.out(0);
  const std::size_t end = from.extents.size();
  const std::vector<Pass> passes = passes_of(l.node(), plan, static_cast<int>(end) - 1);
  bool applied = false;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    const Pass& pass = passes[k];
    const bool last = k + 1 == passes.size();
    View to = y;
    if (!last) {
      to.extents = after(from.extents, pass);
      if (pixels) to.layout = channels_last(Type::tensor(to.element, to.extents), l.target().vector_floats);
      to.pointer = l.workspace(fmt::format("pass{}", k), ElementType::F32, storage_elements(to.extents, to.layout));
    }
    // `down` is one axis, and `across` covers all axes after it. A single axis that is the last one is `across`, for
    // rows that are planes of their own.
    const std::size_t at = pass.down != nullptr ? static_cast<std::size_t>(pass.down->axis) : end - 1,
                      next = pass.down != nullptr ? at + 1 : at;
    const AxisArgs down = axis_args(l, plan, pass.down, 1), across = axis_args(l, plan, pass.across, count_over(to.extents, next, end));
    StepBuilder step = l.call(pixels ? "resize" : "resize_planar");
    (pixels ? call_pixels : call_planar)(step, {from, to, at, next, down, across});
    step.macs(element_count(to.extents) * down.sources * across.sources);
    const EpilogueShape shape = pixels ? l.image_shape(to.extents) : planes_shape(to.extents, at);
    applied = last && l.node().epilogue && epilogue_fits(l, shape);
    if (applied) step.epilogue(l.epilogue(shape, step));
    step.emit();
    from = to;
    from.pointer.writes = false;
  }
  if (!applied) l.apply_epilogue(l.result());
}

/// One axis after the other, in the order of the plan.
void lower_scalar(KernelQuery& l, const ResizePlan& plan) {
  const View x = l.in(0), y = l.out(0);
  const ElementType type = x.element, weight = wide_weights(type) ? ElementType::F64 : ElementType::F32;
  View from = x;
  for (std::size_t k = 0; k < plan.axes.size(); ++k) {
    const ResizedAxis& a = plan.axes[k];
    const ResizeTableParams p = table_params(l.node(), a);
    const ResizeTableArgs table = provide_table(l, plan, a);
    const bool last = k + 1 == plan.axes.size();
    const auto axis = static_cast<std::size_t>(a.axis);
    View to = y;
    if (!last) {
      to.element = table.weight ? weight : from.element;
      to.extents = from.extents;
      to.extents[axis] = a.out;
      to.pointer = l.workspace(fmt::format("axis{}", a.axis), to.element, element_count(to.extents));
    }
    NamedArgs params{{"outer", dim_arg(count_over(from.extents, 0, axis))},
                     {"in", dim_arg(a.in)},
                     {"out", dim_arg(a.out)},
                     {"inner", dim_arg(count_over(from.extents, axis + 1, from.extents.size()))},
                     {"taps", dim_arg(table.taps)}};
    if (reads_region(p))
      params.emplace_back("extrapolation", NumberArg{static_cast<double>(l.node().number("extrapolation_value", 0)), ElementType::F64});
    if (p.antialias && is_integer(to.element)) params.emplace_back("rounds", flag_arg(true));  // as in ONNX Runtime
    l.call("scalar_resize")
        .template_arg(to.element)
        .template_arg(from.element)
        .template_arg(weight)
        .pointer(to)
        .pointer(from)
        .pointer(table.index)
        .arg(table.weight_or_null())
        .params(std::move(params))
        .emit();
    from = to;
    from.pointer.writes = false;
  }
  l.apply_epilogue(l.result());
}

bool takes_vectors(KernelQuery& l, const ResizePlan& plan) {
  return l.optimise() && l.type(0).element == ElementType::F32 &&
         std::ranges::none_of(plan.axes, [&](const ResizedAxis& a) { return reads_region(table_params(l.node(), a)); });
}

}  // namespace

void lower_resize(KernelQuery& l) {
  ResizePlan plan = plan_resize(l.graph(), l.node());
  if (plan.axes.empty()) {  // scales of 1 that became constants once the node could no longer be decomposed
    const int last = static_cast<int>(plan.out.size()) - 1;
    plan.axes.push_back({.axis = last, .in = plan.out.back(), .out = plan.out.back(), .scale = 1});
  }
  const ElementType type = l.type(0).element;
  if (!is_nearest(l.node()) && !is_float(type) && !is_integer(type))
    l.fail(ErrorCode::ElementType, fmt::format("interpolation of {}", name(type)));
  if (!takes_vectors(l, plan)) return lower_scalar(l, plan);
  const bool pixels = l.in_any(0).layout.channels_last && l.out_layout(0).channels_last &&
                      std::ranges::all_of(plan.axes, [](const ResizedAxis& a) { return a.axis >= 2; });
  lower_vectors(l, plan, pixels);
}

bool resizes_to_output(const Graph& graph, const Node& node) {
  const ValueId y = node.outputs[0];
  if (std::ranges::find(graph.outputs, y) == graph.outputs.end()) return false;
  if (std::ranges::any_of(graph.nodes, [&](const Node& reader) { return std::ranges::find(reader.inputs, y) != reader.inputs.end(); }))
    return false;
  const Extents &from = graph[node.input(0)].type.extents, &to = graph[y].type.extents;
  return likely_value(element_count(to)) > likely_value(element_count(from));
}

}  // namespace onnxc
