#include "compiler/select/islands/attention_exprs.h"

#include "compiler/select/islands/terms.h"

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
  const Terms t(e);
  const int root = t.root();
  if (!t.applies(root, Fn::Where) || !t.applies(t.arg(root, 0), Fn::IsNan)) return false;
  return t.input(t.arg(t.arg(root, 0), 0)) && t.number(t.arg(root, 1)) == 0.0 && t.input(t.arg(root, 2));
}

std::optional<int> clearing_condition(const Expr& e, int x) {
  const Terms t(e);
  const int root = t.root();
  if (!t.applies(root, Fn::Where) || t.number(t.arg(root, 1)) != 0.0 || t.input(t.arg(root, 2)) != x) return std::nullopt;
  const auto condition = t.input(t.arg(root, 0));
  return t[t.arg(root, 0)].type == ElementType::Bool && condition != x ? condition : std::nullopt;
}

}  // namespace onnxc
