// KernelQuery: the interface for an operator's kernel query, which turns one node into steps and asks for operands in
// the form its kernels read.
//
//   void lower(KernelQuery& l) {
//     l.call("gather").tensor(l.out(0)).tensor(l.in(0)).tensor(l.in(1)).params({{"axis", l.dim(axis)}}).emit();
//   }
//
// If several kernels can do it, `consider` states each with its work, and the cheapest is built:
//
//   l.consider("gemm_14x32", macs, bytes, [&] { ... });
//   l.consider("scalar_gemm", macs, bytes, [&] { ... });
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/layout.h"
#include "compiler/ir/program.h"
#include "compiler/ops/operator.h"
#include "targets/target.h"

namespace onnxc {

/// Operands of an epilogue beside what the kernel computes: as many as onnxc::Epilogue has forms for.
constexpr int kMostEpilogueOperands = 4;

/// A value as it lies in a buffer.
struct View {
  PointerArg pointer;
  ElementType element = ElementType::Undefined;
  Extents extents;
  Layout layout;
  DimList strides() const { return strides_of(extents, layout); }
};

/// How an epilogue addresses the result as a matrix: the axes (in memory order) that make rows, then those that make columns.
struct EpilogueShape {
  DimList row_extents;        ///< outermost first
  std::vector<int> row_axes;  ///< ONNX's axis of each
  std::vector<int> col_axes;
};

/// Whether weights that a narrower type holds exactly are stored in that type; see select/weights/stored.h.
enum class NarrowWeights {
  Off,
  Auto,  ///< if it is predicted to be faster
  All,   ///< wherever kernels can read them
};
/// What results promise; docs/numerics.md is the page for users.
enum class Math {
  /// Each element of a product is within the error bound of a sum of products: no kernel mixes values.
  Strict,
  /// Kernels may mix values if no reader of their results magnifies the errors.
  Default,
  /// On a GPU operands of f32 products are rounded to 11 bits. Elsewhere as Default.
  Fast,
  /// As Fast, and where it is faster, operands of f32 products by constants are rounded to bfloat16, or their weights alone.
  Bf16,
  /// The same bits on every processor: as Strict, by kernels whose results do not depend on the machine (Kernel::varies).
  Reproducible
};
/// The name in --math.
const char* name(Math math);

/// The name in --narrow-weights.
const char* name(NarrowWeights narrow);

/// Weights that are packed on demand: `make` computes `count` floats from `source`.
struct Packed {
  std::span<const float> source;
  int64_t count;
  std::function<std::vector<float>()> make;
  /// What `source` belongs to, where `make` refers to nothing that ends before it: then many floats are made when they are written.
  Constant constant{};

  /// The `size` bytes that `store` makes of them.
  WeightBytes bytes(int64_t size, std::function<Bytes()> store) const;
};

struct KnownStorages;
class StepBuilder;
class Lowerer;

class KernelQuery {
 public:
  KernelQuery(Lowerer& lowerer, const Graph& graph, const Node& node) : lowerer_(lowerer), graph_(graph), node_(node) {}
  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  const Target& target() const;
  int64_t threads() const;  ///< scratch memory is needed once for each
  bool optimise() const;    ///< false at -O0: reference kernels only
  bool small() const;       ///< at -Os: of kernels that nearly tie, the one with less code
  NarrowWeights narrow_weights() const;
  Math math() const;
  bool may_mix() const;                   ///< kernels that mix values (Kernel::mixes) are allowed
  bool may_round() const;                 ///< operands may be rounded to bfloat16
  KnownStorages* known_storages() const;  ///< may be null
  bool weights_stream() const;            ///< the weights are too large to stay in L2 from one run to the next

  /// The nodes before this one that its kernel computes as well; see select/islands/.
  const std::vector<const Node*>& absorbed() const;
  /// The query of one of these nodes.
  KernelQuery of(const Node& node) const { return {lowerer_, graph_, node}; }

  bool has(int i) const { return node_.has_input(i); }
  bool has_output(int i) const { return node_.has_output(i); }
  const Type& type(int i) const { return graph_[node_.input(i)].type; }
  const Extents& extents(int i) const { return type(i).extents; }
  const Type& output_type(int i) const { return graph_[node_.output(i)].type; }
  const TensorData* constant(int i) const { return graph_.constant(node_.input(i)); }
  /// The same, for whoever reads it once the graph is gone.
  Constant kept_constant(int i) const { return has(i) ? graph_[node_.input(i)].constant : nullptr; }

