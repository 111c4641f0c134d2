// Operator: what onnxc knows of one ONNX operator. Each has a file of its own (or is a row of a table) and is listed
// in op_list.inc.
//
//   resolve    turns the forms of older opsets into the latest one (attributes that became inputs, old defaults); the types
//              of inputs are known
//   infer      the shape rule: types of the outputs, and elements of small integer tensors, from what is known of the
//              inputs. An operator that is only a composition needs none: it is decomposed as soon as the types of its
//              inputs are known
//   express    for elementwise operators: the expression of one element; everything else follows from it
//   decompose  rewrites the node into other operators
//   evaluate   the reference value, through runtime_stub/onnxc/scalar
//   lower      the kernel query: offers steps to the lowering, which takes the cheapest
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compiler/ir/graph.h"
#include "runtime_stub/onnxc/base.hpp"
#include "runtime_stub/onnxc/heap.hpp"
#include "runtime_stub/onnxc/memory.hpp"

namespace onnxc {

class Inference;
class Evaluation;
class KernelQuery;
class GraphBuilder;

/// `exact`: our own attribute, for products and convolutions of integers that f32 holds. Sums of products are exact
/// then, but not transforms, nor factors that are moved into weights.
inline bool is_exact(const Node& node) { return node.integer("exact", 0) != 0; }

/// `direct`: our own attribute, for products and convolutions whose readers magnify errors without limit
/// (passes/mark_direct.cpp). They are computed as they are defined.
inline bool is_direct(const Node& node) { return node.integer("direct", 0) != 0; }

/// The layouts of images [n, c, spatial...] that an operator's kernels support.
enum class LayoutRule {
  RowMajor,  ///< row-major tensors only
  Prefers,   ///< writes and reads channels-last: convolution, pooling
  Follows    ///< any layout; writes that of its first image input
};

/// What an operator that prefers channels-last can do with row-major images: read them, and compute a row-major
/// result from them.
struct PlanarUse {
  bool reads = false, writes = false;
};

struct Operator {
  std::string_view name;
  std::string_view domain = "";
  int min_inputs = 0, max_inputs = 1000, min_outputs = 1, max_outputs = 1000;
  void (*resolve)(GraphBuilder&, Node&) = nullptr;
  void (*infer)(Inference&) = nullptr;
  Expr (*express)(const Graph&, const Node&) = nullptr;
  /// Appends the replacement to the builder and returns its outputs. Returns nothing if the node stays as it is.
  std::optional<std::vector<ValueId>> (*decompose)(GraphBuilder&, const Node&) = nullptr;
  void (*evaluate)(Evaluation&) = nullptr;
  void (*lower)(KernelQuery&) = nullptr;
  LayoutRule layout = LayoutRule::RowMajor;
  /// Set if `layout` holds only for some nodes; the others are row-major.
  bool (*has_layout)(const Graph&, const Node&) = nullptr;
  /// Set if images of few channels are better left row-major: if a node's input is, it `writes` such images, and all
  /// users `read` them.
  PlanarUse (*planar)(const Graph&, const Node&, int vector_floats) = nullptr;
  /// Whether the kernel applies an expression to each result in registers, so that elementwise consumers can be fused
  /// into the node. The result is seen as a matrix of rows by columns: see EpilogueShape in kernel_query.h.
  bool (*takes_epilogue)(const Graph&, const Node&) = nullptr;
  /// Whether that expression may read and give integers, too, and may start from them.
  bool typed_epilogue = false;
};

/// The operator that a node names, or null.
const Operator* find_operator(std::string_view domain, std::string_view name);
inline const Operator* find_operator(const Node& node) { return find_operator(node.domain, node.op); }
/// All operators, in the order of op_list.inc.
std::span<const Operator* const> all_operators();

/// Infers a region whose inputs have their types. The walk over the graph provides it to the rules of operators with
/// regions.
using RegionWalk = std::function<void(Graph&)>;

/// An extent of the elements of a sequence or optional that differs from element to element, or is unknown.
Dim unknown_extent();
/// Generalises `type`, which is inside a sequence or optional, so that it includes `next`. Returns true if it
/// changed.
bool generalise_nested(Type& type, const Type& next);

/// A node as its shape rule sees it.
class Inference {
 public:
  /// `before` collects nodes that must run before this one: those that bind symbols and check extents.
  Inference(Graph& graph, Node& node, int& fresh, std::vector<Node>& before, const RegionWalk* walk)
      : graph_(graph), node_(node), fresh_(fresh), before_(before), walk_(walk) {}
  Graph& graph() { return graph_; }
  const Node& node() const { return node_; }

