#include "compiler/lowering/find_gates.h"

#include <numbers>
#include <vector>

namespace onnxc {
namespace {

/// The index of the term u if `term` is u * -ln 2, else -1.
int exponent_of(const Expr& expr, int term) {
  const Expr::Term& t = expr.terms[static_cast<std::size_t>(term)];
  if (t.kind != Expr::Kind::Apply || t.fn != Fn::Mul || t.type != ElementType::F32) return -1;
  for (int k = 0; k < 2; ++k) {
    const Expr::Term& factor = expr.terms[static_cast<std::size_t>(t.args[k])];
    if (factor.kind == Expr::Kind::Constant && factor.bits == to_bits(ElementType::F32, -std::numbers::ln2)) return t.args[1 - k];
  }
  return -1;
}

std::vector<int> use_counts(const Expr& expr) {
  std::vector<int> uses(expr.terms.size());
  for (const Expr::Term& t : expr.terms) {
    for (int k = 0; t.kind == Expr::Kind::Apply && k < info(t.fn).arity; ++k) ++uses[static_cast<std::size_t>(t.args[k])];
  }
  return uses;
}

/// The index of u if `term` is 1 + erf(u) in f32, and nothing else reads erf(u); else -1.
int error_function_of(const Expr& expr, const Expr::Term& t, const std::vector<int>& uses) {
  if (t.kind != Expr::Kind::Apply || t.fn != Fn::Add || t.type != ElementType::F32) return -1;
  for (int k = 0; k < 2; ++k) {
    const auto erf = static_cast<std::size_t>(t.args[k]), other = static_cast<std::size_t>(t.args[1 - k]);
    const Expr::Term &inner = expr.terms[erf], &one = expr.terms[other];
    if (inner.kind == Expr::Kind::Apply && inner.fn == Fn::Erf && uses[erf] == 1 && one.kind == Expr::Kind::Constant &&
        one.bits == to_bits(ElementType::F32, 1))
      return inner.args[0];
  }
  return -1;
}

void find_gates(Expr& expr) {
  const std::vector<int> uses = use_counts(expr);
  for (Expr::Term& t : expr.terms) {
    if (const int u = error_function_of(expr, t, uses); u >= 0) {
      t.fn = Fn::ErfPlusOne;
      t.args[0] = u;
      t.args[1] = -1;
      continue;
    }
    int factor = -1;
    for (int k = 0; k < 2; ++k) {
      if (has_sigmoid_factor(expr, t, k) && uses[static_cast<std::size_t>(t.args[k])] == 1) factor = k;
    }
    if (factor < 0) continue;
    const int x = t.args[1 - factor], y = expr.terms[static_cast<std::size_t>(t.args[factor])].args[0], u = exponent_of(expr, y);
    t.fn = u >= 0 ? Fn::GateExp2 : Fn::Gate;
    t.args[0] = x;
    t.args[1] = y;
    t.args[2] = u;
  }
  expr.finish(static_cast<int>(expr.terms.size()) - 1);
}

}  // namespace

void find_gates(Program& program) {
  for (Expr& expr : program.exprs) find_gates(expr);
}

}  // namespace onnxc
