// Winograd's and Strassen's algorithms add values that a convolution or a product keeps apart. Their errors are
// relative to the largest of these values, so an exact zero (from a window of zeros beside windows of large values)
// becomes a small number of either sign. If a reader of the result magnifies such errors without limit, the product
// is marked to be computed as it is defined:
//
//   c = Conv x w                            c = Conv {direct = 1} x w
//   y = Map [greater(x0, 0)] c   becomes    y = Map [greater(x0, 0)] c
//
// The following magnify errors at zero: Log, Sqrt, Reciprocal, a division by the value, a power that is no whole
// number, Sign, Floor, Ceil, Mod, a comparison with zero or with a computed value, any Equal, a cast to bool, and
// NonZero. The need propagates backwards through all that maps zero to zero or moves it by an epsilon: Relu, factors,
// sums, pools, changes of shape. It does not pass reductions over an axis, which are rarely zero, nor Sigmoid or Exp.
// It passes a product that adds no bias. A Where that is continuous at the point where its condition changes
// (LeakyRelu, Elu) magnifies nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

/// What the readers of a value need of it.
enum class Need {
  None,
  /// Its errors are magnified where it is near zero, although it is not zero where the values it is computed from
  /// are.
  Near,
  /// Its errors are magnified where it is exactly zero.
  AtZero
};
void raise(Need& need, Need other) { need = std::max(need, other); }

// A sum with a constant up to this size is still near zero: models add such constants to keep Log and Sqrt away from
// zero.
constexpr double kEpsilon = 0x1p-10;

/// An expression, and the constants among its inputs.
class Needs {
 public:
  Needs(const Expr& expr, std::vector<const TensorData*> constants)
      : expr_(expr), constants_(std::move(constants)), need_(expr.terms.size(), Need::None) {}

  /// The need of each input if the result has the need `of_result`.
  std::vector<Need> inputs(Need of_result) {
    need_.back() = of_result;
    std::vector<Need> of_inputs(constants_.size(), Need::None);
    for (std::size_t i = need_.size(); i-- > 0;) {
      const Expr::Term& t = expr_.terms[i];
      if (t.kind == Expr::Kind::Input) raise(of_inputs[static_cast<std::size_t>(t.args[0])], need_[i]);
      if (t.kind == Expr::Kind::Apply) visit(static_cast<int>(i), t);
    }
    return of_inputs;
  }

 private:
  const Expr::Term& term(int i) const { return expr_.terms[static_cast<std::size_t>(i)]; }
  void ask(int arg, Need need) { raise(need_[static_cast<std::size_t>(arg)], need); }

  const TensorData* tensor(int i) const {
    return term(i).kind == Expr::Kind::Input ? constants_[static_cast<std::size_t>(term(i).args[0])] : nullptr;
  }
  /// The value of a term that is a constant number.
  std::optional<double> number(int i) const {
    if (term(i).kind == Expr::Kind::Constant) return from_bits(term(i).type, term(i).bits);
    if (const TensorData* t = tensor(i); t != nullptr && t->type == ElementType::F32 && t->count() == 1) return t->as<float>()[0];
    return std::nullopt;
  }
  /// Whether a term is known never to be zero.
  bool is_never_zero(int i) const {
    if (const auto n = number(i)) return *n != 0;
    const TensorData* t = tensor(i);
    return t != nullptr && t->type == ElementType::F32 && std::ranges::find(t->as<float>(), 0.0f) == t->as<float>().end();
  }