  bool has(int i) const { return node_.has_input(i); }
  const Value& value(int i) const;
  const Type& type(int i) const { return value(i).type; }
  ElementType element(int i) const { return type(i).element; }
  /// The extents of input i. An error if the rank is unknown.
  const Extents& extents(int i) const;
  int rank(int i) const { return static_cast<int>(extents(i).size()); }
  const TensorData* constant(int i) const { return has(i) ? value(i).constant.get() : nullptr; }
  /// The elements of an integer input as Dims, if they are known from a constant or from shape arithmetic.
  std::optional<DimList> elements(int i) const;
  /// The same. Unknown elements become run-time symbols that an onnxc.Bind node before this one reads from the
  /// tensor. An error if the number of elements is unknown or large.
  DimList known_elements(int i, const char* what) const;
  /// The same as constants.
  std::vector<int64_t> known_integers(int i, const char* what) const;

  void output(int i, Type type);
  void output(int i, ElementType element, Extents extents) { output(i, Type::tensor(element, std::move(extents))); }
  void output_elements(int i, DimList elements);

  /// A symbol for an extent that only running this node reveals, with closed bounds, and possibly an upper bound that
  /// is an extent. The node binds it. Each inference of a node gets the same symbols, in the order of the calls.
  Dim fresh(std::string_view hint, int64_t min = 0, std::optional<Dim> limit = std::nullopt);
  /// A symbol for an expression of extents that the run has bound before, so that types stay short; the expression
  /// itself if it is short or does not depend on the run. Never negative.
  Dim let(Dim expression, std::string_view hint, std::optional<Dim> limit = std::nullopt);
  /// True when all are constants.
  static bool are_constant(const DimList& dims);
  /// States a requirement of the model, which is checked when it runs. `what` describes it for the node.
  void require(Requirement requirement, const char* what);
  /// States that the model requires a == b, which is checked when it runs. Returns the simpler one. An error if they
  /// can never be equal.
  Dim unify(Dim a, Dim b, const char* what);
  /// Numpy's rule, for any number of shapes; see broadcast.h. Kernels multiply an operand's stride along an axis by
  /// repeat_factor.
  Extents broadcast(const std::vector<Extents>& shapes);
  /// The same for two shapes, of which the first must broadcast to the second.
  Extents spread(const Extents& from, const Extents& to, const char* what);
  /// Infers a region of the node, whose formals have their types.
  void walk(Graph& region);
  /// A negative axis counts from the end; an error outside [-rank, rank).
  int axis(int64_t axis, int rank) const;
  [[noreturn]] void fail(std::string found, std::string remedy = {}) const {
    node_.fail(ErrorKind::Invalid, std::move(found), std::move(remedy));
  }
  [[noreturn]] void fail(ErrorCode code, std::string found, std::string remedy = {}) const {
    node_.fail(code, std::move(found), std::move(remedy));
  }
  [[noreturn]] void unsupported(std::string found, std::string remedy = {}) const {
    node_.fail(ErrorKind::Unsupported, std::move(found), std::move(remedy));
  }

 private:
  Dim meet(Dim a, Dim b);

