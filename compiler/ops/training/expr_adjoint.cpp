#include "compiler/ops/training/expr_adjoint.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// Walks the terms backwards. `d` starts as the expression itself, so that values of terms can be used.
struct Walk {
  Expr d;
  std::vector<int> adjoints;  ///< by term of the expression; -1: none so far

  int constant(ElementType type, double v) { return d.constant(type, v); }
  int f(Fn fn, int a, int b = -1, int e = -1) { return d.apply(fn, a, b, e); }
  ElementType type(int term) const { return d.terms[static_cast<std::size_t>(term)].type; }
  void add(int term, int value) {
    if (term < 0 || !is_float(type(term))) return;
    int& sum = adjoints[static_cast<std::size_t>(term)];
    sum = sum < 0 ? value : f(Fn::Add, sum, value);
  }

  void visit(int y) {
    const Expr::Term t = d.terms[static_cast<std::size_t>(y)];
    const int g = adjoints[static_cast<std::size_t>(y)], a = t.args[0], b = t.args[1];
    const ElementType kind = t.type;
    const auto one = [&] { return constant(kind, 1); };
    const auto square = [&](int v) { return f(Fn::Mul, v, v); };
    const auto scaled = [&](int by) { add(a, f(Fn::Mul, g, by)); };
    const auto divided = [&](int by) { add(a, f(Fn::Div, g, by)); };
    const auto where = [&](int condition, int term, bool otherwise = false) {
      const int zero = constant(kind, 0);
      add(term, otherwise ? f(Fn::Where, condition, zero, g) : f(Fn::Where, condition, g, zero));
    };
    switch (t.fn) {
      case Fn::Neg: return add(a, f(Fn::Neg, g));
      case Fn::Abs: return scaled(f(Fn::Sign, a));
      case Fn::Sqrt: return divided(f(Fn::Mul, constant(kind, 2), y));
      case Fn::Exp: return scaled(y);
      case Fn::Log: return divided(a);
      case Fn::Sin: return scaled(f(Fn::Cos, a));
      case Fn::Cos: return scaled(f(Fn::Neg, f(Fn::Sin, a)));
      case Fn::Tan: return scaled(f(Fn::Add, one(), square(y)));
      case Fn::Asin: return divided(f(Fn::Sqrt, f(Fn::Sub, one(), square(a))));
      case Fn::Acos: return divided(f(Fn::Neg, f(Fn::Sqrt, f(Fn::Sub, one(), square(a)))));
      case Fn::Atan: return divided(f(Fn::Add, one(), square(a)));
      case Fn::Sinh: return scaled(f(Fn::Cosh, a));
      case Fn::Cosh: return scaled(f(Fn::Sinh, a));
      case Fn::Tanh: return scaled(f(Fn::Sub, one(), square(y)));
      case Fn::Asinh: return divided(f(Fn::Sqrt, f(Fn::Add, square(a), one())));
      case Fn::Acosh: return divided(f(Fn::Sqrt, f(Fn::Sub, square(a), one())));
      case Fn::Atanh: return divided(f(Fn::Sub, one(), square(a)));
      case Fn::Erf: return scaled(f(Fn::Mul, constant(kind, 2 / std::sqrt(std::numbers::pi)), f(Fn::Exp, f(Fn::Neg, square(a)))));
      case Fn::Sigmoid: return scaled(f(Fn::Mul, y, f(Fn::Sub, one(), y)));
      case Fn::Softplus: return scaled(f(Fn::Sigmoid, a));
      case Fn::Reciprocal: return scaled(f(Fn::Neg, square(y)));
      case Fn::Relu: return where(f(Fn::Greater, a, constant(kind, 0)), a);
      case Fn::Add: add(a, g); return add(b, g);
      case Fn::Sub: add(a, g); return add(b, f(Fn::Neg, g));
      case Fn::Mul: add(a, f(Fn::Mul, g, b)); return add(b, f(Fn::Mul, g, a));
      case Fn::Div: add(a, f(Fn::Div, g, b)); return add(b, f(Fn::Neg, f(Fn::Div, f(Fn::Mul, g, y), b)));
      case Fn::Pow: {
        const int power = type(b) == kind ? b : d.cast(kind, b);
        add(a, f(Fn::Mul, g, f(Fn::Mul, power, f(Fn::Pow, a, f(Fn::Sub, power, one())))));
        if (type(b) == kind) add(b, f(Fn::Mul, g, f(Fn::Mul, y, f(Fn::Log, a))));
        return;
      }
      case Fn::Min: where(f(Fn::LessOrEqual, a, b), a); return where(f(Fn::LessOrEqual, a, b), b, true);
      case Fn::Max: where(f(Fn::GreaterOrEqual, a, b), a); return where(f(Fn::GreaterOrEqual, a, b), b, true);
      case Fn::Where: where(a, b); return where(a, t.args[2], true);
      case Fn::Cast:
        if (is_float(type(a))) add(a, d.cast(type(a), g));
        return;
      case Fn::Sign:
      case Fn::Ceil:
      case Fn::Floor:
      case Fn::Round: return;
      default: throw Error(ErrorCode::NoGradient, fmt::format("function {} has no derivative rule", info(t.fn).name));
    }
  }
};

}  // namespace

Expr adjoint(const Expr& e, int number, int g) {
  Walk w{e, std::vector<int>(e.terms.size(), -1)};
  w.adjoints.back() = w.d.input(g, e.type());
  for (std::size_t t = e.terms.size(); t-- > 0;) {
    if (w.adjoints[t] >= 0 && e.terms[t].kind == Expr::Kind::Apply) w.visit(static_cast<int>(t));
  }
  for (std::size_t t = 0; t < e.terms.size(); ++t) {
    if (e.terms[t].kind != Expr::Kind::Input || e.terms[t].args[0] != number || w.adjoints[t] < 0) continue;
    w.d.finish(w.adjoints[t]);
    return std::move(w.d);
  }
  return {};
}

}  // namespace onnxc
