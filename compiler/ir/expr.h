// Expr: a scalar expression over inputs x0, x1, ...: what a fused elementwise group computes for one element.
//
//   mul(x0, sigmoid(x0))                       SiLU
//   max(add(x0, x1), 0)                        residual + Relu
//
// It is stored as a list of terms in evaluation order, each used any number of times; the last is the value. Every
// term has an element type.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/element_type.h"
#include "compiler/ir/tensor.h"

namespace onnxc {

/// The functions expressions are made of; each is one overload set onnxc::fn::NAME in runtime_stub/onnxc/fn.hpp.
/// Columns: enumerator, name, arity, kind of result.
///   same: the type of the operands.  boolean: bool.
///   first: the type of operand 0 (others may differ).  explicit: the type that the term names.
/// Gate, GateExp2, ErfPlusOne, Quantize and ByteSteps stand for several others, and are found in Programs alone.
// clang-format off
#define ONNXC_FUNCTIONS(F)                                                                                              \
  F(Neg, neg, 1, Same) F(Abs, abs, 1, Same) F(Sign, sign, 1, Same) F(Ceil, ceil, 1, Same) F(Floor, floor, 1, Same)      \
  F(Round, round, 1, Same) F(Sqrt, sqrt, 1, Same) F(Exp, exp, 1, Same) F(Log, log, 1, Same) F(Sin, sin, 1, Same)        \
  F(Cos, cos, 1, Same) F(Tan, tan, 1, Same) F(Asin, asin, 1, Same) F(Acos, acos, 1, Same) F(Atan, atan, 1, Same)        \
  F(Sinh, sinh, 1, Same) F(Cosh, cosh, 1, Same) F(Tanh, tanh, 1, Same) F(Asinh, asinh, 1, Same)                         \
  F(Acosh, acosh, 1, Same) F(Atanh, atanh, 1, Same) F(Erf, erf, 1, Same) F(Sigmoid, sigmoid, 1, Same)                   \
  F(Softplus, softplus, 1, Same) F(Reciprocal, reciprocal, 1, Same) F(Relu, relu, 1, Same)                              \
  F(LogicalNot, logical_not, 1, Same) F(BitNot, bit_not, 1, Same)                                                       \
  F(IsNan, is_nan, 1, Boolean) F(IsInf, is_inf, 1, Boolean) F(IsPosInf, is_pos_inf, 1, Boolean)                         \
  F(IsNegInf, is_neg_inf, 1, Boolean)                                                                                   \
  F(Add, add, 2, Same) F(Sub, sub, 2, Same) F(Mul, mul, 2, Same) F(Div, div, 2, Same) F(Mod, mod, 2, Same)              \
  F(Fmod, fmod, 2, Same) F(Pow, pow, 2, First) F(Min, min, 2, Same) F(Max, max, 2, Same)                                \
  F(LogicalAnd, logical_and, 2, Same) F(LogicalOr, logical_or, 2, Same) F(LogicalXor, logical_xor, 2, Same)             \
  F(BitAnd, bit_and, 2, Same) F(BitOr, bit_or, 2, Same) F(BitXor, bit_xor, 2, Same)                                     \
  F(ShiftLeft, shift_left, 2, Same) F(ShiftRight, shift_right, 2, Same)                                                 \
  F(Equal, equal, 2, Boolean) F(Less, less, 2, Boolean) F(LessOrEqual, less_equal, 2, Boolean)                          \
  F(Greater, greater, 2, Boolean) F(GreaterOrEqual, greater_equal, 2, Boolean)                                          \
  F(Gate, gate, 2, Same) F(GateExp2, gate_exp2, 3, Same) F(ErfPlusOne, erf_plus_one, 1, Same)                           \
  F(Quantize, quantize, 3, Explicit)                                                                                    \
  F(ByteSteps, byte_steps, 3, Same)                                                                                     \
  F(Where, where, 3, Second) F(Cast, cast, 1, Explicit)                                                                 \
  F(CastSpecial, cast_special, 1, Explicit) F(CastDown, cast_down, 1, Explicit)                                         \
  F(CastNearest, cast_nearest, 1, Explicit) F(CastSpecialDown, cast_special_down, 1, Explicit)                          \
  F(CastSpecialNearest, cast_special_nearest, 1, Explicit)
// clang-format on

enum class Fn : uint8_t {
#define ONNXC_FN(id, name, arity, result) id,
  ONNXC_FUNCTIONS(ONNXC_FN)
#undef ONNXC_FN
};
enum class FnResult : uint8_t { Same, Boolean, First, Second, Explicit };
struct FnInfo {
  const char* name;
  int arity;
  FnResult result;
};
const FnInfo& info(Fn fn);
/// Whether the function's text has the type that the term names.
inline bool names_type(Fn fn) { return info(fn).result == FnResult::Explicit; }
inline bool is_cast(Fn fn) { return names_type(fn) && info(fn).arity == 1; }

struct Expr {
  enum class Kind : uint8_t { Input, Constant, Apply };
  struct Term {
    Kind kind;
    ElementType type;
    Fn fn{};                     ///< Apply
    int args[3] = {-1, -1, -1};  ///< Apply: indices of earlier terms. Input: args[0] is the number of the input.
    uint64_t bits = 0;           ///< Constant: its bytes, little-endian, in the lowest bits
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;

