// Resize. Every axis has a table of sources, made here where its extents are constants, else by a step of the run. f32 images
// that lie channels-last are resized over both axes at once; others one axis after the other. f16 and bf16 are interpolated in f32.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/lowering.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/reduce/passes_over_axes.h"
#include "compiler/ops/resize/plan.h"

namespace onnxc {
namespace {

bool is_known(const Value& v) {
  return v.constant || (v.elements && std::all_of(v.elements->begin(), v.elements->end(), [](Dim d) { return d.is_constant(); }));
}

/// Scales that only a run knows: the sizes that come of them become input 3 beside them. Sizes that it knows, with an aspect ratio to keep: scales and
/// sizes are computed from them.
void resolve_run_time(GraphBuilder& b, Node& node) {
  const Type x = b.type(node.inputs[0]);
  const auto given = [&](int i) { return node.has_input(i) && b.type(node.input(i)).ranked && !(element_count(b.extents(node.input(i))) == Dim(0)); };
  const bool scales = given(2) && !is_known(b.graph()[node.input(2)]);
  const bool sizes = !given(2) && given(3) && !is_known(b.graph()[node.input(3)]) && node.string("keep_aspect_ratio_policy", "stretch") != "stretch";
  if (!x.ranked || (!scales && !sizes)) return;
  std::vector<int64_t> axes = node.integers("axes");
  for (int k = 0; k < x.rank() && !node.has("axes"); ++k) axes.push_back(k);
  Extents resized;
  for (int64_t a : axes) {
    const int64_t axis = a < 0 ? a + x.rank() : a;
    if (axis < 0 || axis >= x.rank()) node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", a, x.rank()));
    resized.push_back(x.extents[static_cast<std::size_t>(axis)]);
  }
  const auto cast = [&](ValueId v, ElementType type) { return b.op("Cast", {v}, {{"to", static_cast<int64_t>(type)}}); };
  const ValueId in = b.shape(resized);
  node.inputs.resize(4, kAbsent);
  if (scales) {
    node.inputs[3] = cast(b.op("Floor", {b.op("Mul", {cast(in, ElementType::F32), node.inputs[2]})}), ElementType::I64);
    return;
  }
  const std::string policy = node.string("keep_aspect_ratio_policy", "");
  if (policy != "not_larger" && policy != "not_smaller") node.fail(ErrorKind::Invalid, fmt::format("keep_aspect_ratio_policy is '{}'", policy));
  const ValueId wide = cast(in, ElementType::F64);
  const ValueId common = cast(b.op(policy == "not_larger" ? "ReduceMin" : "ReduceMax", {b.op("Div", {cast(node.inputs[3], ElementType::F64), wide})}), ElementType::F32);
  node.inputs[2] = b.op("Expand", {common, b.integers({static_cast<int64_t>(axes.size())})});
  node.inputs[3] = cast(b.op("Floor", {b.op("Add", {b.op("Mul", {wide, cast(common, ElementType::F64)}), b.number(ElementType::F64, 0.5)})}), ElementType::I64);
  node.attributes["resolved_policy"] = int64_t{1};
}

/// Opset 10 had X and scales, the coordinates of `asymmetric`, and a rounding of its own.
void resolve_resize(GraphBuilder& b, Node& node) {
  if (node.version <= 10 && node.inputs.size() == 2) {
    node.inputs = {node.inputs[0], kAbsent, node.inputs[1]};
    node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    node.attributes["nearest_mode"] = std::string("simple");
  }
  if (node.has_input(1) && b.type(node.input(1)).is_tensor() && is_float(b.type(node.input(1)).element) && b.type(node.input(1)).element != ElementType::F32 && !is_known(b.graph()[node.input(1)]))
    node.inputs[1] = b.op("Cast", {node.input(1)}, {{"to", static_cast<int64_t>(ElementType::F32)}});  // a region that only a run knows
  resolve_run_time(b, node);
}

void infer_resize(Inference& n) {
  static_cast<void>(n.extents(0));
  if (n.has(3) && !(element_count(n.extents(3)) == Dim(0))) static_cast<void>(n.known_elements(3, "the sizes"));
  if (n.has(2) && n.constant(2) == nullptr && n.element(2) != ElementType::F32) n.fail(fmt::format("the scales are {}, not f32", name(n.element(2))));
  ResizePlan plan = plan_resize(n.graph(), n.node());
  for (const ResizedAxis& a : plan.axes) {
    table_params(n.node(), a);
    // What is not empty is not made of nothing.
    if (a.scale == 0 && a.in.min_value() < 1) n.unify(max(min(a.in, 1), Dim(1) - min(a.out, 1)), 1, "an axis of extent 0 cannot be enlarged");
  }
  n.output(0, n.element(0), plan.out);
}

std::optional<std::vector<ValueId>> decompose_resize(GraphBuilder& b, const Node& node) {
  if (plan_resize(b.graph(), node).axes.empty()) return std::vector{node.input(0)};
  if (!is_nearest(node)) return compute_in_float(b, node);
  return std::nullopt;
}

/// Weights of f64 and of integers that f32 does not hold are f64.
bool wide_weights(ElementType type) { return type == ElementType::F64 || (is_integer(type) && info(type).bits >= 32); }

struct Table {
  std::vector<int32_t> index;
  std::vector<float> narrow;
  std::vector<double> wide;
};

Table make_table(const ResizeTableParams& p, bool wide) {
  Table t;
  const auto n = static_cast<std::size_t>(p.out * p.taps);
  t.index.resize(n);
  if (p.taps > 1 && wide) t.wide.resize(n);
  if (p.taps > 1 && !wide) t.narrow.resize(n);
  if (p.taps > 1 && wide)
    resize_table<double>(p, t.index.data(), t.wide.data());
  else
    resize_table<float>(p, t.index.data(), t.narrow.data());
  return t;
}

bool reads_region(const ResizeTableParams& p) { return p.coordinates == Coordinates::tf_crop_and_resize; }

std::vector<float> to_floats(const TensorData& t) {
  const std::vector<double> values = to_doubles(t);
  return {values.begin(), values.end()};
}
std::vector<float> region(const Node& node, const TensorData* roi, const ResizePlan& plan) {
  if (roi == nullptr) node.fail(ErrorKind::Invalid, "tf_crop_and_resize without a region (input 1)");
  std::vector<float> values = to_floats(*roi);
  if (values.size() != static_cast<std::size_t>(2 * plan.roi_axes))
    node.fail(ErrorKind::Invalid, fmt::format("the region has {} values where {} are needed", values.size(), 2 * plan.roi_axes));
  return values;
}
void set_region(ResizeTableParams& p, const std::vector<float>& values, const ResizePlan& plan, const ResizedAxis& a) {
  p.roi_start = values[static_cast<std::size_t>(a.roi_at)];
  p.roi_end = values[static_cast<std::size_t>(a.roi_at + plan.roi_axes)];
}

void evaluate_resize(Evaluation& e) {
  const Node& given = e.node();
  Graph graph;
  Node node = given;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kAbsent) continue;
    const TensorData& t = e.input(static_cast<int>(i));
    const ValueId v = graph.add_value("x", Type::tensor(t.type, to_extents(t.shape)));
    if (i > 0) graph[v].constant = std::make_shared<TensorData>(t);
    node.inputs[i] = v;
  }
  const ResizePlan plan = plan_resize(graph, node);
  const ElementType type = e.type(0);
  if (!is_nearest(node) && !is_float(type) && !is_integer(type))
    node.fail(ErrorKind::Unsupported, fmt::format("interpolation of {}", name(type)));
  if (is_half(type) && !is_nearest(node)) node.fail(ErrorKind::Unsupported, "evaluated once it is decomposed");
  TensorData x = e.input(0);
  const double extrapolation = static_cast<double>(node.number("extrapolation_value", 0));
  for (const ResizedAxis& a : plan.axes) {
    ResizeTableParams p = table_params(node, a);
    if (reads_region(p)) set_region(p, region(node, e.has(1) ? &e.input(1) : nullptr, plan), plan, a);
    const Table table = make_table(p, wide_weights(type));
    const Shape in = Evaluation::shape_of(x);
    const bool last = &a == &plan.axes.back();
    const ElementType between = p.taps == 1 ? x.type : wide_weights(type) ? ElementType::F64 : ElementType::F32;
    std::vector<int64_t> shape = x.shape;
    shape[static_cast<std::size_t>(a.axis)] = p.out;
    TensorData y = TensorData::zeros(last ? type : between, shape);
    const scalar::ResizeParams q{in.count(0, a.axis), p.in, p.out, in.count(a.axis + 1, in.rank), p.taps, extrapolation, p.antialias};
    for_type(y.type, [&]<class Out>() {
      for_type(x.type, [&]<class In>() {
        if constexpr (std::is_same_v<Out, In> || std::is_same_v<In, float> || std::is_same_v<In, double> || std::is_same_v<Out, float> ||
                      std::is_same_v<Out, double>) {
          auto* const to = reinterpret_cast<Out*>(y.bytes.data());
          const auto* const from = reinterpret_cast<const In*>(x.bytes.data());
          if (!table.wide.empty())
            scalar::resize<Out, In, double>(Part{}, to, from, table.index.data(), table.wide.data(), q);
          else
            scalar::resize<Out, In, float>(Part{}, to, from, table.index.data(), table.narrow.data(), q);
        }
      });
    });
    x = std::move(y);
  }
  e.output(0).bytes = std::move(x.bytes);
}

