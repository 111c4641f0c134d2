#include "compiler/lowering/vector_operations.h"

#include <algorithm>

#include "compiler/lowering/find_quantize.h"

namespace onnxc {
namespace {

/// Sapphire Rapids with vectors of 512 bits, 2026-11: kernel_bench --benchmark_filter='^map/', of 4,000 elements, less those that are counted beside.
/// Functions that it does not measure are taken to be as slow as their polynomials are long.
struct Costs {
  int64_t divider = 0, others = 0;
};

bool is_narrow(ElementType type) { return is_integer(type) && held_bits(type) < 32; }

Costs costs_of(const Expr& expr, const Expr::Term& term) {
  const auto divides = [&] { return expr.terms[static_cast<std::size_t>(term.args[1])].bits != to_bits(ElementType::F32, 1); };
  switch (term.fn) {
    case Fn::Quantize: return {0, (divides() ? 7 : 3) + (is_signed(term.type) ? 2 : 0)};
    case Fn::ByteSteps: return {0, divides() ? 7 : 4};
    case Fn::Div:
    case Fn::Reciprocal: return {20, 0};
    case Fn::Sqrt: return {24, 0};
    case Fn::Exp:
    case Fn::Sigmoid:
    case Fn::Gate:
    case Fn::GateExp2: return {0, 21};
    case Fn::Tanh: return {0, 25};
    case Fn::Log: return {0, 39};
    case Fn::Erf: return {0, 51};
    case Fn::ErfPlusOne: return {0, 30};
    case Fn::Softplus:
    case Fn::Sin:
    case Fn::Cos:
    case Fn::Tan:
    case Fn::Asin:
    case Fn::Acos:
    case Fn::Atan:
    case Fn::Sinh:
    case Fn::Cosh:
    case Fn::Asinh:
    case Fn::Acosh:
    case Fn::Atanh: return {0, 60};
    case Fn::Mod:
    case Fn::Fmod: return {20, 40};
    case Fn::Pow: return {0, 80};
    case Fn::Round:
    case Fn::Floor:
    case Fn::Ceil: return {0, 2};
    default: break;
  }
  if (!is_cast(term.fn)) return {0, 1};
  const bool to_integer = is_integer(term.type), from_float = is_float(expr.terms[static_cast<std::size_t>(term.args[0])].type);
  return {0, to_integer && from_float ? 4 : 1};
}

}  // namespace

int64_t vector_operations(const Expr& as_given) {
  const Expr expr = with_quantize(as_given);
  Costs sum;
  for (const Expr::Term& term : expr.terms) {
    if (term.kind == Expr::Kind::Input && is_narrow(term.type)) ++sum.others;
    if (term.kind != Expr::Kind::Apply) continue;
    const Costs costs = costs_of(expr, term);
    sum.divider += costs.divider;
    sum.others += costs.others;
  }
  if (is_narrow(expr.type())) sum.others += 2;
  // Even beside a division some of the others wait for its port.
  constexpr int64_t kBeside = 5;
  return std::max(sum.divider, sum.others) + std::min(sum.divider, sum.others) / kBeside;
}

}  // namespace onnxc
