// Graph: what to compute.
//
// A graph is a list of values and a list of nodes in an order in which every value is defined before it is used. This
// is the contract, which verify_graph checks after every pass:
//
//   - every value has a name, unique in its graph, and exactly one definition: it is a graph input, a constant, or the output of one node;
//   - a node uses only values defined before it; kAbsent stands for an optional input or output that is absent;
//   - types are known for every value once infer_shapes has run, and agree with the operator's rule;
//   - If, Loop, Scan and SequenceMap own regions. A region is a graph of its own: its inputs are the operator's formal parameters,
//     followed by one input for each of the node's captures, in order. A region sees nothing else of the outside;
//   - an extent that only a run knows is a run-time symbol (Dim::run_time_symbol), bound by the node that has it in `binds`. It occurs
//     only in types and attributes of that node and of later ones;
//   - the inputs of a node with an epilogue are the operator's own, then the epilogue's operands: x0 is the operator's result, and x_i
//     (i > 0) the i-th operand. The type of its one output is the epilogue's;
//   - both values of a State have the same element type and rank, and neither is in another State.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/requirement.h"
#include "compiler/ir/schema.h"
#include "compiler/ir/state.h"
#include "compiler/ir/tensor.h"
#include "compiler/ir/type.h"

namespace onnxc {

struct Graph;
struct LoopTrials;

using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>, Constant, Type>;

/// `Conv` or `com.microsoft.Gelu`
inline std::string full_op(const std::string& domain, const std::string& op) { return domain.empty() ? op : domain + "." + op; }

struct Value {
  std::string name;  ///< the ONNX name, if it has one
  Type type;
  Constant constant;  ///< the value itself, if it is known
  /// What is known of the elements of a small integer tensor (a shape, an axis): one Dim for each element. See
  /// infer_shapes.
  std::optional<DimList> elements;
  /// The type that the model states for a computed value. It is compared with the inferred type, except for extents.
  Type stated{};
};

struct Node {
  std::string domain;  ///< empty for ai.onnx; "onnxc" for our own: Map
  std::string op;
  std::string name;
  /// The domain's opset; after infer_shapes, the operator is in its latest form.
  int version = 0;
  std::vector<ValueId> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>> regions;  ///< by attribute name: then_branch, body
  std::vector<ValueId> captures;
  std::optional<Expr> epilogue;  ///< Map: the expression itself, where x_i is input i
  int epilogue_operands = 0;     ///< the number of inputs, the last ones, that belong to the epilogue
  /// Loop, Scan: what copies of the node found while the body of a surrounding Loop is tried; see ops/control/loop.h.
  std::shared_ptr<LoopTrials> trials{};
  /// Run-time symbols that running this node binds, in the order in which its shape rule asks for them.
  std::vector<std::string> binds{};
  /// What its operator requires of its inputs; null once they are verified.
  std::shared_ptr<const Schema> schema{};

  bool is(std::string_view type) const { return domain.empty() && op == type; }
  bool is_map() const { return domain == "onnxc" && op == "Map"; }
  int own_inputs() const { return static_cast<int>(inputs.size()) - epilogue_operands; }
  ValueId input(int i) const { return i < own_inputs() ? inputs[static_cast<std::size_t>(i)] : kAbsent; }
  ValueId output(int i) const { return i < static_cast<int>(outputs.size()) ? outputs[static_cast<std::size_t>(i)] : kAbsent; }
  bool has_input(int i) const { return input(i) != kAbsent; }
  bool has_output(int i) const { return output(i) != kAbsent; }
  bool has(const std::string& attribute) const { return attributes.count(attribute) != 0; }
  int64_t integer(const std::string& attribute, int64_t otherwise) const;
  float number(const std::string& attribute, float otherwise) const;
  std::string string(const std::string& attribute, std::string otherwise) const;
  std::vector<int64_t> integers(const std::string& attribute, std::vector<int64_t> otherwise = {}) const;
  Graph* region(const std::string& attribute) const;
  std::string full_op() const { return onnxc::full_op(domain, op); }
  /// Throws an Error that names this node.
  [[noreturn]] void fail(ErrorClass what, std::string found, std::string remedy = {}) const;
  /// Returns the result of `work`. An error in it that names no node gets this one's name.
  template <class Work>
  auto guard(Work&& work) const {
    try {
      return work();
    } catch (...) {
      rethrow_as_own();
    }
  }

 private:
  [[noreturn]] void rethrow_as_own() const;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs, outputs;
  std::vector<State> states{};  ///< each input and output is in at most one
  /// What the model requires of its inputs' extents; checked at the start of a run.
  std::vector<Requirement> requirements;
  /// Pairs of input extents that meet in broadcasting. They need not be equal where one is 1.
  std::vector<std::pair<Dim, Dim>> meetings;
  std::map<std::string, std::string> metadata;  ///< sha256: of the model's file
  /// For the user: why nodes of a quantised model are computed in floats, by the name of a node's first output. Those of regions are in the
  /// outermost graph.
  std::map<std::string, std::string> float_reasons{};

  Value& operator[](ValueId id) {
    ONNXC_CHECK(id >= 0 && static_cast<std::size_t>(id) < values.size(), "a value that is read is there");
    return values[static_cast<std::size_t>(id)];
  }
  const Value& operator[](ValueId id) const { return const_cast<Graph&>(*this)[id]; }
  Node& node(int position) { return nodes[static_cast<std::size_t>(position)]; }
  const Node& node(int position) const { return nodes[static_cast<std::size_t>(position)]; }

  /// Adds a value whose name is made unique by a suffix.
  ValueId add_value(std::string_view name, Type type = {});
  ValueId add_constant(std::string_view name, Constant constant);
  /// `[1, 2, 3]` as an i64 tensor.
  ValueId add_constant(std::string_view name, std::vector<int64_t> values);
  const TensorData* constant(ValueId id) const { return id == kAbsent ? nullptr : (*this)[id].constant.get(); }

 private:
  std::map<std::string, int, std::less<>> names_;  // the next suffix, by base name
  std::string unique_name(std::string_view base);
};

/// How often each value is used by nodes, captures and graph outputs.
PerValue<int> use_counts(const Graph& graph);
/// The position of the node that defines each value, or -1.
PerValue<int> definitions(const Graph& graph);
/// Uses `to` wherever `from` was used (inputs, captures, graph outputs).
void replace_uses(Graph& graph, ValueId from, ValueId to);
/// Calls visit(graph) for the graph and every region in it, outermost first.
template <class Visit>
void for_each_graph(Graph& graph, Visit&& visit) {
  visit(graph);
  for (Node& node : graph.nodes) {
    for (auto& [name, region] : node.regions) for_each_graph(*region, visit);
  }
}
/// A copy that shares no region with the original.
Graph clone(const Graph& graph);

/// Checks the contract above. Throws Error{Internal} that names the first breach and `after`, the pass that left it.
void verify_graph(const Graph& graph, std::string_view after);
/// Describes the size of a value that no memory can hold, whatever its symbols are. Empty if there is no such
/// problem.
std::string size_error(const Value& value);

/// Text form; see text.cpp for the grammar. parse_graph(print_graph(g)) prints the same text.
std::string print_graph(const Graph& graph);
Graph parse_graph(std::string_view text);
/// An attribute's value in the text form.
std::string attribute_text(const Attribute& attribute);

}  // namespace onnxc
