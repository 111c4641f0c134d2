// Operator: what onnxc knows of one ONNX operator. Each lives in a file of its own (or is a row of a table) and is listed in op_list.inc.
//
//   resolve    turns the forms of older opsets into the latest one (attributes that became inputs, old defaults); types of the inputs are known
//   infer      the shape rule: types of the outputs, and elements of small integer tensors, from what is known of the inputs. An operator that is
//              nothing but a composition needs none: it is decomposed as soon as the types of its inputs are known
//   express    for elementwise operators: the expression of one element; everything else of them follows from it
//   decompose  rewrites the node into others that exist
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

/// `exact`: our own attribute, of products and convolutions of integers that f32 holds. Sums of products are exact then; transforms, and factors moved into weights, are not.
inline bool is_exact(const Node& node) { return node.integer("exact", 0) != 0; }

/// `direct`: likewise, of products and convolutions whose readers magnify errors without limit (passes/mark_direct.cpp): computed as they are written.
inline bool is_direct(const Node& node) { return node.integer("direct", 0) != 0; }

/// Which layouts of images [n, c, spatial...] an operator's kernels take.
enum class LayoutRule {
  RowMajor,  ///< plain tensors only
  Prefers,   ///< writes channels-last, and reads it: convolution, pooling
  Follows    ///< any layout; writes what its first image input has
};

/// What an operator that prefers channels-last can do with row-major images: read them, and give a row-major result of one.
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
  /// Appends the replacement to the builder and gives its outputs, or nothing where the node stays as it is.
  std::optional<std::vector<ValueId>> (*decompose)(GraphBuilder&, const Node&) = nullptr;
  void (*evaluate)(Evaluation&) = nullptr;
  void (*lower)(KernelQuery&) = nullptr;
  LayoutRule layout = LayoutRule::RowMajor;
  /// Where `layout` holds for some nodes alone; others are row-major.
  bool (*has_layout)(const Graph&, const Node&) = nullptr;
  /// Where images of few channels are better left row-major: a node whose input is so, which `writes`, and whose users all `read`.
  PlanarUse (*planar)(const Graph&, const Node&, int vector_floats) = nullptr;
  /// The kernel applies an expression to each result in registers, so that elementwise consumers can be fused into the node.
  /// The result is seen as a matrix of rows by columns: see EpilogueShape in kernel_query.h.
  bool (*takes_epilogue)(const Graph&, const Node&) = nullptr;
};

/// The operator a node names, or null.
const Operator* find_operator(std::string_view domain, std::string_view name);
inline const Operator* find_operator(const Node& node) { return find_operator(node.domain, node.op); }
/// All operators, in the order of op_list.inc.
std::span<const Operator* const> all_operators();

/// Infers a region whose inputs have their types: what the walk over the graph lends to the rules of operators that have regions.
using RegionWalk = std::function<void(Graph&)>;

/// An extent of the elements of a sequence or optional that differs from element to element, or is not known.
Dim unknown_extent();
/// Makes `type`, inside a sequence or optional, hold `next` too. True when it changed.
bool generalise_nested(Type& type, const Type& next);

/// What a shape rule sees of its node.
class Inference {
 public:
  /// `before` takes the nodes that must run before this one: those that bind symbols and check extents.
  Inference(Graph& graph, Node& node, int& fresh, std::vector<Node>& before, const RegionWalk* walk)
      : graph_(graph), node_(node), fresh_(fresh), before_(before), walk_(walk) {}
  Graph& graph() { return graph_; }
  const Node& node() const { return node_; }

  bool has(int i) const { return node_.has_input(i); }
  const Value& value(int i) const;
  const Type& type(int i) const { return value(i).type; }
  ElementType element(int i) const { return type(i).element; }
  /// Extents of input i; an error where the rank is not known.
  const Extents& extents(int i) const;
  int rank(int i) const { return static_cast<int>(extents(i).size()); }
  const TensorData* constant(int i) const { return has(i) ? value(i).constant.get() : nullptr; }
  /// Elements of an integer input as Dims, where they are known (a constant, or shape arithmetic).
  std::optional<DimList> elements(int i) const;
  /// The same; where they are not known, run-time symbols that an onnxc.Bind node before this one reads from the tensor. An error where the number of
  /// elements is not known, or large.
  DimList known_elements(int i, const char* what) const;
  /// The same as constants.
  std::vector<int64_t> known_integers(int i, const char* what) const;

