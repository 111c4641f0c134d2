// LayerNormalization, RMSNormalization, and SimplifiedLayerNormalization, which is the name of RMSNormalization in
// graphs that ONNX Runtime has optimised, with the inverse deviation as its second output.
//
// A node that is not decomposed is f32 or f64 throughout, and its scale and bias, if present, have exactly the
// normalised axes. Other nodes become such a node between casts, with Mul and Add after it for scales and biases that
// broadcast.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/norm/norm.h"
#include "runtime_stub/onnxc/scalar/layer_norm.hpp"

namespace onnxc {
namespace {

bool is_centred(const Node& node) { return node.op == "LayerNormalization"; }
int first_axis(const Node& node, int rank) {
  const int64_t axis = node.integer("axis", -1);
  if (axis < -rank || axis >= rank) node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// The type in which means and deviations are computed.
ElementType stash_of(const Node& node, ElementType x) {
  const auto stash = element_type_numbered(static_cast<int32_t>(node.integer("stash_type", 1)));
  if (!stash || !is_float(*stash)) node.fail(ErrorKind::Invalid, fmt::format("stash_type is {}", node.integer("stash_type", 1)));
  if (is_half(*stash)) return ElementType::F32;  // more precise than required
  return x == ElementType::F64 ? ElementType::F64 : *stash;
}

void infer_layer_norm(Inference& n) {
  Extents x = n.extents(0);
  const int axis = first_axis(n.node(), n.rank(0));
  Extents rows = x;
  for (std::size_t k = static_cast<std::size_t>(axis); k < rows.size(); ++k) rows[k] = 1;
  for (int i = 1; i <= 2; ++i) {
    if (n.has(i)) x = n.spread(n.extents(i), x, i == 1 ? "the scale" : "the bias");
  }
  const auto stash = element_type_numbered(static_cast<int32_t>(n.node().integer("stash_type", 1)));
  n.output(1, stash.value_or(ElementType::F32), rows);
  n.output(2, stash.value_or(ElementType::F32), rows);
  n.output(0, n.has(1) ? n.element(1) : n.element(0), x);
}

/// Whether scale and bias have the kernels' form: one value for each normalised position, f32 or f64 like x.
bool is_kernel(const Graph& graph, const Node& node) {
  const Type& x = graph[node.input(0)].type;
  if (x.element != ElementType::F32 && x.element != ElementType::F64) return false;
  const Extents wanted(x.extents.begin() + first_axis(node, x.rank()), x.extents.end());
  for (int i = 1; i <= 2; ++i) {
    if (node.has_input(i) && (graph[node.input(i)].type.element != x.element || graph[node.input(i)].type.extents != wanted)) return false;
  }
  for (int i = 1; i <= 2; ++i) {
    if (node.has_output(i) && graph[node.output(i)].type.element != x.element) return false;
  }
  return stash_of(node, x.element) == x.element;
}

std::optional<std::vector<ValueId>> decompose_layer_norm(GraphBuilder& b, const Node& node) {
  if (is_kernel(b.graph(), node)) return std::nullopt;
  const ValueId x = node.input(0);
  const ElementType stash = stash_of(node, b.type(x).element), result = b.type(node.outputs[0]).element;
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes["stash_type"] = static_cast<int64_t>(stash);
  const int outputs = static_cast<int>(node.outputs.size());
  const Extents wanted(b.extents(x).begin() + first_axis(node, b.rank(x)), b.extents(x).end());
  bool fits = true;
  for (int i = 1; i <= 2; ++i) fits = fits && (!node.has_input(i) || b.extents(node.input(i)) == wanted);
  std::vector<ValueId> inputs{cast_to(b, x, stash)};
  for (int i = 1; i <= 2 && fits; ++i) inputs.push_back(node.has_input(i) ? cast_to(b, node.input(i), stash) : kAbsent);
  std::vector<ValueId> y = b.ops(node.full_op(), inputs, outputs, attributes);
  if (!fits && node.has_input(1)) y[0] = b.op("Mul", {y[0], cast_to(b, node.input(1), stash)});
  if (!fits && node.has_input(2)) y[0] = b.op("Add", {y[0], cast_to(b, node.input(2), stash)});
  y[0] = cast_to(b, y[0], result);
  for (std::size_t i = 1; i < y.size(); ++i)
    y[i] = node.outputs[i] == kAbsent ? kAbsent : cast_to(b, y[i], b.type(node.outputs[i]).element);
  return y;
}

void compute(Evaluation& e) {
  const Shape shape = Evaluation::shape_of(e.input(0));
  const int axis = first_axis(e.node(), shape.rank);
  const auto run = [&]<class T>() {
    scalar::NormParams<T> p{.rows = shape.count(0, axis),
                            .n = shape.count(axis, shape.rank),
                            .epsilon = static_cast<double>(e.node().number("epsilon", 1e-5f))};
    if (e.has(1)) p.scale = e.in<T>(1).data;
    if (e.has(2)) p.bias = e.in<T>(2).data;
    const int deviation = is_centred(e.node()) ? 2 : 1;
    if (e.has_output(1) && deviation == 2) p.mean = e.out<T>(1).data;
    if (e.has_output(deviation)) p.inverse_deviation = e.out<T>(deviation).data;
    if (is_centred(e.node())) scalar::layer_norm<T>(Share{}, e.in<T>(0).data, e.out<T>().data, p);
    else scalar::rms_norm<T>(Share{}, e.in<T>(0).data, e.out<T>().data, p);
  };
  if (e.type(0) == ElementType::F64) run.operator()<double>();
  else run.operator()<float>();
}

/// Only the form that decompose leaves can be evaluated.
void evaluate_layer_norm(Evaluation& e) {
  bool decomposed = e.type(0) == ElementType::F32 || e.type(0) == ElementType::F64;
  const auto rank = static_cast<std::size_t>(e.rank(0)), axis = static_cast<std::size_t>(first_axis(e.node(), e.rank(0)));
  for (int i = 1; i <= 2; ++i) {
    if (!e.has(i)) continue;
    decomposed = decomposed && e.type(i) == e.type(0) &&
                 e.input(i).shape == std::vector<int64_t>(e.input(0).shape.begin() + static_cast<std::ptrdiff_t>(axis),
                                                          e.input(0).shape.begin() + static_cast<std::ptrdiff_t>(rank));
  }
  for (int i = 0; i <= 2; ++i) decomposed = decomposed && (!e.has_output(i) || e.output(i).type == e.type(0));
  if (!decomposed) e.node().fail(ErrorKind::Unsupported, "this form is evaluated once it is decomposed");
  compute(e);
}

}  // namespace

void lower_norm_rows(KernelQuery& l, std::string_view row, bool fast) {
  const Node& node = l.node();
  const View x = l.in(0), y = l.out(0);
  const int axis = first_axis(node, static_cast<int>(x.extents.size()));
  Dim rows = 1, n = 1;
  for (std::size_t k = 0; k < x.extents.size(); ++k) (static_cast<int>(k) < axis ? rows : n) *= x.extents[k];
  const double epsilon = static_cast<double>(node.number("epsilon", 1e-5f));
  NamedArgs params{{"rows", dim_arg(rows)}, {"n", dim_arg(n)}};
  if (fast) {
    params.emplace_back("x_row", dim_arg(n));
    params.emplace_back("y_row", dim_arg(n));
  }
  params.emplace_back("epsilon", NumberArg{epsilon, fast ? ElementType::F32 : ElementType::F64});
  if (l.has(1)) params.emplace_back("scale", l.in(1).pointer);
  if (l.has(2)) params.emplace_back("bias", l.in(2).pointer);
  const int deviation = is_centred(node) ? 2 : 1;
  if (l.has_output(1) && deviation == 2) params.emplace_back("mean", l.out(1).pointer);
  if (l.has_output(deviation)) params.emplace_back("inverse_deviation", l.out(deviation).pointer);
  StepBuilder step = l.call(row);
  if (!fast) step.template_arg(y.element);
  step.pointer(x).pointer(y).params(std::move(params)).emit();
}

namespace {

void lower_layer_norm(KernelQuery& l) {
  const bool fast = l.optimise() && l.output_type(0).element == ElementType::F32, centred = is_centred(l.node());
  if (fast) lower_norm_rows(l, centred ? "layer_norm" : "rms_norm", true);
  else lower_norm_rows(l, centred ? "scalar_layer_norm" : "scalar_rms_norm", false);
}

Operator norm_operator(std::string_view name) {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 3,
          .max_outputs = 3,
          .infer = infer_layer_norm,
          .decompose = decompose_layer_norm,
          .evaluate = evaluate_layer_norm,
          .lower = lower_layer_norm};
}

}  // namespace

std::span<const Operator> table_layer_norms() {
  static const Operator rows[] = {norm_operator("LayerNormalization"), norm_operator("RMSNormalization"),
                                  norm_operator("SimplifiedLayerNormalization")};
  return rows;
}

}  // namespace onnxc
