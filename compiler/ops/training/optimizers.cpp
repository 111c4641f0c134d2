// Adagrad, Adam and Momentum: one step of an optimiser for any number of tensors. Inputs are the learning rate R, the
// number of steps T, then the tensors X1..Xn, their gradients G1..Gn, and the states of each. Outputs are the new
// tensors, then the new states.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/training/training.h"

namespace onnxc {
namespace {

/// X and G, and one or two states.
int groups_of(const Node& node) { return node.op == "Adam" ? 4 : 3; }
int tensors_of(const Node& node) { return (node.own_inputs() - 2) / groups_of(node); }

void infer_optimizer(Inference& n) {
  const int groups = groups_of(n.node()), tensors = tensors_of(n.node());
  if (n.node().own_inputs() != 2 + groups * tensors)
    n.fail(fmt::format("has {} inputs; R, T and {} lists of equal length are needed", n.node().own_inputs(), groups));
  if (static_cast<int>(n.node().outputs.size()) > (groups - 1) * tensors)
    n.fail(fmt::format("has {} outputs, of which it gives {}", n.node().outputs.size(), (groups - 1) * tensors));
  for (int i = 0; i < 2; ++i) {
    if (!(element_count(n.extents(i)) == Dim(1))) n.fail(fmt::format("input {} has shape {}; R and T are scalars", i, text(n.extents(i))));
  }
  if (!is_float(n.element(0)) || n.element(1) != ElementType::I64)
    n.fail(fmt::format("R is {} and T is {}; a float and i64 are needed", name(n.element(0)), name(n.element(1))));
  for (int k = 0; k < tensors; ++k) {
    const Type x = n.type(2 + k);
    if (x.element != ElementType::F32 && x.element != ElementType::F64)
      n.fail(fmt::format("input {} is {}, not f32 or f64", 2 + k, name(x.element)));
    for (int g = 1; g < groups; ++g) {
      const int i = 2 + g * tensors + k;
      if (n.element(i) != x.element || n.rank(i) != x.rank())
        n.fail(fmt::format("input {} is {}, where {} belongs to it", i, n.type(i).text(), x.text()));
      for (std::size_t a = 0; a < x.extents.size(); ++a)
        n.unify(x.extents[a], n.extents(i)[a], "the shapes of a tensor and its gradient or state");
    }
    n.output(k, x);
    for (int g = 2; g < groups; ++g) n.output((g - 1) * tensors + k, x);
  }
  if (n.node().op == "Momentum") {
    for (const char* attribute : {"alpha", "beta", "norm_coefficient", "mode"}) {
      if (!n.node().has(attribute)) n.fail(fmt::format("attribute '{}' is missing", attribute));
    }
    const std::string mode = n.node().string("mode", "");
    if (mode != "standard" && mode != "nesterov") n.fail(fmt::format("mode is '{}'; standard or nesterov are allowed", mode));
  }
}

/// One tensor: its new value, then its new states. Formulas as in the specification.
struct Update {
  GraphBuilder& b;
  const Node& node;
  ElementType type;
  ValueId rate, steps;  ///< scalars of `type` and i64

  ValueId constant(double v) { return b.number(type, v); }
  ValueId attribute(const char* name, float otherwise) { return constant(static_cast<double>(node.number(name, otherwise))); }
  double number(const char* name, float otherwise) { return static_cast<double>(node.number(name, otherwise)); }
  ValueId add(ValueId x, ValueId y) { return b.op("Add", {x, y}); }
  ValueId sub(ValueId x, ValueId y) { return b.op("Sub", {x, y}); }
  ValueId mul(ValueId x, ValueId y) { return b.op("Mul", {x, y}); }
  ValueId div(ValueId x, ValueId y) { return b.op("Div", {x, y}); }
  ValueId started() { return b.op("Greater", {steps, b.number(ElementType::I64, 0)}); }
  ValueId regular(ValueId x, ValueId g) { return add(mul(attribute("norm_coefficient", 0), x), g); }

  std::vector<ValueId> adagrad(ValueId x, ValueId given, ValueId h) {
    const ValueId r = div(rate, add(constant(1), mul(cast_to(b, steps, type), attribute("decay_factor", 0)))), g = regular(x, given);
    const ValueId next = add(h, mul(g, g));
    return {sub(x, div(mul(r, g), add(b.op("Sqrt", {next}), attribute("epsilon", 1e-6f)))), next};
  }
  std::vector<ValueId> adam(ValueId x, ValueId given, ValueId v, ValueId h) {
    const double alpha = number("alpha", 0.9f), beta = number("beta", 0.999f);
    const ValueId g = regular(x, given);
    const ValueId v_next = add(mul(constant(alpha), v), mul(constant(1 - alpha), g)),
                  h_next = add(mul(constant(beta), h), mul(constant(1 - beta), mul(g, g)));
    const auto shortfall = [&](double decay) { return sub(constant(1), b.op("Pow", {constant(decay), cast_to(b, steps, type)})); };
    const ValueId adjusted = b.op("Where", {started(), div(mul(rate, b.op("Sqrt", {shortfall(beta)})), shortfall(alpha)), rate});
    const ValueId next = sub(x, div(mul(adjusted, v_next), add(b.op("Sqrt", {h_next}), attribute("epsilon", 1e-6f))));
    return {mul(constant(1 - number("norm_coefficient_post", 0)), next), v_next, h_next};
  }
  std::vector<ValueId> momentum(ValueId x, ValueId given, ValueId v) {
    const ValueId g = regular(x, given), beta = b.op("Where", {started(), attribute("beta", 1), constant(1)});
    const ValueId v_next = add(mul(attribute("alpha", 0), v), mul(beta, g));
    const ValueId along = node.string("mode", "") == "nesterov" ? add(g, mul(attribute("alpha", 0), v_next)) : v_next;
    return {sub(x, mul(rate, along)), v_next};
  }
};

std::optional<std::vector<ValueId>> decompose_optimizer(GraphBuilder& b, const Node& node) {
  const int groups = groups_of(node), tensors = tensors_of(node);
  std::vector<ValueId> results(static_cast<std::size_t>((groups - 1) * tensors), kAbsent);
  const auto scalar = [&](ValueId v) { return b.op("Reshape", {v, b.integers({})}); };
  for (int k = 0; k < tensors; ++k) {
    const auto in = [&](int g) { return node.input(2 + g * tensors + k); };
    const ElementType type = b.type(in(0)).element;
    Update u{b, node, type, cast_to(b, scalar(node.input(0)), type), scalar(node.input(1))};
    const std::vector<ValueId> next = node.op == "Adagrad" ? u.adagrad(in(0), in(1), in(2))
                                      : node.op == "Adam"  ? u.adam(in(0), in(1), in(2), in(3))
                                                           : u.momentum(in(0), in(1), in(2));
    for (std::size_t g = 0; g < next.size(); ++g) results[g * static_cast<std::size_t>(tensors) + static_cast<std::size_t>(k)] = next[g];
  }
  results.resize(std::min(results.size(), node.outputs.size()));
  return results;
}

}  // namespace

std::span<const Operator> table_optimizers() {
  const auto row = [](std::string_view name, int least) {
    return Operator{
        .name = name, .domain = kTrainingDomain, .min_inputs = least, .infer = infer_optimizer, .decompose = decompose_optimizer};
  };
  static const Operator rows[] = {row("Adagrad", 5), row("Adam", 6), row("Momentum", 5)};
  return rows;
}

}  // namespace onnxc