  void output(int i, Type type);
  void output(int i, ElementType element, Extents extents) { output(i, Type::tensor(element, std::move(extents))); }
  void output_elements(int i, DimList elements);

  /// A symbol for an extent that only running this node tells, with closed bounds and perhaps an upper bound that is an extent. The node binds it.
  /// Each inference of a node gives the same symbols, in the order of the calls.
  Dim fresh(std::string_view hint, int64_t min = 0, std::optional<Dim> limit = std::nullopt);
  /// A symbol for an extent that is an expression of what the run has bound before, so that types stay short; the expression itself where it is
  /// short or does not depend on the run. Never negative.
  Dim let(Dim expression, std::string_view hint, std::optional<Dim> limit = std::nullopt);
  /// True when all are constants.
  static bool are_constant(const DimList& dims);
  /// The model needs that, which is checked when it runs. `what`: of the node.
  void require(Requirement requirement, const char* what);
  /// The model needs a == b, which is checked when it runs. Gives the simpler one; an error where they never are equal.
  Dim unify(Dim a, Dim b, const char* what);
  /// Numpy's rule, over any number of shapes; see broadcast.h. Kernels step by repeat_factor along an axis of an operand.
  Extents broadcast(const std::vector<Extents>& shapes);
  /// The same of two shapes, the first of which must spread to the second.
  Extents spread(const Extents& from, const Extents& to, const char* what);
  /// Infers a region of the node, formals typed beforehand.
  void walk(Graph& region);
  /// A negative axis counts from the end; an error outside [-rank, rank).
  int axis(int64_t axis, int rank) const;
  [[noreturn]] void fail(std::string found, std::string remedy = {}) const {
    node_.fail(ErrorKind::Invalid, std::move(found), std::move(remedy));
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
  std::size_t asked_ = 0;  // how many of the node's own symbols the rule has asked for
};

/// True for an operator that stands for its decomposition from the first pass on.
inline bool is_composition(const Operator& op) { return op.infer == nullptr && op.express == nullptr && op.decompose != nullptr; }
/// Refuses a node whose numbers of inputs and outputs the operator does not allow.
void check_arity(const Operator& op, const Node& node);

/// Runs the operator's rule (or Map's) on one node. `fresh` numbers the symbols that rules make; nodes that must run before this one are appended
/// to `before`.
void infer_node(Graph& graph, Node& node, int& fresh, std::vector<Node>& before, const RegionWalk* walk = nullptr);
/// A number that no run-time symbol of the graph and its regions has yet.
int first_fresh(const Graph& graph);

/// Zeros as kernels see them: elements of sub-byte types have a byte each, strings the bytes of an onnxc_string.
TensorData evaluation_room(ElementType type, std::vector<int64_t> shape);

/// What a reference evaluation sees: concrete inputs, and outputs already allocated where the shape rule knew them, as kernels see them.
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
  /// For kernels that make strings; what they take lives as long as this.
  Heap heap() { return {&memory_.allocator()}; }
  /// A status of the reference kernel becomes an error of the model.
  void check(Status status) const;
  static Shape shape_of(const TensorData& tensor);
  std::vector<TensorData> take_outputs() { return std::move(outputs_); }

 private:
  const Node& node_;
  std::vector<Constant> inputs_;
  std::vector<TensorData> outputs_;
  Memory memory_;
};

/// Values of the node's outputs. Empty where the operator has no reference value. Throws what the operator's rule throws.
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
  /// Extents as an i64 tensor, for Reshape and its kin.
  ValueId shape(const Extents& extents);
  /// A scalar of the given type.
  ValueId number(ElementType type, double value);
  /// What was appended so far; the builder starts anew.
  std::vector<Node> take() { return std::exchange(nodes_, {}); }

 private:
  Graph& graph_;
  std::string base_;
  int& fresh_;
  std::vector<Node> nodes_;
};

}  // namespace onnxc
