#include "compiler/ops/kernel_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/lowering/lowerer.h"
#include "compiler/ops/broadcast.h"
#include "compiler/select/signature.h"

namespace onnxc {
namespace {

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

}  // namespace

const Target& KernelQuery::target() const { return lowerer_.target_; }
int64_t KernelQuery::threads() const { return lowerer_.options_.threads; }
bool KernelQuery::optimise() const { return lowerer_.options_.optimise; }

View KernelQuery::in_any(int i) { return lowerer_.place(*lowerer_.scope_, node_.input(i), nullptr); }
View KernelQuery::in(int i) {
  const Layout plain;
  return lowerer_.place(*lowerer_.scope_, node_.input(i), &plain);
}
View KernelQuery::in(int i, const Layout& layout) { return lowerer_.place(*lowerer_.scope_, node_.input(i), &layout); }

Layout KernelQuery::out_layout(int i) const { return lowerer_.scope_->layouts[static_cast<std::size_t>(node_.output(i))]; }
View KernelQuery::out(int i) { return lowerer_.define(*lowerer_.scope_, node_.output(i), {}); }
View KernelQuery::out_any(int i) { return lowerer_.define(*lowerer_.scope_, node_.output(i), out_layout(i)); }

PointerArg KernelQuery::weights(const std::string& from, ElementType element, std::vector<std::byte> bytes,
                                std::optional<int64_t> wide_bytes) {
  return lowerer_.add_weights(from, element, std::move(bytes), wide_bytes);
}
PointerArg KernelQuery::weights(const std::string& from, const Packed& packed) {
  if (const auto place = draft(from, packed, ElementType::F32)) return *place;
  std::vector<float> floats = packed.make();
  ONNXC_CHECK(static_cast<int64_t>(floats.size()) == packed.count, "packed weights have the size that was foreseen");
  if (lowerer_.options_.flush_weights) {
    for (float& x : floats) x = std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  }
  return weights(from, ElementType::F32, floats);
}
std::optional<PointerArg> KernelQuery::draft(const std::string& from, const Packed& packed, ElementType element) {
  return lowerer_.options_.draft ? std::optional(lowerer_.draft_weights(from, packed, element)) : std::nullopt;
}
KnownStorages* KernelQuery::known_storages() const { return lowerer_.options_.storages.get(); }
NarrowWeights KernelQuery::narrow_weights() const { return lowerer_.options_.narrow_weights; }
bool KernelQuery::may_mix() const {
  const auto may = [](const Node& node) { return !is_exact(node) && !is_direct(node); };
  return lowerer_.options_.math == Math::Default && may(node_) &&
         std::ranges::all_of(absorbed(), [&](const Node* node) { return may(*node); });
}
bool KernelQuery::weights_stream() const { return lowerer_.streaming_ > target().machine->memory.l2; }

void KernelQuery::include(const std::string& header) { add_once(lowerer_.program_.includes, header); }
void KernelQuery::link(const std::string& library) { add_once(lowerer_.program_.libraries, library); }
PointerArg KernelQuery::weights(const std::string& from, const TensorData& tensor) { return lowerer_.add_weights(from, tensor); }

PointerArg KernelQuery::workspace(const std::string& name, ElementType element, Dim elements) {
  const BufferId b = lowerer_.add_storage({.name = node_.name + "." + name,
                                           .place = Buffer::Place::Arena,
                                           .element = element,
                                           .extents = {elements},
                                           .bytes = elements * (held_bits(element) / 8)});
  return {b, true, 0, element};
}

PointerArg KernelQuery::part_workspace(const std::string& name, ElementType element, Dim elements) {
  if (threads() <= 1) return workspace(name, element, elements);
  constexpr int64_t kLine = 64;  // bytes
  const Dim stride = round_up(elements, kLine * 8 / held_bits(element));
  PointerArg room = workspace(name, element, stride * threads());
  room.part_stride = stride;
  return room;
}

void KernelQuery::keep_row_sums(PointerArg sums) { lowerer_.scope_->row_sums.emplace(node_.outputs[0], sums); }

std::optional<View> KernelQuery::row_sums(int i) const {
  const auto found = lowerer_.scope_->row_sums.find(node_.input(i));
  if (found == lowerer_.scope_->row_sums.end()) return std::nullopt;
  PointerArg sums = found->second;
  sums.writes = false;
  const Extents& image = extents(i);
  return View{sums, ElementType::F32, {image[0], image[1], image[2], 1}, {true, image[1]}};
}

void KernelQuery::alias(int output, int input, Dim offset) {
  View view = in(input);
  const ValueId out = node_.output(output);
  const Type& type = graph_[out].type;
  // The offset of the view is only known during the run, so it is added to the pointer.
  if (offset.depends_on_run() || view.pointer.offset.depends_on_run()) {
    view.pointer.offset += offset;
    view.pointer.reach = 0;
    view.pointer.as = view.element = type.element;
    view.extents = type.extents;
    return lowerer_.define_view(*lowerer_.scope_, out, view);
  }
  const BufferId parent = view.pointer.buffer;
  const Dim bytes = bytes_of(type);
  const BufferId b = lowerer_.add_buffer({.name = graph_[out].name,
                                          .place = lowerer_.program_[parent].place,
                                          .element = type.element,
                                          .extents = type.extents,
                                          .bytes = bytes,
                                          .index = lowerer_.program_[parent].index,
                                          .parent = parent,
                                          .offset = (offset + view.pointer.offset) * (held_bits(view.element) / 8)});
  lowerer_.define_view(*lowerer_.scope_, out, {{b, true, 0, type.element}, type.element, type.extents, {}});
}

void KernelQuery::out_view(int i, View view) {
  const Type& type = output_type(i);
  view.extents = type.extents;
  view.pointer.as = view.element = type.element;
  const bool pixels = view.layout.channels_last && view.layout.pixel_stride == lowerer_.program_[view.pointer.buffer].pixel_stride;
  // The view may have more channels than the value it was derived from, as a Concat of adjoining operands has.
  view.pointer.reach = pixels ? type.extents[1] : Dim(0);
  lowerer_.define_view(*lowerer_.scope_, node_.output(i), view);
}

bool KernelQuery::is_defined(int output) const { return !lowerer_.scope_->places[static_cast<std::size_t>(node_.output(output))].empty(); }

void KernelQuery::bind(PointerArg elements, DimList symbols) {
  lowerer_.emit(Bind{std::move(symbols), elements}, fmt::format("the elements of '{}' as extents", node_.name));
}

void KernelQuery::let(Dim symbol, Dim value) {
  lowerer_.declare({symbol}, {value});
  if (value.min_value() >= 0) return;
  require({symbol, 0, Requirement::Kind::NotNegative, fmt::format("{} '{}'", node_.full_op(), node_.name)});
}

void KernelQuery::require(Requirement requirement) { lowerer_.require(std::move(requirement)); }

View KernelQuery::out_address(int i, bool borrowed) {
  const ValueId value = node_.output(i);
  const Value& v = graph_[value];
  const BufferId b = lowerer_.declare_pointer({.name = v.name,
                                               .place = Buffer::Place::Heap,
                                               .element = v.type.element,
                                               .extents = v.type.extents,
                                               .bytes = element_count(v.type.extents) * (held_bits(v.type.element) / 8),
                                               .borrowed = borrowed});
  const View view{{b, true, 0, v.type.element}, v.type.element, v.type.extents, {}};
  lowerer_.define_view(*lowerer_.scope_, value, view);
  return view;
}

PointerArg KernelQuery::object(int i) { return lowerer_.place(*lowerer_.scope_, node_.input(i), nullptr).pointer; }
PointerArg KernelQuery::out_object(int i) { return lowerer_.define_object(*lowerer_.scope_, node_.output(i)).pointer; }

void KernelQuery::pass_object(int output, int input) {
  const PointerArg from = object(input);
  lowerer_.move_object(out_object(output), from);
}

StepBuilder KernelQuery::call(std::string_view row) { return StepBuilder(*this, find_kernel(row)); }

void KernelQuery::copy(const Extents& extents, PointerArg to, const DimList& to_strides, PointerArg from, const DimList& from_strides,
                       ElementType element) {
  lowerer_.copy(extents, to, to_strides, from, from_strides, element,
                fmt::format("{} '{}': {}", node_.full_op(), node_.name, text(extents)));
}

EpilogueShape KernelQuery::matrix_shape(const Extents& extents) const {
  EpilogueShape shape;
  for (std::size_t axis = 0; axis + 1 < extents.size(); ++axis) {
    shape.row_extents.push_back(extents[axis]);
    shape.row_axes.push_back(static_cast<int>(axis));
  }
  if (!extents.empty()) shape.col_axes.push_back(static_cast<int>(extents.size()) - 1);
  return shape;
}

EpilogueShape KernelQuery::image_shape(const Extents& extents) const {
  EpilogueShape shape;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis == 1) continue;
    shape.row_extents.push_back(extents[axis]);
    shape.row_axes.push_back(static_cast<int>(axis));
  }
  shape.col_axes.push_back(1);
  return shape;
}

