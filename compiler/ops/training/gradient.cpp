// Gradient: derivatives of y with respect to the tensors xs, at given values of xs and zs. It is reverse-mode
// differentiation of the nodes in between, once those are decomposed. The added nodes are ordinary ones, so gradients
// of gradients are possible.
//
// The pass bind_gradients has turned the names into inputs, [values of xs, values of zs, xs, zs, y], with attributes
// `count` (of xs) and `held` (of zs).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ops/training/gradient_rules.h"
#include "compiler/ops/training/training.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

void infer_gradient(Inference& n) {
  const int count = static_cast<int>(n.node().integer("count", 0)), named = count + static_cast<int>(n.node().integer("held", 0));
  if (n.node().own_inputs() != 2 * named + 1)
    n.fail(fmt::format("has {} inputs for {} names in xs and zs", n.node().own_inputs() - named - 1, named));
  if (static_cast<int>(n.node().outputs.size()) > count)
    n.fail(fmt::format("has {} outputs for {} names in xs", n.node().outputs.size(), count));
  if (!is_float(n.element(2 * named))) n.fail(fmt::format("y is {}, not a float", name(n.element(2 * named))));
  for (int i = 0; i < named; ++i) {
    const Type value = n.type(i), variable = n.type(named + i);
    if (value.element != variable.element || value.rank() != variable.rank())
      n.fail(fmt::format("input {} is {}, the tensor that it stands for {}", i, value.text(), variable.text()));
    for (std::size_t k = 0; k < value.extents.size(); ++k)
      n.unify(value.extents[k], variable.extents[k], "the shapes of a tensor and of its value");
    if (i < count) {
      if (!is_float(value.element)) n.fail(fmt::format("x {} is {}, not a float", i, name(value.element)));
      n.output(i, value);
    }
  }
}

class Differentiation {
 public:
  Differentiation(GraphBuilder& b, const Node& node)
      : b_(b), node_(node), named_(static_cast<int>(node.integer("count", 0) + node.integer("held", 0))) {}

  std::vector<ValueId> run() {
    record();
    const ValueId y = at(node_.input(2 * named_));
    const ElementType type = b_.type(y).element;
    add(y, b_.op("Expand", {b_.number(type, 1), b_.shape(b_.extents(y))}));
    for (std::size_t t = tape_.size(); t-- > 0;) {
      const TapeEntry& entry = tape_[t];
      std::vector<ValueId> by_outputs;
      bool reached = false;
      for (ValueId v : entry.outputs) {
        const auto it = by_.find(v);
        by_outputs.push_back(it == by_.end() ? kAbsent : it->second);
        reached = reached || it != by_.end();
      }
      if (!reached) continue;
      for (std::size_t i = 0; i < entry.inputs.size(); ++i) {
        const ValueId x = entry.inputs[i];
        if (x == kAbsent || changing_.count(x) == 0 || !is_float(b_.type(x).element)) continue;
        const ValueId d = differentiate(b_, entry, static_cast<int>(i), by_outputs);
        if (d != kAbsent) add(x, d);
      }
    }
    std::vector<ValueId> results;
    for (int i = 0; i < static_cast<int>(node_.outputs.size()); ++i) {
      const ValueId x = node_.input(i);
      const auto it = by_.find(x);
      results.push_back(it != by_.end() ? it->second : b_.op("Expand", {b_.number(b_.type(x).element, 0), b_.shape(b_.extents(x))}));
    }
    return results;
  }

 private:
  ValueId at(ValueId v) const {
    const auto it = value_.find(v);
    return it == value_.end() ? v : it->second;
  }
  void add(ValueId v, ValueId d) {
    const auto it = by_.find(v);
    if (it == by_.end()) by_[v] = d;
    else it->second = b_.op("Add", {it->second, d});
  }

  /// Records the nodes that y needs and that depend on xs, or on a given value: those are computed anew there.
  void record() {
    const std::vector<Node>& nodes = b_.graph().nodes;
    std::set<ValueId> variables, needed{node_.input(2 * named_)}, moved;
    for (int i = 0; i < named_; ++i) {
      const ValueId variable = node_.input(named_ + i), given = node_.input(i);
      variables.insert(variable);
      value_[variable] = given;
      if (i < static_cast<int>(node_.integer("count", 0))) changing_.insert(given);
      if (given != variable) moved.insert(variable);
    }
    const auto leaf = [&](const Node& n) {
      return std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return variables.count(v) != 0; });
    };
    std::vector<bool> use(nodes.size(), false);
    for (std::size_t k = nodes.size(); k-- > 0;) {
      const Node& n = nodes[k];
      if (leaf(n) || std::none_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return v != kAbsent && needed.count(v) != 0; }))
        continue;
      use[k] = true;
      needed.insert(n.inputs.begin(), n.inputs.end());
      needed.insert(n.captures.begin(), n.captures.end());
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (!use[k]) continue;
      const Node& n = nodes[k];
      const auto any_in = [&](const std::set<ValueId>& set, bool mapped) {
        const auto in = [&](ValueId v) { return v != kAbsent && set.count(mapped ? at(v) : v) != 0; };
        return std::any_of(n.inputs.begin(), n.inputs.end(), in) || std::any_of(n.captures.begin(), n.captures.end(), in);
      };
      const bool is_moved = any_in(moved, false), changes = any_in(changing_, true);
      if (!is_moved && !changes) continue;
      if (!n.regions.empty()) n.fail(ErrorCode::NoGradient, fmt::format("Gradient: operator {} has no derivative rule", n.full_op()));
      TapeEntry entry{&n, {}, n.outputs};
      for (ValueId v : n.inputs) entry.inputs.push_back(v == kAbsent ? kAbsent : at(v));
      if (is_moved) {
        entry.outputs = n.is_map() ? std::vector{b_.map(*n.epilogue, entry.inputs)}
                                   : b_.ops(n.full_op(), entry.inputs, static_cast<int>(n.outputs.size()), n.attributes);
        for (std::size_t i = 0; i < n.outputs.size(); ++i) {
          if (n.outputs[i] == kAbsent) continue;
          moved.insert(n.outputs[i]);
          value_[n.outputs[i]] = entry.outputs[i];
        }
      }
      if (!changes) continue;
      changing_.insert(entry.outputs.begin(), entry.outputs.end());
      tape_.push_back(std::move(entry));
    }
  }

  GraphBuilder& b_;
  const Node& node_;
  int named_;
  std::map<ValueId, ValueId> value_;  ///< values of the graph that are replaced here
  std::set<ValueId> changing_;        ///< values that depend on xs
  std::vector<TapeEntry> tape_;
  std::map<ValueId, ValueId> by_;  ///< derivatives of y, by value
};

std::optional<std::vector<ValueId>> decompose_gradient(GraphBuilder& b, const Node& node) { return Differentiation(b, node).run(); }

// ---- Variable: a constant that a Gradient differentiates with respect to; it must not be folded before.

void infer_variable(Inference& n) { n.output(0, n.type(0)); }
std::optional<std::vector<ValueId>> decompose_variable(GraphBuilder& b, const Node& node) {
  return std::vector{b.op("Identity", {node.inputs[0]})};
}

}  // namespace

std::span<const Operator> table_gradient() {
  static const Operator rows[] = {
      {.name = "Gradient", .domain = kTrainingDomain, .min_inputs = 1, .infer = infer_gradient, .decompose = decompose_gradient},
      {.name = "Variable",
       .domain = "onnxc",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .infer = infer_variable,
       .decompose = decompose_variable},
  };
  return rows;
}

}  // namespace onnxc
