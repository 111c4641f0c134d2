// Operators over any number of inputs, and binary ones with a choice: Sum, Mean, Max, Min, Mod, BitShift, PRelu, IsInf.
#include "compiler/ops/elementwise/elementwise.h"

namespace onnxc {
namespace {

Expr fold_inputs(const Graph& graph, const Node& node, Fn fn) {
  Expr e;
  int value = e.input(0, element_of(graph, node, 0));
  for (int i = 1; i < node.own_inputs(); ++i) value = e.apply(fn, value, e.input(i, element_of(graph, node, i)));
  e.finish(value);
  return e;
}

Expr express_sum(const Graph& graph, const Node& node) { return fold_inputs(graph, node, Fn::Add); }
Expr express_max(const Graph& graph, const Node& node) { return fold_inputs(graph, node, Fn::Max); }
Expr express_min(const Graph& graph, const Node& node) { return fold_inputs(graph, node, Fn::Min); }

Expr express_mean(const Graph& graph, const Node& node) {
  Expr e = fold_inputs(graph, node, Fn::Add);
  const int sum = static_cast<int>(e.terms.size()) - 1;
  e.finish(e.apply(Fn::Div, sum, e.constant(e.type(), static_cast<double>(node.own_inputs()))));
  return e;
}

Expr express_mod(const Graph& graph, const Node& node) {
  const bool fmod = node.integer("fmod", 0) != 0;
  return simple_expression(graph, node, fmod ? Fn::Fmod : Fn::Mod);
}

Expr express_bit_shift(const Graph& graph, const Node& node) {
  const std::string direction = node.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    node.fail(ErrorKind::Invalid, "direction is '" + direction + "'; LEFT or RIGHT are allowed");
  return simple_expression(graph, node, direction == "LEFT" ? Fn::ShiftLeft : Fn::ShiftRight);
}

Expr express_prelu(const Graph& graph, const Node& node) {
  Expr e;
  const ElementType type = element_of(graph, node, 0);
  const int x = e.input(0, type), slope = e.input(1, element_of(graph, node, 1));
  e.finish(e.apply(Fn::Where, e.apply(Fn::Less, x, e.constant(type, 0.0)), e.apply(Fn::Mul, x, slope), x));
  return e;
}

/// Before opset 7 (and in exports of that time) a 1-D slope is a value for each channel.
void resolve_prelu(GraphBuilder& builder, Node& node) {
  if (node.version >= 7) return;
  const int rank = builder.rank(node.inputs[0]);
  if (builder.rank(node.inputs[1]) == 1 && rank > 2) node.inputs[1] = add_trailing_axes(builder, node.inputs[1], rank - 2);
}

Expr express_is_inf(const Graph& graph, const Node& node) {
  const bool negative = node.integer("detect_negative", 1) != 0, positive = node.integer("detect_positive", 1) != 0;
  Expr e;
  const int x = e.input(0, element_of(graph, node, 0));
  if (negative && positive) e.finish(e.apply(Fn::IsInf, x));
  else if (negative) e.finish(e.apply(Fn::IsNegInf, x));
  else if (positive) e.finish(e.apply(Fn::IsPosInf, x));
  else e.finish(e.apply(Fn::LogicalAnd, e.apply(Fn::IsInf, x), e.constant(ElementType::Bool, 0.0)));
  return e;
}

}  // namespace

std::span<const Operator> table_variadic() {
  static const Operator rows[] = {
      {.name = "Sum", .min_inputs = 1, .max_outputs = 1, .resolve = resolve_old_broadcast, .express = express_sum},
      {.name = "Max", .min_inputs = 1, .max_outputs = 1, .express = express_max},
      {.name = "Min", .min_inputs = 1, .max_outputs = 1, .express = express_min},
      {.name = "Mean", .min_inputs = 1, .max_outputs = 1, .express = express_mean},
      {.name = "Mod", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .express = express_mod},
      {.name = "BitShift", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .express = express_bit_shift},
      {.name = "PRelu", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .resolve = resolve_prelu, .express = express_prelu},
      {.name = "IsInf", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .express = express_is_inf},
  };
  return rows;
}

}  // namespace onnxc
