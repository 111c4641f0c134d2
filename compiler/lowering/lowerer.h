// Lowerer: the state behind KernelQuery, which is the unfinished program, and where every value lies.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "compiler/lowering/concat_in_place.h"
#include "compiler/lowering/lower_graph.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/islands.h"

namespace onnxc {

/// A call of that kernel, without arguments yet.
Call call_of(const Kernel& kernel);
/// Sets the predicted cost of a call that only moves its bytes, if their number is known.
void set_cost_of_moving(Call& call);
/// What the memory of a GPU can hold: a tensor of numbers.
inline bool fits_gpu(const Type& type) { return type.is_tensor() && type.element != ElementType::String; }
/// The bytes of a tensor's elements, as kernels hold them.
inline Dim bytes_of(const Type& type) { return element_count(type.extents) * (held_bits(type.element) / 8); }

class Lowerer {
 public:
  Lowerer(const Target& target, const LowerOptions& options, std::vector<Choice>* choices)
      : target_(target), options_(options), choices_(choices) {}

  /// `devices`: of the graph's nodes; empty: the processor.
  Program run(const Graph& graph, const PerNode<Device>& devices = {});
  /// After a run: the last node of each group that one kernel computes, and the others.
  std::map<const Node*, std::vector<const Node*>> islands() const {
    std::map<const Node*, std::vector<const Node*>> all;
    for (const auto& [last, absorbed] : absorbed_) all.emplace(last, absorbed.nodes);
    return all;
  }
  /// After a run: why nodes that were to run on a GPU cannot.
  const std::map<const Node*, std::string>& refused_by_gpu() const { return refused_by_gpu_; }

 private:
  friend class KernelQuery;
  friend class StepBuilder;
  friend class LoopLowering;

  /// The values of one graph: of the main graph, or of a region.
  struct Scope {
    const Graph* graph;
    PerValue<Layout> layouts;
    /// Of each value: one view for each layout in which it exists. The first is the original.
    PerValue<std::vector<View>> views;
    std::map<ValueId, ConcatOperand> concat_operands{};  ///< values that are computed inside a Concat's result
    std::map<ValueId, PointerArg> row_sums{};            ///< of images; see KernelQuery::row_sums
    std::map<ValueId, const Node*> waiting{};            ///< onnxc.Extents whose tensor nothing has read yet
  };

  /// The nodes of an island that are lowered with its last node.
  struct Absorbed {
    const Island* island;
    std::vector<const Node*> nodes;
  };

