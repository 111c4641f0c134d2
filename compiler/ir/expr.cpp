#include "compiler/ir/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime_stub/onnxc/types.hpp"

namespace onnxc {

const FnInfo& info(Fn fn) {
  static constexpr FnInfo rows[] = {
#define ONNXC_FN(id, name, arity, result) {#name, arity, FnResult::result},
      ONNXC_FUNCTIONS(ONNXC_FN)
#undef ONNXC_FN
  };
  return rows[static_cast<std::size_t>(fn)];
}

int Expr::input(int number, ElementType type) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].kind == Kind::Input && terms[i].args[0] == number) return static_cast<int>(i);
  }
  terms.push_back({Kind::Input, type, {}, {number, -1, -1}, 0});
  return static_cast<int>(terms.size()) - 1;
}

int Expr::constant_bits(ElementType type, uint64_t bits) {
  terms.push_back({Kind::Constant, type, {}, {-1, -1, -1}, bits});
  return static_cast<int>(terms.size()) - 1;
}

int Expr::constant(ElementType type, double value) { return constant_bits(type, to_bits(type, value)); }

int Expr::apply(Fn fn, int a, int b, int c) {
  const int args[3] = {a, b, c};
  ElementType type = ElementType::Undefined;
  switch (info(fn).result) {
    case FnResult::Same:
    case FnResult::First: type = terms[static_cast<std::size_t>(a)].type; break;
    case FnResult::Second: type = terms[static_cast<std::size_t>(b)].type; break;
    case FnResult::Boolean: type = ElementType::Bool; break;
    case FnResult::Explicit: ONNXC_CHECK(false, "a cast names its type"); break;
  }
  Term term{Kind::Apply, type, fn, {args[0], args[1], args[2]}, 0};
  // An equal term, if there is one, comes after its operands.
  for (auto i = static_cast<std::size_t>(std::max({a, b, c})) + 1; i < terms.size(); ++i) {
    if (terms[i] == term) return static_cast<int>(i);
  }
  terms.push_back(term);
  return static_cast<int>(terms.size()) - 1;
}

int Expr::cast(ElementType to, int a, Fn fn) {
  if (terms[static_cast<std::size_t>(a)].type == to) return a;
  terms.push_back({Kind::Apply, to, fn, {a, -1, -1}, 0});
  return static_cast<int>(terms.size()) - 1;
}

int Expr::input_count() const {
  int n = 0;
  for (const Term& t : terms) {
    if (t.kind == Kind::Input) n = std::max(n, t.args[0] + 1);
  }
  return n;
}

void Expr::finish(int root) {
  std::vector<char> used(terms.size(), 0);
  used[static_cast<std::size_t>(root)] = 1;
  for (std::size_t i = terms.size(); i-- > 0;) {
    if (!used[i] || terms[i].kind != Kind::Apply) continue;
    for (int a : terms[i].args) {
      if (a >= 0) used[static_cast<std::size_t>(a)] = 1;
    }
  }
  std::vector<int> moved(terms.size(), -1);
  std::vector<Term> kept;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(root); ++i) {
    if (!used[i]) continue;
    Term t = terms[i];
    if (t.kind == Kind::Apply) {
      for (int& a : t.args) a = a < 0 ? a : moved[static_cast<std::size_t>(a)];
    }
    moved[i] = static_cast<int>(kept.size());
    kept.push_back(t);
  }
  terms = std::move(kept);
}

std::vector<std::string> functions_of(const Expr& expr) {
  const auto term = [&](int i) -> const Expr::Term& { return expr.terms[static_cast<std::size_t>(i)]; };
  const auto is_bound = [&](const Expr::Term& t) {
    return t.kind == Expr::Kind::Apply && (t.fn == Fn::Min || t.fn == Fn::Max) &&
           (term(t.args[0]).kind == Expr::Kind::Constant || term(t.args[1]).kind == Expr::Kind::Constant);
  };
  std::vector<std::string> names(expr.terms.size());
  for (std::size_t i = 0; i < expr.terms.size(); ++i) {
    const Expr::Term& t = expr.terms[i];
    if (t.kind != Expr::Kind::Apply) continue;
    names[i] = info(t.fn).name;
    if (!is_bound(t)) continue;
    const int inner = term(t.args[0]).kind == Expr::Kind::Constant ? t.args[1] : t.args[0];
    if (!is_bound(term(inner)) || term(inner).fn == t.fn) continue;
    names[i] = "clip";
    names[static_cast<std::size_t>(inner)].clear();
  }
  std::erase(names, "");
  return names;
}

std::string summary(const Expr& expr) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::string> names = functions_of(expr);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.empty() ? expr.text() : text + (names.size() > kMost ? ", ..." : "");
}

