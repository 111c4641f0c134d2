// Activations: each is a small expression, so that it fuses with whatever feeds it. Formulas as in the ONNX specification.
#include <cmath>
#include <numbers>

#include "compiler/ops/elementwise/elementwise.h"

namespace onnxc {
namespace {

/// Writes an expression of x0 in a few lines.
struct Formula {
  Expr e;
  ElementType type;
  int x;
  Formula(const Graph& graph, const Node& node) : type(element_of(graph, node, 0)), x(e.input(0, type)) {}
  int c(double value) { return e.constant(type, value); }
  int operator()(Fn fn, int a, int b = -1, int d = -1) { return e.apply(fn, a, b, d); }
  int positive() { return e.apply(Fn::Greater, x, c(0)); }
  Expr done(int root) {
    e.finish(root);
    return std::move(e);
  }
};

double number(const Node& node, const char* attribute, double otherwise) {
  return static_cast<double>(node.number(attribute, static_cast<float>(otherwise)));
}

Expr leaky_relu(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  return f.done(f(Fn::Where, f(Fn::Less, f.x, f.c(0)), f(Fn::Mul, f.x, f.c(number(node, "alpha", 0.01))), f.x));
}
Expr elu(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const int negative = f(Fn::Mul, f.c(number(node, "alpha", 1.0)), f(Fn::Sub, f(Fn::Exp, f.x), f.c(1)));
  return f.done(f(Fn::Where, f(Fn::Less, f.x, f.c(0)), negative, f.x));
}
Expr selu(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const int gamma = f.c(number(node, "gamma", 1.05070102214813232421875)), alpha = f.c(number(node, "alpha", 1.67326319217681884765625));
  const int negative = f(Fn::Sub, f(Fn::Mul, alpha, f(Fn::Exp, f.x)), alpha);
  return f.done(f(Fn::Mul, gamma, f(Fn::Where, f.positive(), f.x, negative)));
}
Expr celu(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const int alpha = f.c(number(node, "alpha", 1.0));
  const int negative = f(Fn::Mul, alpha, f(Fn::Sub, f(Fn::Exp, f(Fn::Div, f.x, alpha)), f.c(1)));
  return f.done(f(Fn::Add, f(Fn::Max, f.x, f.c(0)), f(Fn::Min, f.c(0), negative)));
}
Expr hard_sigmoid(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const int line = f(Fn::Add, f(Fn::Mul, f.c(number(node, "alpha", 0.2)), f.x), f.c(number(node, "beta", 0.5)));
  return f.done(f(Fn::Max, f.c(0), f(Fn::Min, f.c(1), line)));
}
Expr hard_swish(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const int line = f(Fn::Add, f(Fn::Mul, f.x, f.c(1.0 / 6)), f.c(0.5));
  return f.done(f(Fn::Mul, f.x, f(Fn::Max, f.c(0), f(Fn::Min, f.c(1), line))));
}
Expr mish(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  return f.done(f(Fn::Mul, f.x, f(Fn::Tanh, f(Fn::Softplus, f.x))));
}
Expr softsign(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  return f.done(f(Fn::Div, f.x, f(Fn::Add, f.c(1), f(Fn::Abs, f.x))));
}
Expr thresholded_relu(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  return f.done(f(Fn::Where, f(Fn::Greater, f.x, f.c(number(node, "alpha", 1.0))), f.x, f.c(0)));
}
Expr swish(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const double alpha = number(node, "alpha", 1.0);
  return f.done(f(Fn::Mul, f.x, f(Fn::Sigmoid, alpha == 1.0 ? f.x : f(Fn::Mul, f.c(alpha), f.x))));
}
/// Integers are computed in f64 and truncated.
Expr shrink(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const ElementType result = f.type;
  if (!is_float(result)) f.x = f.e.cast(f.type = ElementType::F64, f.x);
  const double lambd = number(node, "lambd", 0.5);
  const int bias = f.c(number(node, "bias", 0.0));
  const int inner = f(Fn::Where, f(Fn::Greater, f.x, f.c(lambd)), f(Fn::Sub, f.x, bias), f.c(0));
  const int y = f(Fn::Where, f(Fn::Less, f.x, f.c(-lambd)), f(Fn::Add, f.x, bias), inner);
  return f.done(f.type == result ? y : f.e.cast(result, y));
}
Expr gelu(const Graph& graph, const Node& node) {
  Formula f(graph, node);
  const std::string approximate = node.string("approximate", "none");
  if (approximate == "tanh") {
    const int cube = f(Fn::Mul, f.x, f(Fn::Mul, f.x, f.x));
    const int twice = f(Fn::Mul, f.c(2 * std::sqrt(2 / std::numbers::pi)), f(Fn::Add, f.x, f(Fn::Mul, f.c(0.044715), cube)));
    return f.done(f(Fn::Mul, f.x, f(Fn::Sigmoid, twice)));  // (1 + tanh(u)) / 2 is sigmoid(2u), which does not cancel where x is negative
  }
  if (approximate != "none") node.fail(ErrorKind::Invalid, "approximate is '" + approximate + "'; none or tanh are allowed");
  const int inner = f(Fn::Erf, f(Fn::Mul, f.x, f.c(std::numbers::sqrt2 / 2)));
  return f.done(f(Fn::Mul, f(Fn::Mul, f.c(0.5), f.x), f(Fn::Add, f.c(1), inner)));
}

}  // namespace

std::span<const Operator> table_activations() {
  const auto row = [](std::string_view name, Expr (*express)(const Graph&, const Node&), std::string_view domain = "") {
    return Operator{.name = name, .domain = domain, .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .express = express};
  };
  static const Operator rows[] = {
      row("LeakyRelu", leaky_relu),
      row("Elu", elu),
      row("Selu", selu),
      row("Celu", celu),
      row("HardSigmoid", hard_sigmoid),
      row("HardSwish", hard_swish),
      row("Mish", mish),
      row("Softsign", softsign),
      row("ThresholdedRelu", thresholded_relu),
      row("Swish", swish),
      row("Shrink", shrink),
      row("Gelu", gelu),
      row("Gelu", gelu, "com.microsoft"),
  };
  return rows;
}

}  // namespace onnxc
