// A network that quantises what it adds up later holds its residuals as floats that are functions of bytes. They lie in memory as those bytes here, and what
// is done with a byte is done by those who read it:
//
//   t: f32 = ByteConv x w   mul(sub(cast<f32>(cast<u8>(...)), 132), 0.1)        t: u8 = ByteConv x w   cast<u8>(...)
//   y: u8 = ByteConv z v, t   ... add(cast<f32>(x0), x1) ...           becomes  y: u8 = ByteConv z v, t   ... add(cast<f32>(x0), mul(sub(cast<f32>(x1), 132), 0.1)) ...
#include <algorithm>
#include <optional>

#include "compiler/ops/operator.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

const Expr::Term& term(const Expr& expr, int i) { return expr.terms[static_cast<std::size_t>(i)]; }

/// The cast to f32 of a byte of which the expression is a function of no other input.
std::optional<int> cast_of_byte(const Expr& expr) {
  const int root = static_cast<int>(expr.terms.size()) - 1;
  for (int i = root; i >= 0; --i) {
    const Expr::Term& t = term(expr, i);
    if (t.kind != Expr::Kind::Apply || t.fn != Fn::Cast || t.type != ElementType::F32) continue;
    const Expr::Term& byte = term(expr, t.args[0]);
    if (byte.kind != Expr::Kind::Apply || (byte.type != ElementType::U8 && byte.type != ElementType::I8)) continue;
    // What the value needs beside term i must be constant.
    std::vector<bool> known(expr.terms.size());
    for (int k = 0; k <= root; ++k) {
      const Expr::Term& other = term(expr, k);
      known[static_cast<std::size_t>(k)] =
          k == i || other.kind == Expr::Kind::Constant ||
          (other.kind == Expr::Kind::Apply && std::ranges::all_of(other.args, [&](int a) { return a < 0 || known[static_cast<std::size_t>(a)]; }));
    }
    if (known.back()) return i;
  }
  return std::nullopt;
}

/// The value as a function of the byte.
Expr of_byte(const Expr& expr, int cast) {
  Expr result;
  std::vector<int> moved(expr.terms.size(), -1);
  const int byte = result.input(0, term(expr, term(expr, cast).args[0]).type);
  for (int i = 0; i < std::ssize(expr.terms); ++i) {
    Expr::Term t = term(expr, i);
    if (i == cast) t.args[0] = byte;
    else if (t.kind == Expr::Kind::Input) continue;
    else if (t.kind == Expr::Kind::Apply) {
      if (std::ranges::any_of(t.args, [&](int a) { return a >= 0 && moved[static_cast<std::size_t>(a)] < 0; })) continue;
      for (int& a : t.args) a = a < 0 ? -1 : moved[static_cast<std::size_t>(a)];
    }
    moved[static_cast<std::size_t>(i)] = static_cast<int>(result.terms.size());
    result.terms.push_back(t);
  }
  result.finish(moved.back());
  return result;
}

/// Whether the node may read the value as bytes: in its expression alone.
bool reads_in_expression(const Node& node, ValueId value) {
  if (!node.regions.empty() || std::ranges::find(node.captures, value) != node.captures.end()) return false;
  if (node.is_map()) return true;
  const Operator* const op = find_operator(node);
  const auto own = node.inputs.begin() + node.own_inputs();
  return op != nullptr && op->typed_epilogue && std::find(node.inputs.begin(), own, value) == own;
}

void read_bytes(Node& node, ValueId value, const Expr& function) {
  for (int i = 0; i < std::ssize(node.inputs); ++i) {
    if (node.inputs[static_cast<std::size_t>(i)] != value) continue;
    const int number = node.is_map() ? i : i - node.own_inputs() + 1;  // x0 is what the operator computes
    std::vector<int> same;
    for (int k = 0; k <= std::ssize(node.inputs); ++k) same.push_back(k);
    node.epilogue = compose(*node.epilogue, number, function, same, {number});
  }
}

}  // namespace

Graph store_bytes(Graph graph) {
  PerValue<std::vector<std::size_t>> readers(graph.values.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const auto* list : {&graph.nodes[i].inputs, &graph.nodes[i].captures}) {
      for (const ValueId v : *list) {
        if (v != kAbsent) readers[v].push_back(i);
      }
    }
  }
  for (Node& node : graph.nodes) {
    if (!node.epilogue || node.outputs.size() != 1) continue;
    const ValueId value = node.outputs[0];
    const Operator* const op = node.is_map() ? nullptr : find_operator(node);
    if (graph[value].type.element != ElementType::F32 || (op != nullptr && !op->typed_epilogue)) continue;
    if (readers[value].empty() || std::ranges::find(graph.outputs, value) != graph.outputs.end()) continue;
    if (!std::ranges::all_of(readers[value], [&](std::size_t i) { return reads_in_expression(graph.nodes[i], value); })) continue;
    const std::optional<int> cast = cast_of_byte(*node.epilogue);
    if (!cast) continue;
    const Expr function = of_byte(*node.epilogue, *cast);
    for (const std::size_t i : readers[value]) read_bytes(graph.nodes[i], value, function);
    node.epilogue->finish(term(*node.epilogue, *cast).args[0]);
    graph[value].type.element = node.epilogue->type();
  }
  return graph;
}

}  // namespace onnxc