std::optional<FormArg> epilogue_operand(const EpilogueShape& shape, const Extents& result, const Extents& operand,
                                        const DimList& operand_strides) {
  for (std::size_t k = 0; k < operand.size(); ++k) {
    // Such an operand needs a loop of its own.
    if (may_repeat(operand[k], result[result.size() - operand.size() + k])) return std::nullopt;
  }
  const auto stride_of = [&](int axis) {
    const int at = axis - static_cast<int>(result.size() - operand.size());
    if (at < 0 || operand[static_cast<std::size_t>(at)] == Dim(1)) return Dim(0);
    return operand_strides[static_cast<std::size_t>(at)];
  };
  const auto extent_of = [&](int axis) { return result[static_cast<std::size_t>(axis)]; };
  // Columns: the operand has all of them at stride 1, or none.
  Dim col_stride = 1;
  bool by_col = false, any_col = false;
  for (std::size_t k = shape.col_axes.size(); k-- > 0;) {
    const int axis = shape.col_axes[k];
    if (extent_of(axis) == Dim(1)) continue;
    const Dim s = stride_of(axis);
    if (!any_col) by_col = !(s == Dim(0));
    any_col = true;
    if (by_col ? !(s == col_stride) : !(s == Dim(0))) return std::nullopt;
    col_stride *= extent_of(axis);
  }
  // Rows: extents and strides from the innermost outwards. Neighbouring axes that have the same effect are merged.
  struct Axis {
    Dim extent, stride;
  };
  std::vector<Axis> rows;
  for (std::size_t k = shape.row_axes.size(); k-- > 0;) {
    const Dim extent = extent_of(shape.row_axes[k]), stride = stride_of(shape.row_axes[k]);
    if (extent == Dim(1)) continue;
    if (!rows.empty() && ((rows.back().stride == Dim(0) && stride == Dim(0)) ||
                          (!(rows.back().stride == Dim(0)) && stride == rows.back().stride * rows.back().extent))) {
      rows.back().extent *= extent;
    } else {
      rows.push_back({extent, stride});
    }
  }
  FormArg form;
  const auto make = [&](const char* name, DimList members) {
    form.form = name;
    form.members = std::move(members);
    return form;
  };
  if (rows.empty() || (rows.size() == 1 && rows[0].stride == Dim(0))) return by_col ? make("PerCol", {}) : make("Single", {});
  if (rows.size() == 1) return by_col ? make("Rows", {rows[0].stride}) : make("PerRow", {1, rows[0].stride});
  // The operand repeats over the inner rows.
  if (rows.size() == 2 && rows[0].stride == Dim(0)) {
    return by_col ? make("PerGroup", {rows[0].extent, rows[1].stride}) : make("PerRow", {rows[0].extent, rows[1].stride});
  }
  if (rows.size() == 2 && rows[1].stride == Dim(0) && by_col) return make("Repeat", {rows[0].extent, rows[0].stride});
  return std::nullopt;
}