Expr compose(const Expr& outer, int number, const Expr& inner, const std::vector<int>& outer_inputs, const std::vector<int>& inner_inputs) {
  Expr result;
  const auto copy = [&](const Expr& from, const std::vector<int>& inputs, int replaced, int replacement) {
    std::vector<int> moved;
    for (const Expr::Term& t : from.terms) {
      if (t.kind == Expr::Kind::Input) {
        moved.push_back(t.args[0] == replaced ? replacement : result.input(inputs[static_cast<std::size_t>(t.args[0])], t.type));
      } else if (t.kind == Expr::Kind::Constant) {
        moved.push_back(result.constant_bits(t.type, t.bits));
      } else {
        const auto arg = [&](int i) { return t.args[i] < 0 ? -1 : moved[static_cast<std::size_t>(t.args[i])]; };
        moved.push_back(is_cast(t.fn) ? result.cast(t.type, arg(0), t.fn) : result.apply(t.fn, arg(0), arg(1), arg(2)));
      }
    }
    return moved.back();
  };
  const int value = copy(inner, inner_inputs, -1, -1);
  result.finish(copy(outer, outer_inputs, number, value));
  return result;
}

bool has_sigmoid_factor(const Expr& expr, const Expr::Term& term, int k) {
  if (term.kind != Expr::Kind::Apply || term.fn != Fn::Mul) return false;
  const Expr::Term& factor = expr.terms[static_cast<std::size_t>(term.args[k])];
  return factor.kind == Expr::Kind::Apply && factor.fn == Fn::Sigmoid;
}

int64_t operations(const Expr& expr) {
  int64_t count = 0;
  for (const Expr::Term& term : expr.terms) {
    if (term.kind != Expr::Kind::Apply) continue;
    switch (term.fn) {
      case Fn::Div:
      case Fn::Sqrt:
      case Fn::Reciprocal: count += 4; break;
      case Fn::Exp:
      case Fn::Log:
      case Fn::Sigmoid:
      case Fn::Gate:
      case Fn::GateExp2:
      case Fn::Tanh:
      case Fn::Erf:
      case Fn::ErfPlusOne: count += 16; break;
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
      case Fn::Atanh:
      case Fn::Mod:
      case Fn::Fmod: count += 30; break;
      case Fn::Pow: count += 60; break;
      default: ++count;
    }
  }
  return count;
}

bool has_lanes(ElementType type) {
  switch (type) {
    case ElementType::F32:
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::I8:
    case ElementType::U8:
    case ElementType::I16:
    case ElementType::U16:
    case ElementType::I32: return true;
    default: return false;
  }
}

namespace {

bool has_vector_overload(Fn fn) {
  switch (fn) {
    case Fn::Mod:
    case Fn::Fmod:
    case Fn::BitAnd:
    case Fn::BitOr:
    case Fn::BitXor:
    case Fn::BitNot:
    case Fn::ShiftLeft:
    case Fn::ShiftRight: return false;
    default: return true;
  }
}

bool is_vectorisable(const Expr& expr, const Expr::Term& term) {
  const auto each_argument = [&](auto holds) {
    return std::ranges::all_of(term.args, [&](int a) { return a < 0 || holds(expr.terms[static_cast<std::size_t>(a)].type); });
  };
  switch (term.kind) {
    case Expr::Kind::Input: return has_lanes(term.type);
    case Expr::Kind::Constant: return term.type == ElementType::F32 || term.type == ElementType::I32;
    case Expr::Kind::Apply: break;
  }
  if (term.fn == Fn::Quantize) return true;
  if (term.type == ElementType::I32 && (term.fn == Fn::Add || term.fn == Fn::Sub || term.fn == Fn::Mul)) return true;
  if (is_cast(term.fn)) {
    const ElementType from = expr.terms[static_cast<std::size_t>(term.args[0])].type;
    // Floats of 16 bits are converted from and to f32 alone.
    if (is_half(term.type)) return term.fn == Fn::Cast && from == ElementType::F32;
    return term.fn == Fn::Cast && has_lanes(term.type) && (is_half(from) ? term.type == ElementType::F32 : has_lanes(from));
  }
  return (term.type == ElementType::F32 || term.type == ElementType::Bool) && has_vector_overload(term.fn) &&
         each_argument([](ElementType type) { return type == ElementType::F32 || type == ElementType::Bool; });
}

}  // namespace

bool is_vectorisable(const Expr& expr) {
  if (expr.terms.back().kind == Expr::Kind::Constant && expr.type() != ElementType::F32) return false;  // it is no vector
  return has_lanes(expr.type()) && std::ranges::all_of(expr.terms, [&](const Expr::Term& term) { return is_vectorisable(expr, term); });
}

