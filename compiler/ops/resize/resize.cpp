// Resize. f16 and bf16 are interpolated in f32.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/resize/lower.h"
#include "compiler/ops/resize/tables.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

bool is_known(const Value& v) {
  return v.constant || (v.elements && std::all_of(v.elements->begin(), v.elements->end(), [](Dim d) { return d.is_constant(); }));
}

/// Handles scales and sizes that only a run knows. Scales: the sizes that result become input 3 in addition. Sizes
/// with an aspect ratio to keep: scales and sizes are computed from them.
void resolve_run_time(GraphBuilder& b, Node& node) {
  const Type x = b.type(node.inputs[0]);
  const auto given = [&](int i) {
    return node.has_input(i) && b.type(node.input(i)).ranked && !(element_count(b.extents(node.input(i))) == Dim(0));
  };
  const bool scales = given(2) && !is_known(b.graph()[node.input(2)]);
  const bool sizes =
      !given(2) && given(3) && !is_known(b.graph()[node.input(3)]) && node.string("keep_aspect_ratio_policy", "stretch") != "stretch";
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
  if (policy != "not_larger" && policy != "not_smaller")
    node.fail(ErrorKind::Invalid, fmt::format("keep_aspect_ratio_policy is '{}'", policy));
  const ValueId wide = cast(in, ElementType::F64);
  const ValueId common =
      cast(b.op(policy == "not_larger" ? "ReduceMin" : "ReduceMax", {b.op("Div", {cast(node.inputs[3], ElementType::F64), wide})}),
           ElementType::F32);
  node.inputs[2] = b.op("Expand", {common, b.integers({static_cast<int64_t>(axes.size())})});
  node.inputs[3] =
      cast(b.op("Floor", {b.op("Add", {b.op("Mul", {wide, cast(common, ElementType::F64)}), b.number(ElementType::F64, 0.5)})}),
           ElementType::I64);
  node.attributes["resolved_policy"] = int64_t{1};
}

/// Opset 10 had only X and scales, `asymmetric` coordinates, and its own rounding.
void resolve_resize(GraphBuilder& b, Node& node) {
  if (node.version <= 10 && node.inputs.size() == 2) {
    node.inputs = {node.inputs[0], kAbsent, node.inputs[1]};
    node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    node.attributes["nearest_mode"] = std::string("simple");
  }
  if (node.has_input(1) && b.type(node.input(1)).is_tensor() && is_float(b.type(node.input(1)).element) &&
      b.type(node.input(1)).element != ElementType::F32 && !is_known(b.graph()[node.input(1)]))
    // The region is only known to a run.
    node.inputs[1] = b.op("Cast", {node.input(1)}, {{"to", static_cast<int64_t>(ElementType::F32)}});
  for (const auto& [i, what] : {std::pair{1, "corners of the region"}, {2, "scales"}, {3, "sizes"}}) {
    if (node.has_input(i) && b.type(node.input(i)).ranked && b.rank(node.input(i)) != 1)
      node.fail(ErrorKind::Invalid, fmt::format("{} (input {}) have rank {}; one for each axis is needed", what, i, b.rank(node.input(i))));
  }
  resolve_run_time(b, node);
}

void infer_resize(Inference& n) {
  if (!is_number(n.element(0))) n.fail(ErrorCode::ElementType, fmt::format("images of {}", name(n.element(0))));
  static_cast<void>(n.extents(0));
  if (n.has(3) && !(element_count(n.extents(3)) == Dim(0))) static_cast<void>(n.known_elements(3, "the sizes"));
  if (n.has(2) && n.constant(2) == nullptr && n.element(2) != ElementType::F32)
    n.fail(fmt::format("the scales are {}, not f32", name(n.element(2))));
  ResizePlan plan = plan_resize(n.graph(), n.node());
  for (const ResizedAxis& a : plan.axes) {
    table_params(n.node(), a);
    // A result that is not empty cannot be computed from an empty axis.
    if (a.scale == 0 && a.in.min_value() < 1)
      n.unify(max(min(a.in, 1), Dim(1) - min(a.out, 1)), 1, "an axis of extent 0 cannot be enlarged");
  }
  n.output(0, n.element(0), plan.out);
}

std::optional<std::vector<ValueId>> decompose_resize(GraphBuilder& b, const Node& node) {
  if (plan_resize(b.graph(), node).axes.empty()) return std::vector{node.input(0)};
  if (!is_nearest(node)) return compute_in_float(b, node);
  return std::nullopt;
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
    node.fail(ErrorCode::ElementType, fmt::format("interpolation of {}", name(type)));
  if (is_half(type) && !is_nearest(node)) node.fail(ErrorKind::Unsupported, "evaluated once it is decomposed");
  TensorData x = e.input(0);
  const double extrapolation = static_cast<double>(node.number("extrapolation_value", 0));
  for (const ResizedAxis& a : plan.axes) {
    ResizeTableParams p = table_params(node, a);
    if (reads_region(p)) set_region(p, node, e.has(1) ? &e.input(1) : nullptr, plan, a);
    const ResizeTable table = make_table(p, wide_weights(type));
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
          if (!table.doubles.empty()) scalar::resize<Out, In, double>(Share{}, to, from, table.index.data(), table.doubles.data(), q);
          else scalar::resize<Out, In, float>(Share{}, to, from, table.index.data(), table.floats.data(), q);
        }
      });
    });
    x = std::move(y);
  }
  e.output(0).bytes = std::move(x.bytes);
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
                         .has_layout = [](const Graph& graph, const Node& node) { return !resizes_to_output(graph, node); },
                         .takes_epilogue = is_f32};

}  // namespace onnxc