EpilogueArg KernelQuery::epilogue(const EpilogueShape& shape, StepBuilder& step) {
  EpilogueArg arg;
  if (!node_.epilogue) return arg;
  arg.expr = lowerer_.add_expr(*node_.epilogue);
  const Extents& result = graph_[node_.outputs[0]].type.extents;
  const int own = node_.own_inputs();
  for (int i = 0; i < node_.epilogue_operands; ++i) {
    const ValueId v = node_.inputs[static_cast<std::size_t>(own + i)];
    const Extents& extents = graph_[v].type.extents;
    View view;
    // Images are read in the result's layout. An operand with one value for each channel may have any layout.
    const bool image = shape.col_axes.size() == 1 && shape.col_axes[0] == 1 && result.size() >= 3 && extents.size() == result.size();
    if (image && !graph_[v].constant) {
      const Layout layout = extents == result ? out_layout(0) : Layout{true, extents[1]};
      view = lowerer_.place(*lowerer_.scope_, v, &layout);
    } else {
      const Layout plain;
      view = lowerer_.place(*lowerer_.scope_, v, &plain);
    }
    auto form = epilogue_operand(shape, result, extents, view.strides());
    ONNXC_CHECK(form.has_value(), "fuse_expressions fuses operands that have a form");
    form->pointer = view.pointer;
    if (form->form == "Rows" && extents == result) step.may_share(this->result(), view);
    arg.operands.push_back(std::move(*form));
  }
  return arg;
}

EpilogueArg KernelQuery::epilogue(const Expr& expr, std::vector<FormArg> operands) {
  return {lowerer_.add_expr(expr), std::move(operands)};
}

View KernelQuery::result() const { return lowerer_.scope_->places[static_cast<std::size_t>(node_.outputs[0])].front(); }