namespace {
/// Whether the power is one that vectors compute by products, a quotient or a root: see fn::pow in vfn.hpp.
bool is_power_by_products(const Expr& expr, const Expr::Term& term) {
  const Expr::Term& exponent = expr.terms[static_cast<std::size_t>(term.args[1])];
  if (term.type != ElementType::F32 || exponent.kind != Expr::Kind::Constant || exponent.type != ElementType::F32) return false;
  const float e = std::bit_cast<float>(static_cast<uint32_t>(exponent.bits));
  return e == 1 || e == 2 || e == 3 || e == -1 || e == 0.5f;
}
}  // namespace

std::string varying_function(const Expr& expr, bool vectors) {
  for (const Expr::Term& term : expr.terms) {
    if (term.kind != Expr::Kind::Apply) continue;
    switch (term.fn) {
      // Vectors have forms of their own.
      case Fn::Exp:
      case Fn::Log:
      case Fn::Tanh:
      case Fn::Erf:
      case Fn::ErfPlusOne:
      case Fn::Sigmoid:
      case Fn::Gate:
      case Fn::GateExp2:
      case Fn::Softplus:
        if (vectors && term.type == ElementType::F32) continue;
        break;
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
      case Fn::Atanh: break;
      case Fn::Pow:
        if (vectors && is_power_by_products(expr, term)) continue;
        break;
      default: continue;
    }
    return info(term.fn).name;
  }
  return "";
}

uint64_t to_bits(ElementType type, double value) {
  const auto integer = [&](double lo, double hi) -> uint64_t {
    if (std::isnan(value)) return 0;
    const double v = std::clamp(std::trunc(value), lo, hi);
    return v < 0 ? static_cast<uint64_t>(static_cast<int64_t>(v)) : v >= 18446744073709551615.0 ? ~uint64_t{0} : static_cast<uint64_t>(v);
  };
  const int bits = info(type).bits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  switch (type) {
    case ElementType::F32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    case ElementType::F64: return std::bit_cast<uint64_t>(value);
    case ElementType::F16: return float16(value).bits;
    case ElementType::BF16: return bfloat16(value).bits;
    case ElementType::F8E4M3FN: return float8e4m3fn(value).bits;
    case ElementType::F8E4M3FNUZ: return float8e4m3fnuz(value).bits;
    case ElementType::F8E5M2: return float8e5m2(value).bits;
    case ElementType::F8E5M2FNUZ: return float8e5m2fnuz(value).bits;
    case ElementType::F4E2M1: return float4e2m1(value).bits;
    case ElementType::F8E8M0: return float8e8m0(static_cast<float>(value)).bits;
    case ElementType::Bool: return value != 0;
    default: break;
  }
  if (!is_integer(type)) throw Misread(std::string(name(type)) + " is no type of numbers");
  if (!is_signed(type)) return integer(0, std::ldexp(1.0, bits)) & mask;
  return integer(-std::ldexp(1.0, bits - 1), bits == 64 ? 9223372036854774784.0 : std::ldexp(1.0, bits - 1) - 1) & mask;
}

double from_bits(ElementType type, uint64_t bits) {
  switch (type) {
    case ElementType::F32: return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case ElementType::F64: return std::bit_cast<double>(bits);
    case ElementType::F16: return static_cast<double>(float16::from_bits(static_cast<uint16_t>(bits)));
    case ElementType::BF16: return static_cast<double>(bfloat16::from_bits(static_cast<uint16_t>(bits)));
    case ElementType::F8E4M3FN: return static_cast<double>(float8e4m3fn::from_bits(static_cast<uint8_t>(bits)));
    case ElementType::F8E4M3FNUZ: return static_cast<double>(float8e4m3fnuz::from_bits(static_cast<uint8_t>(bits)));
    case ElementType::F8E5M2: return static_cast<double>(float8e5m2::from_bits(static_cast<uint8_t>(bits)));
    case ElementType::F8E5M2FNUZ: return static_cast<double>(float8e5m2fnuz::from_bits(static_cast<uint8_t>(bits)));
    case ElementType::F4E2M1: return static_cast<double>(float4e2m1::from_bits(static_cast<uint8_t>(bits)));
    case ElementType::F8E8M0: return static_cast<double>(static_cast<float>(float8e8m0::from_bits(static_cast<uint8_t>(bits))));
    case ElementType::Bool: return bits != 0 ? 1 : 0;
    default: break;
  }
  if (!is_integer(type)) throw Misread(std::string(name(type)) + " is no type of numbers");
  const int width = info(type).bits;
  if (!is_signed(type)) return static_cast<double>(bits);
  if (width < 64 && (bits >> (width - 1)) != 0) bits |= ~uint64_t{0} << width;
  return static_cast<double>(static_cast<int64_t>(bits));
}

}  // namespace onnxc
