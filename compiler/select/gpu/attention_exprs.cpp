#include "compiler/select/gpu/attention_exprs.h"

namespace onnxc {

bool leads_infinities_on(const Expr& e) {
  std::vector<bool> has_x;
  for (const Expr::Term& t : e.terms) {
    const auto of_x = [&](int i) { return t.args[i] >= 0 && has_x[static_cast<std::size_t>(t.args[i])]; };
    if (t.kind != Expr::Kind::Apply) {
      has_x.push_back(t.kind == Expr::Kind::Input && t.args[0] == 0);
      continue;
    }
    const bool any = of_x(0) || of_x(1) || of_x(2);
    has_x.push_back(any);
    if (!any) continue;
    if (t.type != ElementType::F32) return false;
    switch (t.fn) {
      case Fn::Neg:
      case Fn::Add:
      case Fn::Sub:
      case Fn::Mul:
      case Fn::Tanh: break;
      case Fn::Div:
        if (of_x(1)) return false;
        break;
      case Fn::Where:
        if (of_x(0)) return false;
        break;
      default: return false;
    }
  }
  return has_x.back();
}

bool replaces_nan(const Expr& e) {
  const auto term = [&](int i) -> const Expr::Term& { return e.terms[static_cast<std::size_t>(i)]; };
  const auto is_x = [&](int i) { return i >= 0 && term(i).kind == Expr::Kind::Input; };
  const Expr::Term& root = e.terms.back();
  return root.kind == Expr::Kind::Apply && root.fn == Fn::Where && term(root.args[0]).kind == Expr::Kind::Apply &&
         term(root.args[0]).fn == Fn::IsNan && is_x(term(root.args[0]).args[0]) && term(root.args[1]).kind == Expr::Kind::Constant &&
         from_bits(term(root.args[1]).type, term(root.args[1]).bits) == 0.0 && is_x(root.args[2]);
}

std::optional<int> clearing_condition(const Expr& e, int x) {
  const auto term = [&](int i) -> const Expr::Term& { return e.terms[static_cast<std::size_t>(i)]; };
  const Expr::Term& root = e.terms.back();
  if (root.kind != Expr::Kind::Apply || root.fn != Fn::Where) return std::nullopt;
  const Expr::Term &condition = term(root.args[0]), &zero = term(root.args[1]), &otherwise = term(root.args[2]);
  if (condition.kind != Expr::Kind::Input || condition.type != ElementType::Bool || condition.args[0] == x) return std::nullopt;
  if (zero.kind != Expr::Kind::Constant || from_bits(zero.type, zero.bits) != 0.0) return std::nullopt;
  if (otherwise.kind != Expr::Kind::Input || otherwise.args[0] != x) return std::nullopt;
  return condition.args[0];
}

}  // namespace onnxc