void KernelQuery::apply_epilogue(View result) {
  if (!node_.epilogue) return;
  std::vector<View> operands{result};
  operands[0].pointer.writes = false;
  const Layout plain;
  for (int i = 0; i < node_.epilogue_operands; ++i) {
    const ValueId v = node_.inputs[static_cast<std::size_t>(node_.own_inputs() + i)];
    operands.push_back(lowerer_.place(*lowerer_.scope_, v, nullptr));
  }
  map_loop(*node_.epilogue, result, operands);
}

const std::vector<const Node*>& KernelQuery::absorbed() const {
  static const std::vector<const Node*> kNone;
  const auto it = lowerer_.absorbed_.find(&node_);
  return it == lowerer_.absorbed_.end() ? kNone : it->second.nodes;
}

void KernelQuery::consider(std::string_view row, double macs, double bytes, std::function<void()> build, int64_t growth, std::string note,
                           bool narrow) {
  const Kernel& kernel = find_kernel(row);
  if (!target().features.include(kernel.needs) || (kernel.mixes && !may_mix())) return;
  considered_.push_back({&kernel, kernel.cost(macs, bytes * lowerer_.streaming_), growth, std::move(note), narrow, std::move(build)});
}

std::string KernelQuery::signature() const {
  std::string text = signature_of(graph_, node_, absorbed(), lowerer_.scope_->layouts, lowerer_.streaming_);
  // Blocks are smaller then.
  if (target().workspace > 0) text += fmt::format(", workspace {}", target().workspace);
  return text;
}

void KernelQuery::build_cheapest() {
  if (considered_.empty()) return;
  const LowerOptions& options = lowerer_.options_;
  Choice choice{fmt::format("{} '{}'", node_.full_op(), node_.name), graph_[node_.outputs[0]].name, {}, 0, signature()};
  for (const auto& c : considered_) choice.candidates.push_back({std::string(c.kernel->name), c.cost, c.growth, c.note, c.narrow});
  if (options.tuning != nullptr) {
    if (const auto known = options.tuning->find(choice.signature); known != options.tuning->end())
      apply_measured(choice.candidates, known->second);
  }
  const std::size_t number = lowerer_.choice_++;
  const std::size_t pick = number < options.picks.size() ? options.picks[number] : cheapest(choice);
  ONNXC_CHECK(pick < considered_.size(), "a pick is one of the candidates");
  choice.winner = with_storage(choice, pick, narrow_weights() == NarrowWeights::All);
  const double cost = choice.candidates[choice.winner].cost_ns;
  const auto [kernel, predicted, growth, note, narrow, build] = std::move(considered_[choice.winner]);
  considered_.clear();
  if (lowerer_.choices_ != nullptr) lowerer_.choices_->push_back(std::move(choice));
  std::vector<Step>& steps = *lowerer_.steps_;
  const std::size_t first = steps.size();
  build();
  const auto step = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(),
                                 [&, row = kernel->name](const Step& s) { return s.call() != nullptr && s.call()->kernel == row; });
  if (step == steps.end()) return;
  step->call()->cost_ns = cost;
  if (!note.empty()) step->what += ", " + note;
}

namespace {

/// The bytes of the tensors that a node reads and writes, without constants.
Dim bytes_moved(const Graph& graph, const Node& node) {
  Dim bytes = 0;
  const auto add = [&](ValueId v) {
    if (v == kAbsent || graph[v].constant != nullptr || !graph[v].type.is_tensor() || !graph[v].type.ranked) return;
    bytes += bytes_of(graph[v].type);
  };
  for (int i = 0; i < node.own_inputs(); ++i) add(node.input(i));
  for (ValueId v : node.outputs) add(v);
  return bytes;
}

/// `Conv 'a' + clip + Conv 'b': f32[1, 3, 8, 8] -> f32[1, 16, 4, 4]`: the nodes of a step and their epilogues, the
/// inputs that come from outside the step, and the result of the last node.
std::string description(const Graph& graph, const std::vector<const Node*>& absorbed, const Node& last) {
  constexpr int kMostInputs = 2;
  std::vector<const Node*> nodes = absorbed;
  nodes.push_back(&last);
  const auto is_inner = [&](ValueId v) {
    return std::ranges::any_of(nodes, [&](const Node* node) { return std::ranges::find(node->outputs, v) != node->outputs.end(); });
  };
  std::string names, shapes;
  int inputs = 0;
  for (const Node* node : nodes) {
    names += fmt::format("{}{} '{}'", names.empty() ? "" : " + ", node->is_map() ? "elementwise" : node->full_op(), node->name);
    if (node->epilogue && !node->is_map()) names += " + " + summary(*node->epilogue);
    for (int i = 0; i < node->own_inputs() && inputs < kMostInputs; ++i) {
      if (!node->has_input(i) || graph[node->input(i)].constant || is_inner(node->input(i))) continue;
      shapes += (inputs++ == 0 ? "" : ", ") + graph[node->input(i)].type.text();
    }
  }
  return fmt::format("{}: {} -> {}", names, shapes, last.has_output(0) ? graph[last.output(0)].type.text() : "");
}

}  // namespace

