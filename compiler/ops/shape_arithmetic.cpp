#include "compiler/ops/shape_arithmetic.h"

#include "compiler/ops/run_time_axes.h"

#include <algorithm>

namespace onnxc {
namespace {

std::optional<Dim> apply(Fn fn, Dim a, Dim b, Dim c) {
  const bool constants = a.is_constant() && b.is_constant();
  switch (fn) {
    case Fn::Add: return a + b;
    case Fn::Sub: return a - b;
    case Fn::Mul: return a * b;
    case Fn::Div:
      if (b == Dim(0)) return std::nullopt;
      if (constants) return b.value() == -1 ? Dim(0) - a : Dim(a.value() / b.value());
      // Extents divided by 0 give 0.
      if (a.min_value() >= 0 && b.min_value() >= 0) return floor_div(a, b);
      // Rounds toward zero: negative numbers are rounded up.
      if (b.is_constant() && b.value() > 0) return floor_div(a + indicator_negative(a) * (b - 1), b);
      return std::nullopt;
    case Fn::Mod:
      if (b.min_value() > 0) return mod(a, b);
      return std::nullopt;
    case Fn::Min: return min(a, b);
    case Fn::Max: return max(a, b);
    case Fn::Neg: return Dim(0) - a;
    case Fn::Abs:
    case Fn::Relu: return a.min_value() >= 0 ? a : fn == Fn::Relu ? max(a, 0) : max(a, Dim(0) - a);
    case Fn::Cast:
    case Fn::Floor:
    case Fn::Ceil:
    case Fn::Round: return a;
    case Fn::Equal:
      if (a == b) return Dim(1);
      if (never_equal(a, b)) return Dim(0);
      return std::nullopt;
    case Fn::Less:
      if (always_at_least(b, a + 1)) return Dim(1);
      if (always_at_least(a, b)) return Dim(0);
      return std::nullopt;
    case Fn::Greater: return apply(Fn::Less, b, a, c);
    case Fn::GreaterOrEqual:
      if (auto less = apply(Fn::Less, a, b, c)) return Dim(1) - *less;
      return std::nullopt;
    case Fn::LessOrEqual:
      if (auto less = apply(Fn::Less, b, a, c)) return Dim(1) - *less;
      return std::nullopt;
    case Fn::LogicalNot: return Dim(1) - a;
    case Fn::LogicalAnd: return a * b;
    case Fn::LogicalOr: return max(a, b);
    case Fn::Where:
      if (a.is_constant()) return a.value() != 0 ? b : c;
      if (b == c) return b;
      return std::nullopt;
    default: return std::nullopt;
  }
}

/// True if `type` holds the values exactly as integers, so that Dims can represent them.
bool integral(ElementType type) { return type == ElementType::I64 || type == ElementType::I32 || type == ElementType::Bool; }

void infer_elements(Inference& n, const Expr& expr, const Extents& extents) {
  if (!is_static(extents)) return;
  const int64_t count = element_count(extents).value();
  if (count > kMostShapeElements || extents.size() > 1) return;
  for (const auto& t : expr.terms) {
    if (!integral(t.type)) return;
    if (t.kind == Expr::Kind::Apply && is_cast(t.fn) && t.type != ElementType::I64) {
      // A cast to fewer bits is exact only if the value fits; shapes in i32 do.
      if (t.type == ElementType::Bool) return;
    }
  }
  std::vector<DimList> inputs;
  for (int i = 0; i < n.node().own_inputs(); ++i) {
    if (!n.has(i)) {
      inputs.emplace_back();
      continue;
    }
    std::optional<DimList> list = n.elements(i);
    if (!list && n.value(i).constant && n.element(i) == ElementType::Bool) {
      list.emplace();
      for (int64_t v : to_integers(*n.value(i).constant)) list->push_back(v);
    }
    if (!list || list->empty()) return;
    inputs.push_back(std::move(*list));
  }
  DimList elements;
  for (int64_t e = 0; e < count; ++e) {
    DimList values;
    for (const auto& t : expr.terms) {
      if (t.kind == Expr::Kind::Input) {
        const auto& list = inputs[static_cast<std::size_t>(t.args[0])];
        values.push_back(list[list.size() == 1 ? 0 : static_cast<std::size_t>(e)]);
      } else if (t.kind == Expr::Kind::Constant) {
        const int bits = info(t.type).bits;
        uint64_t v = t.bits;
        if (is_signed(t.type) && bits < 64 && (v >> (bits - 1)) != 0) v |= ~uint64_t{0} << bits;
        values.push_back(static_cast<int64_t>(v));
      } else {
        const auto arg = [&](int i) { return t.args[i] < 0 ? Dim(0) : values[static_cast<std::size_t>(t.args[i])]; };
        const auto value = apply(t.fn, arg(0), arg(1), arg(2));
        if (!value) return;
        values.push_back(*value);
      }
    }
    elements.push_back(values.back());
  }
  n.output_elements(0, std::move(elements));
}

}  // namespace

void infer_expression_elements(Inference& n, const Expr& expr, const Extents& extents) {
  try {
    infer_elements(n, expr, extents);
  } catch (const SizeOverflow&) {  // integers that are no extents: they wrap around, and Dims do not
  }
}

}  // namespace onnxc