// ---- lowering

struct TableArgs {
  PointerArg index;
  std::optional<PointerArg> weight;
};

const char* name_of(Coordinates c) {
  static constexpr const char* names[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                          "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  return names[static_cast<int>(c)];
}
const char* name_of(Filter f) {
  static constexpr const char* names[] = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil", "simple", "linear", "cubic"};
  return names[static_cast<int>(f)];
}

/// The table among the weights, or a step that fills it in scratch memory.
TableArgs place_table(Lowering& l, const ResizePlan& plan, const ResizedAxis& a) {
  ResizeTableParams p = table_params(l.node(), a);
  const bool wide = wide_weights(l.type(0).element);
  const ElementType weight = wide ? ElementType::F64 : ElementType::F32;
  const TensorData* roi = l.has(1) ? l.constant(1) : nullptr;
  const std::string what = fmt::format("{} axis {}", l.node().name, a.axis);
  if (a.is_static() && !a.run_time_scale && (!reads_region(p) || !l.has(1) || roi != nullptr)) {
    if (reads_region(p)) set_region(p, region(l.node(), roi, plan), plan, a);
    const Table t = make_table(p, wide);
    TableArgs args{l.weights(what + " sources", ElementType::I32, t.index), std::nullopt};
    if (p.taps > 1) args.weight = wide ? l.weights(what + " weights", weight, t.wide) : l.weights(what + " weights", weight, t.narrow);
    return args;
  }
  const Dim taps = taps_of(l.node(), a);
  TableArgs args{l.workspace(fmt::format("sources{}", a.axis), ElementType::I32, a.out * taps), std::nullopt};
  if (!(taps == Dim(1))) args.weight = l.workspace(fmt::format("weights{}", a.axis), weight, a.out * taps);
  std::vector<std::pair<std::string, Arg>> params{{"in", dim_arg(a.in)}, {"out", dim_arg(a.out)}};
  if (p.scale != 0) params.emplace_back("scale", number_arg(static_cast<double>(p.scale)));
  params.emplace_back("taps", dim_arg(taps));
  params.emplace_back("filter", name_arg(fmt::format("onnxc::Filter::{}", name_of(p.filter))));
  params.emplace_back("coordinates", name_arg(fmt::format("onnxc::Coordinates::{}", name_of(p.coordinates))));
  if (p.filter == Filter::cubic) params.emplace_back("cubic_coefficient", number_arg(static_cast<double>(p.cubic_coefficient)));
  if (p.antialias) params.emplace_back("antialias", flag_arg(true));
  if (p.exclude_outside) params.emplace_back("exclude_outside", flag_arg(true));
  if (reads_region(p)) {
    if (roi != nullptr) {
      set_region(p, region(l.node(), roi, plan), plan, a);
      params.emplace_back("roi_start", number_arg(static_cast<double>(p.roi_start)));
      params.emplace_back("roi_end", number_arg(static_cast<double>(p.roi_end)));
    } else {
      if (!l.has(1) || l.type(1).element != ElementType::F32 || !(element_count(l.extents(1)) == Dim(2 * plan.roi_axes)))
        l.unsupported(fmt::format("a region that is {}", l.has(1) ? l.type(1).text() : "absent"), "make it a constant of the model");
      params.emplace_back("roi", l.in(1).pointer);
      params.emplace_back("roi_at", dim_arg(a.roi_at));
      params.emplace_back("roi_axes", dim_arg(plan.roi_axes));
    }
  }
  if (a.run_time_scale) {
    params.emplace_back("scales", l.in(2).pointer);
    params.emplace_back("scale_at", dim_arg(a.roi_at));
  }
  StepBuilder step = l.call("resize_table");
  step.type(weight).params(std::move(params)).pointer(args.index);
  if (args.weight)
    step.pointer(*args.weight);
  else
    step.name("nullptr");
  args.index.writes = false;
  if (args.weight) args.weight->writes = false;
  return args;
}

/// One axis after the other, in the order that keeps what lies between small.
void lower_by_axis(Lowering& l, const ResizePlan& plan) {
  const View x = l.in(0), y = l.out(0);
  const ElementType type = x.element, weight = wide_weights(type) ? ElementType::F64 : ElementType::F32;
  View from = x;
  for (std::size_t k = 0; k < plan.axes.size(); ++k) {
    const ResizedAxis& a = plan.axes[k];
    const ResizeTableParams p = table_params(l.node(), a);
    const TableArgs table = place_table(l, plan, a);
    const bool last = k + 1 == plan.axes.size();
    Dim outer = 1, inner = 1;
    for (int axis = 0; axis < static_cast<int>(from.extents.size()); ++axis) {
      if (axis != a.axis) (axis < a.axis ? outer : inner) *= from.extents[static_cast<std::size_t>(axis)];
    }
    View to = y;
    if (!last) {
      to.element = taps_of(l.node(), a) == Dim(1) ? from.element : weight;
      to.extents = from.extents;
      to.extents[static_cast<std::size_t>(a.axis)] = a.out;
      to.pointer = l.workspace(fmt::format("axis{}", a.axis), to.element, element_count(to.extents));
    }
    std::vector<std::pair<std::string, Arg>> params{
        {"outer", dim_arg(outer)}, {"in", dim_arg(a.in)}, {"out", dim_arg(a.out)}, {"inner", dim_arg(inner)}, {"taps", dim_arg(taps_of(l.node(), a))}};
    if (reads_region(p))
      params.emplace_back("extrapolation", NumberArg{static_cast<double>(l.node().number("extrapolation_value", 0)), ElementType::F64});
    if (p.antialias && is_integer(to.element)) params.emplace_back("rounds", flag_arg(true));  // as ONNX Runtime does
    StepBuilder step = l.call("scalar_resize");
    step.type(to.element).type(from.element).type(weight).pointer(to).pointer(from).pointer(table.index);
    if (table.weight)
      step.pointer(*table.weight);
    else
      step.name("nullptr");
    step.params(std::move(params));
    from = to;
    from.pointer.writes = false;
  }
}

bool takes_vectors(Lowering& l, const ResizePlan& plan) {
  const View x = l.in_any(0);
  const std::size_t rank = x.extents.size();
  if (!l.optimise() || x.element != ElementType::F32 || rank < 3 || rank > 4 || !x.layout.channels_last || !l.out_layout(0).channels_last)
    return false;
  int64_t taps = 1;
  for (const ResizedAxis& a : plan.axes) {
    const ResizeTableParams p = table_params(l.node(), a);
    if (a.axis < 2 || p.taps == 0 || a.run_time_scale || reads_region(p)) return false;
    taps *= p.taps;
  }
  return taps <= 16;
}

void lower_channels_last(Lowering& l, const ResizePlan& plan) {
  const View x = l.in_any(0);
  const std::size_t rank = x.extents.size();
  const auto axis_params = [&](std::size_t axis) {
    ResizedAxis a{static_cast<int>(axis), axis < 2 ? Dim(1) : x.extents[axis], axis < 2 ? Dim(1) : x.extents[axis]};
    bool plain = true;
    for (const ResizedAxis& given : plan.axes) {
      if (axis < 2 || given.axis != static_cast<int>(axis)) continue;
      a = given;
      plain = false;
    }
    ParamsArg params;
    TableArgs table;
    int64_t taps = 1;
    if (!plain) {
      table = place_table(l, plan, a);
      taps = table_params(l.node(), a).taps;
    } else if (a.in.is_constant()) {
      std::vector<int32_t> same(static_cast<std::size_t>(a.in.value()));
      for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int32_t>(i);
      table.index = l.weights("each position itself", ElementType::I32, same);
    } else {
      table.index = l.workspace(fmt::format("sources{}", axis), ElementType::I32, a.in);
      l.call("resize_table")
          .type(ElementType::F32)
          .params({{"in", dim_arg(a.in)},
                   {"out", dim_arg(a.in)},
                   {"filter", name_arg("onnxc::Filter::floor")},
                   {"coordinates", name_arg("onnxc::Coordinates::asymmetric")}})
          .pointer(table.index)
          .name("nullptr");
      table.index.writes = false;
    }
    params.members = {{"size", dim_arg(a.out)}, {"taps", dim_arg(taps)}, {"index", table.index}};
    if (table.weight)
      params.members.emplace_back("weight", *table.weight);
    else
      params.members.emplace_back("weight", name_arg("nullptr"));
    return std::make_shared<ParamsArg>(std::move(params));
  };
  const auto down = axis_params(rank == 4 ? 2 : 0), across = axis_params(rank - 1);
  const View y = l.out_any(0);
  {
    StepBuilder step = l.call("resize");
    step.pointer(x).pointer(y).params({{"n", dim_arg(x.extents[0])},
                                       {"h", dim_arg(rank == 4 ? x.extents[2] : Dim(1))},
                                       {"w", dim_arg(x.extents.back())},
                                       {"c", dim_arg(x.extents[1])},
                                       {"x_pixel", dim_arg(x.layout.pixel_stride)},
                                       {"y_pixel", dim_arg(y.layout.pixel_stride)},
                                       {"y", down},
                                       {"x", across}});
    const EpilogueShape shape = l.image_shape(y.extents);
    if (l.node().epilogue && epilogue_fits(l, shape)) {
      step.epilogue(l.epilogue(shape, step));
      return;
    }
  }
  l.apply_epilogue(y);
}

void lower_resize(Lowering& l) {
  const ResizePlan plan = plan_resize(l.graph(), l.node());
  ONNXC_CHECK(!plan.axes.empty(), "a Resize that changes nothing is decomposed");
  const ElementType type = l.type(0).element;
  if (!is_nearest(l.node()) && !is_float(type) && !is_integer(type)) l.unsupported(fmt::format("interpolation of {}", name(type)));
  if (takes_vectors(l, plan)) return lower_channels_last(l, plan);
  lower_by_axis(l, plan);
  l.apply_epilogue(l.result());
}

bool is_f32(const Graph& graph, const Node& node) { return graph[node.input(0)].type.element == ElementType::F32; }

}  // namespace

extern const Operator op_Resize;
const Operator op_Resize{.name = "Resize",
                         .min_inputs = 1,
                         .max_inputs = 4,
                         .max_outputs = 1,
                         .resolve = resolve_resize,
                         .infer = infer_resize,
                         .decompose = decompose_resize,
                         .evaluate = evaluate_resize,
                         .lower = lower_resize,
                         .layout = LayoutRule::Follows,
                         .takes_epilogue = is_f32};

}  // namespace onnxc