  void visit(int at, const Expr::Term& t) {
    const Need need = need_[static_cast<std::size_t>(at)];
    const int a = t.args[0], b = t.args[1];
    switch (t.fn) {
      case Fn::Neg:
      case Fn::Abs:
      case Fn::Relu:
      case Fn::Tanh:
      case Fn::Erf:
      case Fn::Sin:
      case Fn::Tan:
      case Fn::Asin:
      case Fn::Atan:
      case Fn::Sinh:
      case Fn::Asinh:
      case Fn::Atanh: return ask(a, need);
      case Fn::Log:
      case Fn::Sqrt:
      case Fn::Reciprocal:
      case Fn::ErfPlusOne:
      case Fn::Sign:
      case Fn::Floor:
      case Fn::Ceil: return ask(a, Need::AtZero);
      case Fn::Mul:
      case Fn::Gate:
      case Fn::GateExp2:  // a product, like Gate
      case Fn::Min:
      case Fn::Max: ask(a, need); return ask(b, need);
      case Fn::Add:
      case Fn::Sub: ask(a, need_in_sum(b, need)); return ask(b, need_in_sum(a, need));
      case Fn::Div:
      case Fn::Fmod: ask(a, need); return ask(b, Need::AtZero);
      case Fn::Mod: ask(a, Need::AtZero); return ask(b, Need::AtZero);
      case Fn::Pow: {
        const auto power = number(b);
        return ask(a, power && *power >= 1 && *power == std::floor(*power) ? need : Need::AtZero);
      }
      case Fn::Less:
      case Fn::LessOrEqual:
      case Fn::Greater:
      case Fn::GreaterOrEqual:
      case Fn::Equal:
        if (is_continuous(at, t)) return;
        if (t.fn == Fn::Equal || !is_never_zero(b)) ask(a, Need::AtZero);
        if (t.fn == Fn::Equal || !is_never_zero(a)) ask(b, Need::AtZero);
        return;
      case Fn::Where: ask(b, need); return ask(t.args[2], need);
      case Fn::Cast:
      case Fn::CastSpecial:
      case Fn::CastDown:
      case Fn::CastNearest:
      case Fn::CastSpecialDown:
      case Fn::CastSpecialNearest: return ask(a, t.type == ElementType::Bool ? Need::AtZero : is_float(t.type) ? need : Need::None);
      case Fn::Quantize:
      case Fn::ByteSteps:
      case Fn::Round:
      case Fn::Exp:
      case Fn::Cos:
      case Fn::Acos:
      case Fn::Cosh:
      case Fn::Acosh:
      case Fn::Sigmoid:
      case Fn::Softplus:
      case Fn::LogicalNot:
      case Fn::BitNot:
      case Fn::IsNan:
      case Fn::IsInf:
      case Fn::IsPosInf:
      case Fn::IsNegInf:
      case Fn::LogicalAnd:
      case Fn::LogicalOr:
      case Fn::LogicalXor:
      case Fn::BitAnd:
      case Fn::BitOr:
      case Fn::BitXor:
      case Fn::ShiftLeft:
      case Fn::ShiftRight: return;
    }
  }

  /// The need of one side of a sum that has `need`, given the other side.
  Need need_in_sum(int other, Need need) const {
    if (const auto n = number(other)) return *n == 0 ? need : std::abs(*n) <= kEpsilon ? std::min(need, Need::Near) : Need::None;
    return tensor(other) != nullptr ? std::min(need, Need::Near) : need;
  }

  /// Whether a comparison with zero is only the condition of Wheres whose branches have the same value there.
  bool is_continuous(int at, const Expr::Term& comparison) const {
    const int x = number(comparison.args[1]) == 0.0 ? comparison.args[0] : number(comparison.args[0]) == 0.0 ? comparison.args[1] : -1;
    if (x < 0 || at + 1 == static_cast<int>(expr_.terms.size())) return false;
    return std::ranges::all_of(expr_.terms, [&](const Expr::Term& t) {
      if (t.kind != Expr::Kind::Apply || std::ranges::find(t.args, at) == std::end(t.args)) return true;
      if (t.fn != Fn::Where || t.args[1] == at || t.args[2] == at) return false;
      const auto yes = value_at_zero(t.args[1], x), no = value_at_zero(t.args[2], x);
      return yes && no && *yes == *no;
    });
  }

  /// The value of term i where term x is zero, if that determines it.
  std::optional<double> value_at_zero(int i, int x) const {
    if (i == x) return 0.0;
    if (const auto n = number(i)) return n;
    const Expr::Term& t = term(i);
    if (t.kind != Expr::Kind::Apply) return std::nullopt;
    const auto arg = [&](int k) { return value_at_zero(t.args[k], x); };
    const auto a = arg(0);
    if (t.fn == Fn::Mul) {
      const auto b = arg(1);
      return a == 0.0 || b == 0.0 ? std::optional(0.0) : a && b ? std::optional(*a * *b) : std::nullopt;
    }
    if (!a) return std::nullopt;
    switch (t.fn) {
      case Fn::Neg: return -*a;
      case Fn::Abs: return std::abs(*a);
      case Fn::Relu: return std::max(*a, 0.0);
      case Fn::Exp: return std::exp(*a);
      case Fn::Tanh: return std::tanh(*a);
      case Fn::Cast: return is_float(t.type) ? a : std::nullopt;
      default: break;
    }
    const auto b = info(t.fn).arity == 2 ? arg(1) : std::nullopt;
    if (!b) return std::nullopt;
    switch (t.fn) {
      case Fn::Add: return *a + *b;
      case Fn::Sub: return *a - *b;
      case Fn::Div: return *a / *b;
      case Fn::Min: return std::min(*a, *b);
      case Fn::Max: return std::max(*a, *b);
      default: return std::nullopt;
    }
  }