StepBuilder::StepBuilder(KernelQuery& lowering, const Kernel& kernel) : lowering_(lowering), call_(call_of(kernel)) {
  ++lowering.lowerer_.begun_;
  what_ = description(lowering.graph_, lowering.absorbed(), lowering.node_);
}

void StepBuilder::emit() {
  if (call_.bytes == Dim(0)) call_.bytes = bytes_moved(lowering_.graph_, lowering_.node_);
  const Dim operations = call_.macs + work_;
  if (operations.is_constant() && call_.bytes.is_constant())
    call_.cost_ns = find_kernel(call_.kernel).cost(static_cast<double>(operations.value()), static_cast<double>(call_.bytes.value()));
  --lowering_.lowerer_.begun_;
  lowering_.lowerer_.emit(std::move(call_), std::move(what_));
}

StepBuilder& StepBuilder::pointer(PointerArg p) {
  call_.args.emplace_back(p);
  return *this;
}
StepBuilder& StepBuilder::tensor(const View& v) {
  ONNXC_CHECK(!v.layout.channels_last, "a Tensor argument is row-major");
  call_.args.emplace_back(TensorArg{v.pointer, v.extents});
  return *this;
}
StepBuilder& StepBuilder::optional_tensor(int input) {
  if (lowering_.has(input)) return tensor(lowering_.in(input));
  call_.args.emplace_back(AbsentArg{});
  return *this;
}
StepBuilder& StepBuilder::dim(Dim value) {
  call_.args.emplace_back(DimArg{value});
  return *this;
}
StepBuilder& StepBuilder::dims(DimList values) {
  call_.args.emplace_back(DimsArg{std::move(values)});
  return *this;
}
StepBuilder& StepBuilder::number(double value, ElementType type) {
  call_.args.emplace_back(NumberArg{value, type});
  return *this;
}
StepBuilder& StepBuilder::epilogue(EpilogueArg e) {
  call_.args.emplace_back(std::move(e));
  return *this;
}
StepBuilder& StepBuilder::form(FormArg f) {
  call_.args.emplace_back(std::move(f));
  return *this;
}
StepBuilder& StepBuilder::arg(Arg a) {
  call_.args.push_back(std::move(a));
  return *this;
}
StepBuilder& StepBuilder::binds(Dim symbol) {
  call_.binds.push_back(symbol);
  call_.args.emplace_back(SymbolArg{symbol});
  return *this;
}
StepBuilder& StepBuilder::address(const View& v) {
  call_.args.emplace_back(AddressArg{v.pointer.buffer});
  return *this;
}
StepBuilder& StepBuilder::heap() {
  lowering_.lowerer_.need_heap(lowering_.node_);
  call_.args.emplace_back(UnitArg::Heap);
  return *this;
}
StepBuilder& StepBuilder::params(NamedArgs members) {
  call_.args.emplace_back(std::make_shared<ParamsArg>(ParamsArg{std::move(members)}));
  return *this;
}
StepBuilder& StepBuilder::template_arg(TemplateArg a) {
  call_.template_args.push_back(std::move(a));
  return *this;
}
StepBuilder& StepBuilder::specialised() {
  call_.specialised = true;
  return *this;
}

StepBuilder& StepBuilder::macs(Dim macs) {
  call_.macs = macs;
  return *this;
}
StepBuilder& StepBuilder::work(Dim operations) {
  work_ = operations;
  return *this;
}
StepBuilder& StepBuilder::may_share(const View& written, const View& read) {
  // A part of a larger buffer may have neighbours that are still live.
  const bool whole = written.pointer.offset == Dim(0) && read.pointer.offset == Dim(0);
  if (whole && same_storage(written.extents, written.layout, read.layout))
    call_.may_share.emplace_back(written.pointer.buffer, read.pointer.buffer);
  return *this;
}

const char* name(Math math) { return math == Math::Strict ? "strict" : "default"; }
const char* name(NarrowWeights narrow) { return narrow == NarrowWeights::Off ? "off" : narrow == NarrowWeights::All ? "all" : "auto"; }

}  // namespace onnxc