  /// x_number. Equal inputs are one term.
  int input(int number, ElementType type);
  int constant_bits(ElementType type, uint64_t bits);
  /// A number of `type`, converted as Cast converts a double.
  int constant(ElementType type, double value);
  /// Equal applications are one term. The type follows from the function's row.
  int apply(Fn fn, int a, int b = -1, int c = -1);
  int cast(ElementType to, int a, Fn fn = Fn::Cast);

  bool empty() const { return terms.empty(); }
  ElementType type() const { return terms.back().type; }
  int input_count() const;
  /// True when the expression is x0 itself.
  bool is_identity() const { return terms.size() == 1 && terms[0].kind == Kind::Input; }
  /// Removes terms that the value does not use and makes `root` the last one.
  void finish(int root);

  friend bool operator==(const Expr&, const Expr&) = default;
  /// `mul(x0, sigmoid(x0))`. The caller knows the types of inputs; constants carry theirs: `add(x0, f32(0.5))`.
  std::string text() const;
};

/// The names of an expression's functions, in the order of evaluation: {add, relu}. Bounds on both sides are `clip`.
std::vector<std::string> functions_of(const Expr& expr);
/// The same for people: `add, relu`, shortened after a few.
std::string summary(const Expr& expr);

/// The tree of `outer` with its input `number` replaced by `inner`. Inputs are renumbered: those of `inner` become
/// inner_inputs[i], the others of `outer` become outer_inputs[i].
Expr compose(const Expr& outer, int number, const Expr& inner, const std::vector<int>& outer_inputs, const std::vector<int>& inner_inputs);

/// The inverse of Expr::text. `input_types[i]` is the type of x_i. Throws Error{Invalid}.
Expr parse_expr(std::string_view text, const std::vector<ElementType>& input_types);

/// Whether a term is a product whose factor k, 0 or 1, is a sigmoid.
bool has_sigmoid_factor(const Expr& expr, const Expr::Term& term, int k);

/// Whether vectors hold elements of that type: floats, or integers and floats of 16 bits that are cast to and from floats.
bool has_lanes(ElementType type);
/// Whether every term is f32, a condition, or of another type that has lanes and is only cast, so that fn's vector overloads apply.
bool is_vectorisable(const Expr& expr);

/// The name of a function of the expression whose results depend on the machine, or empty: one of the C library, on vectors or on scalars.
std::string varying_function(const Expr& expr, bool vectors);
/// The cost of an element, in additions or multiplications, for predictions. A function counts the multiply-adds of
/// its polynomial.
int64_t operations(const Expr& expr);

/// Bits of a number as an element of `type`, rounded to nearest even; and back.
uint64_t to_bits(ElementType type, double value);
double from_bits(ElementType type, uint64_t bits);

}  // namespace onnxc