  Graph& graph_;
  Node& node_;
  int& fresh_;
  std::vector<Node>& before_;
  const RegionWalk* walk_;
  std::size_t asked_ = 0;  // the number of the node's own symbols that the rule has asked for
};

/// True for an operator that its decomposition replaces from the first pass on.
inline bool is_composition(const Operator& op) { return op.infer == nullptr && op.express == nullptr && op.decompose != nullptr; }
/// Refuses a node whose numbers of inputs or outputs the operator does not allow.
void check_arity(const Operator& op, const Node& node);

/// Runs the rule of the operator (or of Map) on one node. `fresh` numbers the symbols that rules create. Nodes that
/// must run before this one are appended to `before`.
void infer_node(Graph& graph, Node& node, int& fresh, std::vector<Node>& before, const RegionWalk* walk = nullptr);
/// The first number that no run-time symbol of the graph and its regions uses.
int first_fresh(const Graph& graph);

/// Zeros as kernels see them: elements of sub-byte types have a byte each, and strings the bytes of an onnxc_string.
TensorData evaluation_room(ElementType type, std::vector<int64_t> shape);

/// A node as its reference evaluation sees it: concrete inputs, and outputs that are allocated already if the shape
/// rule knew their extents.
class Evaluation {
 public:
  Evaluation(const Node& node, std::vector<Constant> inputs, std::vector<TensorData> outputs)
      : node_(node), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  const Node& node() const { return node_; }
  bool has(int i) const { return i < static_cast<int>(inputs_.size()) && inputs_[static_cast<std::size_t>(i)]; }
  const TensorData& input(int i) const { return *inputs_[static_cast<std::size_t>(i)]; }
  TensorData& output(int i) { return outputs_[static_cast<std::size_t>(i)]; }
  bool has_output(int i) const { return node_.has_output(i); }
  ElementType type(int i) const { return input(i).type; }
  int rank(int i) const { return static_cast<int>(input(i).shape.size()); }

  template <class T>
  Tensor<const T> in(int i) const {
    return {reinterpret_cast<const T*>(input(i).bytes.data()), shape_of(input(i))};
  }
  template <class T>
  Tensor<T> out(int i = 0) {
    return {reinterpret_cast<T*>(output(i).bytes.data()), shape_of(output(i))};
  }
  /// For sizes that depend on data.
  void allocate(int i, ElementType type, std::vector<int64_t> shape) { output(i) = evaluation_room(type, std::move(shape)); }
  /// For kernels that create strings, whose memory lives as long as this object.
  Heap heap() { return {&memory_.allocator()}; }
  /// Turns a status of the reference kernel into an error of the model.
  void check(Status status) const;
  static Shape shape_of(const TensorData& tensor);
  std::vector<TensorData> take_outputs() { return std::move(outputs_); }

 private:
  const Node& node_;
  std::vector<Constant> inputs_;
  std::vector<TensorData> outputs_;
  Memory memory_;
};

/// The values of the node's outputs. Empty if the operator has no reference value. Throws what the operator's rule
/// throws.
std::optional<std::vector<TensorData>> evaluate_node(const Graph& graph, const Node& node, std::vector<Constant> inputs);

/// Appends nodes to a list, inferring types as it goes: for decompositions and rewrites.
class GraphBuilder {
 public:
  GraphBuilder(Graph& graph, std::string_view base, int& fresh) : graph_(graph), base_(base), fresh_(fresh) {}
  Graph& graph() { return graph_; }
  const Type& type(ValueId v) const { return graph_[v].type; }
  const Extents& extents(ValueId v) const { return graph_[v].type.extents; }
  int rank(ValueId v) const { return graph_[v].type.rank(); }

  ValueId op(std::string_view op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {});
  std::vector<ValueId> ops(std::string_view op, std::vector<ValueId> inputs, int outputs, std::map<std::string, Attribute> attributes = {});
  ValueId map(Expr expr, std::vector<ValueId> inputs);
  ValueId integers(std::vector<int64_t> values) { return graph_.add_constant(base_, std::move(values)); }
  /// Extents as an i64 tensor, for Reshape and similar operators.
  ValueId shape(const Extents& extents);
  /// A scalar of the given type.
  ValueId number(ElementType type, double value);
  /// Returns the nodes appended so far; the builder starts anew.
  std::vector<Node> take() { return std::exchange(nodes_, {}); }

  /// Says that what is built computes in floats although it has quantised operands, and why: see Graph::float_reasons.
  void in_floats(std::string reason) { float_reason_ = std::move(reason); }
  const std::string& float_reason() const { return float_reason_; }

 private:
  Graph& graph_;
  std::string base_;
  int& fresh_;
  std::vector<Node> nodes_;
  std::string float_reason_;
};

}  // namespace onnxc
