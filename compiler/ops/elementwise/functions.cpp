// Operators that are one function of an element: Abs, Add, Equal, ... The rows are the definition.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/elementwise/elementwise.h"

namespace onnxc {

ValueId add_trailing_axes(GraphBuilder& builder, ValueId value, int64_t count) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(builder.rank(value) + i);
  return builder.op("Unsqueeze", {value, builder.integers(axes)});
}

void resolve_old_broadcast(GraphBuilder& builder, Node& node) {
  if (node.version >= 7 || node.inputs.size() != 2) return;
  const int64_t broadcast = node.integer("broadcast", 0);
  const bool has_axis = node.has("axis");
  int64_t axis = node.integer("axis", 0);
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  node.attributes.erase("consumed_inputs");
  const Type a = builder.type(node.inputs[0]), b = builder.type(node.inputs[1]);
  if (broadcast == 0 || !has_axis || !a.ranked || !b.ranked) return;
  if (axis < 0) axis += a.rank();
  const int64_t trailing = a.rank() - axis - b.rank();
  if (trailing < 0) node.fail(ErrorKind::Invalid, fmt::format("axis {} does not fit shapes {} and {}", axis, a.text(), b.text()));
  if (trailing > 0) node.inputs[1] = add_trailing_axes(builder, node.inputs[1], trailing);
}

Expr simple_expression(const Graph& graph, const Node& node, Fn fn) {
  Expr e;
  int args[3] = {-1, -1, -1};
  for (int i = 0; i < info(fn).arity; ++i) args[i] = e.input(i, element_of(graph, node, i));
  if (info(fn).result != FnResult::First && info(fn).result != FnResult::Second) {
    for (int i = 1; i < info(fn).arity; ++i) {
      const ElementType first = element_of(graph, node, 0), other = element_of(graph, node, i);
      if (first != other)
        node.fail(ErrorKind::Invalid, fmt::format("inputs 0 and {} have different element types, {} and {}", i, name(first), name(other)));
    }
  }
  const ElementType type = element_of(graph, node, 0);
  // The only one of these for which ONNX allows integers: computed in f64 and truncated.
  if (fn == Fn::Erf && !is_float(type)) {
    e.finish(e.cast(type, e.apply(fn, e.cast(ElementType::F64, args[0]))));
  } else {
    e.finish(e.apply(fn, args[0], args[1], args[2]));
  }
  return e;
}

namespace {

struct Row {
  std::string_view op;
  Fn fn;
};
constexpr Row kUnary[] = {
    {"Abs", Fn::Abs},
    {"Acos", Fn::Acos},
    {"Acosh", Fn::Acosh},
    {"Asin", Fn::Asin},
    {"Asinh", Fn::Asinh},
    {"Atan", Fn::Atan},
    {"Atanh", Fn::Atanh},
    {"BitwiseNot", Fn::BitNot},
    {"Ceil", Fn::Ceil},
    {"Cos", Fn::Cos},
    {"Cosh", Fn::Cosh},
    {"Erf", Fn::Erf},
    {"Exp", Fn::Exp},
    {"Floor", Fn::Floor},
    {"IsNaN", Fn::IsNan},
    {"Log", Fn::Log},
    {"Neg", Fn::Neg},
    {"Not", Fn::LogicalNot},
    {"Reciprocal", Fn::Reciprocal},
    {"Relu", Fn::Relu},
    {"Round", Fn::Round},
    {"Sigmoid", Fn::Sigmoid},
    {"Sign", Fn::Sign},
    {"Sin", Fn::Sin},
    {"Sinh", Fn::Sinh},
    {"Softplus", Fn::Softplus},
    {"Sqrt", Fn::Sqrt},
    {"Tan", Fn::Tan},
    {"Tanh", Fn::Tanh},
};
constexpr Row kBinary[] = {
    {"Add", Fn::Add},
    {"And", Fn::LogicalAnd},
    {"BitwiseAnd", Fn::BitAnd},
    {"BitwiseOr", Fn::BitOr},
    {"BitwiseXor", Fn::BitXor},
    {"Div", Fn::Div},
    {"Equal", Fn::Equal},
    {"Greater", Fn::Greater},
    {"GreaterOrEqual", Fn::GreaterOrEqual},
    {"Less", Fn::Less},
    {"LessOrEqual", Fn::LessOrEqual},
    {"Mul", Fn::Mul},
    {"Or", Fn::LogicalOr},
    {"Pow", Fn::Pow},
    {"Sub", Fn::Sub},
    {"Xor", Fn::LogicalXor},
};

Expr express_row(const Graph& graph, const Node& node) {
  for (const Row& row : kUnary) {
    if (row.op == node.op) return simple_expression(graph, node, row.fn);
  }
  for (const Row& row : kBinary) {
    if (row.op == node.op) return simple_expression(graph, node, row.fn);
  }
  node.fail(ErrorKind::Internal, "no row");
}

}  // namespace

std::span<const Operator> table_functions() {
  static const auto table = [] {
    std::vector<Operator> rows;
    for (const Row& r : kUnary) rows.push_back({.name = r.op, .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .express = express_row});
    for (const Row& r : kBinary)
      rows.push_back(
          {.name = r.op, .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .resolve = resolve_old_broadcast, .express = express_row});
    return rows;
  }();
  return table;
}

}  // namespace onnxc
