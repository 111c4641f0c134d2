// Graph: what to compute.
//
// A graph is a list of values and a list of nodes in an order in which every value is defined before it is used. The contract, which
// verify_graph checks after every pass:
//
//   - every value has a name, unique in its graph, and exactly one definition: it is a graph input, a constant, or the output of one node;
//   - a node uses only values defined before it; kAbsent stands for an optional input or output that is not there;
//   - types are known for every value once infer_shapes has run, and match what the operator's rule gives;
//   - If, Loop, Scan and SequenceMap own regions. A region is a graph of its own: its inputs are the operator's formal parameters followed by
//     one input for each of the node's captures, in order. A region sees nothing else of the outside;
//   - an extent that only a run tells is a run-time symbol (Dim::run_time_symbol), bound by the node that has it in `binds`; it stands only in types
//     and attributes of that node and of those after it;
//   - a node with an epilogue has its operator's own inputs first, then the epilogue's operands: x0 is the operator's result, x_i (i > 0) the
//     i-th operand. The type of its one output is the epilogue's;
//   - the two of a State have one element type and rank, and neither is in another State.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/requirement.h"
#include "compiler/ir/schema.h"
#include "compiler/ir/tensor.h"
#include "compiler/ir/type.h"

namespace onnxc {

using ValueId = int32_t;
inline constexpr ValueId kAbsent = -1;

struct Graph;
struct LoopTrials;

using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>, Constant, Type>;

/// `Conv` or `com.microsoft.Gelu`
inline std::string full_op(const std::string& domain, const std::string& op) { return domain.empty() ? op : domain + "." + op; }

struct Value {
  std::string name;  ///< the ONNX name where there is one
  Type type;
  Constant constant;  ///< the value itself when it is known
  /// What is known of the elements of a small integer tensor (a shape, an axis): one Dim an element. See infer_shapes.
  std::optional<DimList> elements;
  Type stated{};  ///< what the model says of a computed value's type: held against what is inferred, extents aside
};

struct Node {
  std::string domain;  ///< empty for ai.onnx; "onnxc" for our own: Map
  std::string op;
  std::string name;
  int version = 0;  ///< opset of the domain; once resolve_versions has run, the operator's latest form
  std::vector<ValueId> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>> regions;  ///< by attribute name: then_branch, body
  std::vector<ValueId> captures;
  std::optional<Expr> epilogue;  ///< Map: the expression itself, x_i being input i
  int epilogue_operands = 0;     ///< how many of the last inputs belong to the epilogue
  std::shared_ptr<LoopTrials>
      trials{};  ///< Loop, Scan: what copies of the node found while the body of a Loop around them is tried; see ops/control/loop.h
  std::vector<std::string> binds{};  ///< run-time symbols that running this node binds, in the order in which its shape rule asks for them
  std::shared_ptr<const Schema> schema{};  ///< what its operator asks of its inputs; null once they are verified

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
  /// Error{kind} that names this node.
  [[noreturn]] void fail(ErrorKind kind, std::string found, std::string remedy = {}) const;
  /// The result of `work`; an error in it that names no node is this one's.
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

/// What a caller keeps from run to run: an input, and the output that is the same thing after the run. By their numbers; equal element types and ranks.
struct State {
  int past = -1, present = -1;
  friend bool operator==(const State&, const State&) = default;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs, outputs;
  std::vector<State> states{};  ///< each input and output in one at most
  /// What the model asks of the extents of its inputs; checked at the start of a run.
  std::vector<Requirement> requirements;
  /// Pairs of these that meet in broadcasting, and need not be equal where one is 1.
  std::vector<std::pair<Dim, Dim>> meetings;
  std::map<std::string, std::string> metadata;  ///< sha256: of the model's file

  Value& operator[](ValueId id) {
    ONNXC_CHECK(id >= 0 && static_cast<std::size_t>(id) < values.size(), "a value that is read is there");
    return values[static_cast<std::size_t>(id)];
  }
  const Value& operator[](ValueId id) const { return const_cast<Graph&>(*this)[id]; }

  /// A new value under a name that is made unique by a suffix.
  ValueId add_value(std::string_view name, Type type = {});
  ValueId add_constant(std::string_view name, Constant constant);
  /// `[1, 2, 3]` as an i64 tensor.
  ValueId add_constant(std::string_view name, std::vector<int64_t> values);
  const TensorData* constant(ValueId id) const { return id == kAbsent ? nullptr : (*this)[id].constant.get(); }

 private:
  std::map<std::string, int, std::less<>> names_;  // next suffix by base name
  std::string unique_name(std::string_view base);
};

/// How often every value is used by nodes, captures and graph outputs.
std::vector<int> use_counts(const Graph& graph);
/// Index of the node that defines each value, or -1.
std::vector<int> definitions(const Graph& graph);
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

/// Checks the contract above; throws Error{Internal} naming the first breach and `after`, the pass that left it.
void verify_graph(const Graph& graph, std::string_view after);
/// What is wrong with the size of a value that no memory can hold, whatever its symbols are; empty where nothing is.
std::string size_error(const Value& value);

/// Text form; see text.cpp for the grammar. parse_graph(print_graph(g)) prints the same text.
std::string print_graph(const Graph& graph);
Graph parse_graph(std::string_view text);
/// An attribute's value as the text form has it.
std::string attribute_text(const Attribute& attribute);

}  // namespace onnxc
