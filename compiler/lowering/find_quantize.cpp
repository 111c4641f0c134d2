#include "compiler/lowering/find_quantize.h"

#include <optional>

#include "compiler/lowering/exact_division.h"

namespace onnxc {
namespace {

const Expr::Term& term(const Expr& expr, int i) { return expr.terms[static_cast<std::size_t>(i)]; }

bool applies(const Expr& expr, int i, Fn fn) {
  const Expr::Term& t = term(expr, i);
  return t.kind == Expr::Kind::Apply && t.fn == fn && t.type == ElementType::F32;
}

std::optional<double> number(const Expr& expr, int i) {
  const Expr::Term& t = term(expr, i);
  if (t.kind != Expr::Kind::Constant || t.type != ElementType::F32) return std::nullopt;
  return from_bits(t.type, t.bits);
}

bool has_at_most_16_bits(ElementType type) {
  return type == ElementType::U8 || type == ElementType::I8 || type == ElementType::U16 || type == ElementType::I16;
}

/// Whether `value` is a whole number that the type has.
bool is_of(ElementType type, double value) { return from_bits(type, to_bits(type, value)) == value; }

/// The operand of a term that is one of two constants, and the constant.
struct WithConstant {
  int operand;
  int constant;
};
std::optional<WithConstant> with_constant(const Expr& expr, int i) {
  const Expr::Term& t = term(expr, i);
  for (int k = 0; k < 2; ++k) {
    if (number(expr, t.args[k])) return WithConstant{t.args[1 - k], t.args[k]};
  }
  return std::nullopt;
}

/// The terms that `root`, a cast to an integer type, is made of; nothing if it is no such quantisation. A constant of -1 is none.
struct Found {
  int x, scale, zero;
};
std::optional<Found> find(const Expr& expr, const Expr::Term& root) {
  if (root.kind != Expr::Kind::Apply || root.fn != Fn::Cast || !has_at_most_16_bits(root.type)) return std::nullopt;
  Found found{root.args[0], -1, -1};
  if (applies(expr, found.x, Fn::Add)) {
    const auto sum = with_constant(expr, found.x);
    if (!sum || !is_of(root.type, *number(expr, sum->constant))) return std::nullopt;
    found = {sum->operand, -1, sum->constant};
  }
  if (!applies(expr, found.x, Fn::Round)) return std::nullopt;
  found.x = term(expr, found.x).args[0];
  if (!applies(expr, found.x, Fn::Div)) return found;
  const Expr::Term& quotient = term(expr, found.x);
  const auto scale = number(expr, quotient.args[1]);
  if (scale && info(root.type).bits == 8 && divides_exactly(static_cast<float>(*scale)))
    found = {quotient.args[0], quotient.args[1], found.zero};
  return found;
}

/// What a quantisation to unsigned integers with a zero point of 0 may read in the place of x: saturation does what Relu would.
int without_relu(const Expr& expr, const Found& found, ElementType type) {
  const bool positive = found.scale < 0 || *number(expr, found.scale) > 0, from_zero = found.zero < 0 || *number(expr, found.zero) == 0;
  const bool is_unsigned = type == ElementType::U8 || type == ElementType::U16;
  return is_unsigned && positive && from_zero && applies(expr, found.x, Fn::Relu) ? term(expr, found.x).args[0] : found.x;
}

/// The signed byte of which this is the unsigned one 128 greater; -1 if it is something else.
int moved_up(const Expr& expr, const Expr::Term& root) {
  if (root.kind != Expr::Kind::Apply || root.fn != Fn::Cast || root.type != ElementType::U8 || !applies(expr, root.args[0], Fn::Add))
    return -1;
  const auto sum = with_constant(expr, root.args[0]);
  if (!sum || *number(expr, sum->constant) != 128 || !applies(expr, sum->operand, Fn::Cast)) return -1;
  const int byte = term(expr, sum->operand).args[0];
  return term(expr, byte).type == ElementType::I8 ? byte : -1;
}

/// The quantisation to bytes whose zero term `i` takes away from it as a float; null if it does something else.
const Expr::Term* steps_of(const Expr& expr, int i) {
  const Expr::Term& t = term(expr, i);
  if (!applies(expr, i, Fn::Sub) || !number(expr, t.args[1]) || !applies(expr, t.args[0], Fn::Cast)) return nullptr;
  const Expr::Term& q = term(expr, term(expr, t.args[0]).args[0]);
  const bool is_it = q.kind == Expr::Kind::Apply && q.fn == Fn::Quantize && q.type == ElementType::U8 &&
                     number(expr, q.args[2]) == number(expr, t.args[1]);
  return is_it ? &q : nullptr;
}

Expr with_steps(Expr expr) {
  for (int i = 0; i < std::ssize(expr.terms); ++i) {
    if (const Expr::Term* const q = steps_of(expr, i))
      expr.terms[static_cast<std::size_t>(i)] = {Expr::Kind::Apply, ElementType::F32, Fn::ByteSteps, {q->args[0], q->args[1], q->args[2]}};
  }
  expr.finish(static_cast<int>(expr.terms.size()) - 1);
  return expr;
}

}  // namespace

Expr with_quantize(Expr expr, bool small_core) {
  Expr result;
  std::vector<int> moved;
  for (const Expr::Term& t : expr.terms) {
    const auto at = [&](int i) { return i < 0 ? -1 : moved[static_cast<std::size_t>(i)]; };
    auto found = find(expr, t);
    if (found && small_core) found->x = without_relu(expr, *found, t.type);
    Expr::Term next = t;
    if (const int byte = small_core ? moved_up(expr, t) : -1; byte >= 0) {
      const int number = result.cast(ElementType::I32, at(byte));
      next.args[0] = result.apply(Fn::Add, number, result.constant(ElementType::I32, 128));
    } else if (found) {
      const int scale = found->scale < 0 ? result.constant(ElementType::F32, 1) : at(found->scale);
      const int zero = found->zero < 0 ? result.constant(ElementType::F32, 0) : at(found->zero);
      next = {Expr::Kind::Apply, t.type, Fn::Quantize, {at(found->x), scale, zero}};
    } else if (t.kind == Expr::Kind::Apply) {
      for (int& arg : next.args) arg = at(arg);
    }
    moved.push_back(static_cast<int>(result.terms.size()));
    result.terms.push_back(next);
  }
  result.finish(moved.back());
  return with_steps(std::move(result));
}

void find_quantize(Program& program, bool small_core) {
  for (Expr& expr : program.exprs) expr = with_quantize(std::move(expr), small_core);
}

}  // namespace onnxc