  /// Input i, row-major. It is converted if it has another layout, and added to the weights if it is a constant.
  View in(int i);
  /// Input i in the layout that it has.
  View in_any(int i);
  /// Input i in `layout`. If that is channels-last, the pixel stride may differ.
  View in(int i, const Layout& layout);
  /// A value that the node reads, an operand of its epilogue among them, row-major.
  View operand(ValueId value);
  /// Output i, row-major. If the kernel does not apply the node's epilogue, see `apply_epilogue`.
  View out(int i);
  /// Output i in the layout assigned to it.
  View out_any(int i);
  Layout out_layout(int i) const;
  /// A packed constant.
  PointerArg weights(const std::string& from, const TensorData& tensor);
  PointerArg weights(const std::string& from, ElementType element, WeightBytes bytes, std::optional<int64_t> wide_bytes = std::nullopt);
  template <class T>
  PointerArg weights(const std::string& from, ElementType element, const std::vector<T>& values) {
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    return weights(from, element, WeightBytes(std::vector<std::byte>(first, first + values.size() * sizeof(T))));
  }
  /// Packed weights. In a draft (LowerOptions::draft), without their bytes.
  PointerArg weights(const std::string& from, const Packed& packed);
  /// In a draft, weights that are stored as `element`, without their bytes; otherwise empty.
  std::optional<PointerArg> draft(const std::string& from, const Packed& packed, ElementType element);
  /// Binds symbols to the elements of an integer tensor.
  void bind(PointerArg elements, DimList symbols);
  /// Binds a symbol to an extent, and ends the run if that is negative.
  void let(Dim symbol, Dim value);
  /// Ends the run if the requirement does not hold.
  void require(Requirement requirement);
  /// Output i as memory that the step itself finds or allocates; pass it with StepBuilder::address. `borrowed`: it
  /// belongs to another value.
  View out_address(int i, bool borrowed);
  /// Input i or output i, which is a sequence, an optional or a map, as a pointer to its onnxc_value.
  PointerArg object(int i);
  PointerArg out_object(int i);
  /// Moves input j, which is a sequence, an optional or a map, to output i.
  void pass_object(int output, int input);
  /// The symbols that this node binds, in the order in which its shape rule asked for them.
  Dim symbol(std::size_t i) const { return Dim::symbol(node_.binds.at(i)); }
  /// Scratch memory that lives during the steps of this node and of others that read it.
  PointerArg workspace(const std::string& name, ElementType element, Dim elements);
  /// The same, with this number of elements for each thread share of a step.
  PointerArg thread_workspace(const std::string& name, ElementType element, Dim elements);
  /// Scratch memory of a reference kernel, which a processor runs in one piece: this number of elements for each share of a GPU's step,
  /// which has at most `pieces` of them.
  PointerArg share_workspace(const std::string& name, ElementType element, Dim elements, Dim pieces);
  /// States that output 0 is an image [n, c, h, w] and that a step of this node also writes the sums of its rows of
  /// pixels, [n, h, c].
  void keep_row_sums(PointerArg sums);
  /// The row sums of input i, as a channels-last image [n, c, h, 1]. Empty if there are none.
  std::optional<View> row_sums(int i) const;

  /// What the node's steps need beside onnxc's runtime: a header as in `#include`, or a library by its name.
  void include(const std::string& header);
  void link(const std::string& library);

  /// Whether the first element of a row-major view is known to lie at a multiple of so many bytes. Inputs and outputs on
  /// a GPU lie at multiples of 16.
  bool is_aligned(const View& view, int64_t bytes) const;
  /// Output 0 as a kernel has defined it.
  View result() const;
  /// Output i is the memory of input j from element `offset` on, row-major.
  void alias(int output, int input, Dim offset = 0);
  /// Output i lies inside other values, at `view`.
  void out_view(int i, View view);
  bool is_defined(int output) const;  ///< defined by one of its operands; see concat_in_place.h

  /// A call of the kernel of that row; ends with StepBuilder::emit.
  [[nodiscard]] StepBuilder call(std::string_view row);
  /// Copies between any two places of the same extents. Strides are in elements.
  void copy(const Extents& extents, PointerArg to, const DimList& to_strides, PointerArg from, const DimList& from_strides,
            ElementType element);

  /// Nested conditions as a type.
  BranchesType branches(Branches branches);
  /// The node's epilogue as an argument, for a result seen as `shape`; Keep if there is none.
  /// `bias`: values of the sums' type, one for each column, that kernels without a bias of their own add before.
  EpilogueArg epilogue(const EpilogueShape& shape, StepBuilder& step, std::optional<PointerArg> bias = std::nullopt);
  /// An expression that the kernel itself applies: x0 is what it computes, and x_i (i > 0) the i-th operand.
  EpilogueArg epilogue(const Expr& expr, std::vector<FormArg> operands);
  EpilogueShape matrix_shape(const Extents& extents) const;  ///< all axes but the last are rows
  EpilogueShape image_shape(const Extents& extents) const;   ///< channels are columns
  /// Where a kernel without an epilogue writes `element`s: `y`, or memory from which the node's epilogue makes y, if y has another type.
  View before_epilogue(const View& y, ElementType element);
  /// For kernels without an epilogue: applies the node's epilogue in a loop of its own, in place.
  void apply_epilogue(View result);
  /// The same from sums that lie elsewhere, or have another type.
  void apply_epilogue(View result, View from);