  void lower_nodes(Scope& scope);
  /// Finds the islands. Returns all their nodes except the last of each.
  std::set<const Node*> find_islands(const Scope& scope);
  void lower_node(Scope& scope, const Node& node);
  // Control flow: control.cpp.
  void lower_if(Scope& scope, const Node& node);
  void lower_loop(Scope& scope, const Node& node);
  Scope region_scope(const Graph& region, Scope& outer, const Node& node);
  /// Lowers a region as a block of steps. `finish` adds the last ones.
  std::vector<Step> lower_block(Scope& inner, const std::function<void()>& finish);
  /// A view of the value in that layout, converted if necessary.
  View view_of(Scope& scope, ValueId value, const Layout* layout);
  /// Copies a value to another layout.
  void convert(const Extents& extents, const View& to, const View& from, std::string what);
  void require(Requirement requirement);
  View define(Scope& scope, ValueId value, const Layout& layout);
  Device device_of(const Node& node) const;
  Device device_of(const View& view) const { return program_[view.pointer.buffer].device; }
  /// Copies the value to the memory of the current device, in the layout that `from` has on the other, if it is one that both can hold.
  void transfer(Scope& scope, ValueId value, const View& from);
  /// Notes that the current node, which is to run on a GPU, does what only the host can.
  void need_host(std::string why);
  /// Refuses a node of the GPU with strings, or with values that are no tensors.
  void check_values(const Scope& scope, const Node& node);
  /// Whether the current node is to have kernels of a GPU's own.
  bool uses_gpu_kernels() const { return device_ == Device::Gpu && options_.optimise; }
  /// Makes a step one of the GPU, if it can be.
  void run_on_gpu(decltype(Step::action)& action);
  /// A view of the value inside the value that contains it, which is defined now if it is not yet.
  View define_operand(Scope& scope, ValueId value, const ConcatOperand& operand);
  void define_view(Scope& scope, ValueId value, const View& view);
  void write_output(Scope& scope, ValueId value, const View& to);
  /// Elements of less than a byte: unpack writes them to a buffer with a byte for each, pack does the reverse.
  void unpack(const View& to, PointerArg from, const std::string& name);
  void pack(PointerArg to, const View& from, const std::string& name);
  void emit_packing(const char* row, PointerArg to, PointerArg from, const View& view, const std::string& name);
  void define_packed_constant(Scope& scope, ValueId value);
  void copy(const Extents& extents, PointerArg to, DimList to_strides, PointerArg from, DimList from_strides, ElementType element,
            std::string what);
  BufferId add_buffer(Buffer buffer);
  /// Arena memory, with the upper bound of a size that depends on data. If there is no bound, a heap block that is
  /// allocated here.
  BufferId add_storage(Buffer buffer);
  /// A heap pointer that a later step sets.
  BufferId declare_pointer(Buffer buffer);
  /// A variable for a sequence, an optional or a map.
  BufferId declare_object(const Value& value);
  BufferId declare(Buffer buffer);
  View define_object(Scope& scope, ValueId value);
  void move_object(PointerArg to, PointerArg from);
  /// States that a kernel of the node needs the caller's allocator; an error with --no-heap.
  void need_heap(const Node& node);
  void allocate(BufferId buffer, Dim bytes);
  void release_owned();
  /// Declares variables, if there are any.
  void declare(DimList symbols, DimList values);
  void assign(DimList symbols, DimList values);
  void define_interface(Scope& scope);
  void keep_states(Scope& scope, const std::vector<State>& replaced);
  void write_results(Scope& scope);
  void give_tensor(Scope& scope, ValueId value, PointerArg to);
  PointerArg add_weights(Weights weights);  ///< existing weights are reused where the bytes are equal
  PointerArg add_weights(const std::string& from, ElementType element, WeightBytes bytes, std::optional<int64_t> wide_bytes = std::nullopt);
  PointerArg add_weights(const std::string& from, const TensorData& tensor);
  /// Constants without their bytes. Constants of the same source and count are taken to be equal.
  PointerArg draft_weights(const std::string& from, const Packed& packed, ElementType element);
  int add_expr(const Expr& expr);
  int add_branches(Branches branches);
  void emit(decltype(Step::action) action, std::string what);

  const Target& target_;
  const LowerOptions& options_;
  std::vector<Choice>* choices_;
  std::map<const Node*, Absorbed> absorbed_;  ///< by the last node of an island
  std::size_t choice_ = 0;                    ///< the number of the next choice
  int64_t constant_bytes_ = 0;                ///< of the whole model
  double streaming_ = 1;                      ///< the cost of a byte of weights, relative to one from memory
  Program program_;
  std::vector<Step>* steps_ = nullptr;
  Scope* scope_ = nullptr;
  Device device_ = Device::Cpu;    ///< of the node being lowered
  bool applies_epilogue_ = false;  ///< the node being lowered has applied its epilogue
  std::map<const Node*, Device> devices_;
  std::map<const Node*, std::string> refused_by_gpu_;
  std::map<BufferId, Dim> shares_of_scratch_;                                 ///< for how many shares of a GPU's step there is some
  std::unordered_map<std::size_t, std::vector<BufferId>> weights_by_digest_;  ///< of their bytes
  std::map<std::tuple<const float*, int64_t, ElementType, Device>, BufferId> drafts_;  ///< by source and count
  std::map<std::string, int> exprs_by_text_;
  std::map<std::pair<const Graph*, ValueId>, PointerArg> output_pointers_;  ///< where a value that leaves its graph is to be written
  std::set<std::string> bound_;                                             ///< run-time symbols that steps have bound so far
  std::vector<BufferId> owned_;                                             ///< heap blocks that the current block releases at its end
  const Node* node_ = nullptr;  ///< the node being lowered; nodes of regions belong to other graphs
  std::string value_;           ///< its first output
  int begun_ = 0;               ///< steps that are begun but not yet emitted
};

}  // namespace onnxc