  const Expr& expr_;
  std::vector<const TensorData*> constants_;
  std::vector<Need> need_;
};

constexpr std::array kKeepZeros = {std::string_view("AveragePool"),
                                   std::string_view("Compress"),
                                   std::string_view("Concat"),
                                   std::string_view("DepthToSpace"),
                                   std::string_view("Expand"),
                                   std::string_view("Flatten"),
                                   std::string_view("Gather"),
                                   std::string_view("GatherElements"),
                                   std::string_view("GatherND"),
                                   std::string_view("GlobalMaxPool"),
                                   std::string_view("Identity"),
                                   std::string_view("MaxPool"),
                                   std::string_view("Pad"),
                                   std::string_view("Reshape"),
                                   std::string_view("Resize"),
                                   std::string_view("ReverseSequence"),
                                   std::string_view("ScatterElements"),
                                   std::string_view("ScatterND"),
                                   std::string_view("Slice"),
                                   std::string_view("SpaceToDepth"),
                                   std::string_view("Split"),
                                   std::string_view("Squeeze"),
                                   std::string_view("Tile"),
                                   std::string_view("Transpose"),
                                   std::string_view("Trilu"),
                                   std::string_view("Unsqueeze")};

bool is_product(const Node& node) { return node.is("Conv") || node.is("MatMul") || node.op == "MatMulNBits"; }

/// Marks the products of a graph whose outputs have these needs. Returns the needs of its inputs.
std::vector<Need> mark(Graph& graph, const std::vector<Need>& of_outputs) {
  PerValue<Need> need(graph.values.size(), Need::None);
  const auto ask = [&](ValueId v, Need asked) {
    if (v != kAbsent) raise(need[v], asked);
  };
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) ask(graph.outputs[i], of_outputs[i]);
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    Need result = Need::None;
    for (const ValueId v : node.outputs) {
      if (v != kAbsent) raise(result, need[v]);
    }
    if (node.epilogue) {
      std::vector<ValueId> operands(
          node.inputs.end() - (node.is_map() ? static_cast<std::ptrdiff_t>(node.inputs.size()) : node.epilogue_operands),
          node.inputs.end());
      if (!node.is_map()) operands.insert(operands.begin(), kAbsent);
      std::vector<const TensorData*> constants;
      for (const ValueId v : operands) constants.push_back(graph.constant(v));
      const std::vector<Need> asked = Needs(*node.epilogue, std::move(constants)).inputs(result);
      for (std::size_t i = 0; i < operands.size(); ++i) ask(operands[i], asked[i]);
      if (node.is_map()) continue;
      result = asked[0];
    }
    // Carried values get the strongest need of all, since each iteration passes them on.
    if (!node.regions.empty()) {
      std::vector<Need> inside;
      for (Need before = Need::None;; before = result) {
        for (auto& [name, region] : node.regions) {
          const std::vector<Need> formal = mark(*region, std::vector<Need>(region->outputs.size(), result));
          const std::size_t own = formal.size() - node.captures.size();
          for (std::size_t i = 0; i < node.captures.size(); ++i) ask(node.captures[i], formal[own + i]);
          for (std::size_t i = 0; i < own; ++i) raise(result, formal[i]);
        }
        if (result == before) break;
      }
      for (const ValueId v : node.inputs) ask(v, result);
      continue;
    }
    if (node.is("NonZero")) result = Need::AtZero;
    if (is_product(node)) {
      if (result == Need::None) continue;
      node.attributes["direct"] = int64_t{1};
      if (result == Need::AtZero && !node.has_input(2)) {
        ask(node.input(0), result);
        ask(node.input(1), result);
      }
    } else if (node.is("NonZero") || (node.domain.empty() && std::ranges::find(kKeepZeros, node.op) != kKeepZeros.end())) {
      for (int i = 0; i < node.own_inputs(); ++i) ask(node.input(i), result);
    }
  }
  std::vector<Need> of_inputs;
  for (const ValueId v : graph.inputs) of_inputs.push_back(need[v]);
  return of_inputs;
}

}  // namespace

Graph mark_direct(Graph graph) {
  mark(graph, std::vector<Need>(graph.outputs.size(), Need::None));
  return graph;
}

}  // namespace onnxc