  /// y = expr(x0, x1, ...) for every element of y, as a loop; each x broadcasts to y. y may be one of them.
  void map_loop(const Expr& expr, View y, const std::vector<View>& x);

  /// States a candidate, unless its kernel mixes values and must not. `build` emits its steps. When the node is done,
  /// the cheapest row that the target can run is chosen. `growth`: the bytes by which its weights exceed the model's.
  /// `note` and `narrow`: as in Choice::Candidate. Narrow candidates do not influence the choice of the kernel, and
  /// so results do not depend on them; they only decide how the chosen kernel's weights are stored.
  void consider(std::string_view row, double macs, double bytes, std::function<void()> build, int64_t growth = 0, std::string note = {},
                bool narrow = false);
  void build_cheapest();

  [[noreturn]] void fail(ErrorCode code, std::string found, std::string remedy = {}) const {
    node_.fail(code, std::move(found), std::move(remedy));
  }
  [[noreturn]] void unsupported(std::string found, std::string remedy = {}) const {
    node_.fail(ErrorKind::Unsupported, std::move(found), std::move(remedy));
  }

 private:
  friend class StepBuilder;
  Lowerer& lowerer_;
  const Graph& graph_;
  const Node& node_;
  /// Whether no reader magnifies errors, and nothing is exact.
  bool may_depart() const;
  struct Considered {
    const Kernel* kernel;
    double cost;
    int64_t growth;
    std::string note;
    bool narrow;
    std::function<void()> build;
  };
  std::vector<Considered> considered_;
  bool varying_ = false;  // a candidate was left out since its results depend on the machine
  std::string signature() const;
};

/// Builds one step, which `emit` adds to the program. Lowerer::lower_node checks that every step is emitted.
class StepBuilder {
 public:
  StepBuilder(KernelQuery& lowering, const Kernel& kernel);
  StepBuilder(const StepBuilder&) = delete;

  StepBuilder& pointer(PointerArg p);
  StepBuilder& pointer(const View& v) { return pointer(v.pointer); }
  StepBuilder& tensor(const View& v);
  /// A tensor that may be absent: an empty Tensor<const T>.
  StepBuilder& optional_tensor(int input);
  StepBuilder& dim(Dim value);
  StepBuilder& dims(DimList values);
  StepBuilder& arg(Arg a);
  StepBuilder& flag(bool value) { return arg(FlagArg{value}); }
  StepBuilder& enumerator(std::string type, std::string value) { return arg(EnumArg{std::move(type), std::move(value)}); }
  /// A null pointer. `element` is needed if the parameter takes pointers of several types.
  StepBuilder& null(ElementType element = ElementType::Undefined) { return arg(NullArg{element}); }
  /// Input i, row-major, or null if it is absent.
  StepBuilder& optional_pointer(int input, ElementType element = ElementType::Undefined);
  StepBuilder& number(double value, ElementType type = ElementType::F32);
  StepBuilder& epilogue(EpilogueArg e);
  StepBuilder& form(FormArg f);
  /// {.name = value, ...}
  StepBuilder& params(NamedArgs members);
  StepBuilder& binds(Dim symbol);       ///< &symbol: the kernel stores the extent
  StepBuilder& address(const View& v);  ///< &pointer: the kernel stores the address of the elements
  StepBuilder& heap();                  ///< the caller's allocator
  StepBuilder& template_arg(TemplateArg a);
  StepBuilder& macs(Dim macs);
  StepBuilder& work(Dim operations);  ///< operations other than multiply-adds of tensors; only the predicted cost counts them
  /// The predicted cost counts so many bytes more, as some come from beyond L2.
  StepBuilder& bytes_from_afar(double more);
  StepBuilder& specialised();  ///< see Call
  StepBuilder& may_share(const View& written, const View& read);
  Call& call() { return call_; }
  void emit();

 private:
  KernelQuery& lowering_;
  Call call_;
  std::string what_;
  Dim work_ = 0;
  double bytes_from_afar_ = 0;
};

/// Arguments of params.
inline Arg dim_arg(Dim value) { return DimArg{value}; }
inline Arg dims_arg(DimList values) { return DimsArg{std::move(values)}; }
inline Arg dims_arg(const std::vector<int64_t>& values) { return DimsArg{{values.begin(), values.end()}}; }
inline Arg params_arg(NamedArgs members) { return std::make_shared<ParamsArg>(ParamsArg{std::move(members)}); }
inline Arg flag_arg(bool value) { return FlagArg{value}; }
inline Arg number_arg(double value) { return NumberArg{value}; }

/// The kernel query of Map: an elementwise loop.
void lower_map(KernelQuery& l);

/// The form and its members by which an epilogue reads an operand of `extents` (aligned to the result's axes from the
/// right), without the pointer. Empty if its broadcast has no form.
std::optional<FormArg> epilogue_operand(const EpilogueShape& shape, const Extents& result, const Extents& operand,
                                        const DimList& operand_strides);

}  // namespace onnxc
