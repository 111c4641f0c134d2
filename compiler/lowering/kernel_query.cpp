#include "compiler/ops/kernel_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/lowering/lowerer.h"
#include "compiler/select/signature.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

}  // namespace

WeightBytes Packed::bytes(int64_t size, std::function<Bytes()> store) const {
  WeightBytes all = constant ? WeightBytes::made(size, {constant}, std::move(store)) : WeightBytes(store());
  ONNXC_CHECK(static_cast<int64_t>(all.size()) == size, "packed weights have the size that was foreseen");
  return all;
}

const Target& KernelQuery::target() const { return lowerer_.target_; }
int64_t KernelQuery::threads() const { return lowerer_.options_.threads; }
bool KernelQuery::optimise() const { return lowerer_.options_.optimise && lowerer_.device_ == Device::Cpu; }

View KernelQuery::in_any(int i) { return lowerer_.view_of(*lowerer_.scope_, node_.input(i), nullptr); }
View KernelQuery::in(int i) { return operand(node_.input(i)); }
View KernelQuery::operand(ValueId value) {
  const Layout row_major;
  return lowerer_.view_of(*lowerer_.scope_, value, &row_major);
}
View KernelQuery::in(int i, const Layout& layout) { return lowerer_.view_of(*lowerer_.scope_, node_.input(i), &layout); }

Layout KernelQuery::out_layout(int i) const { return lowerer_.scope_->layouts[node_.output(i)]; }
View KernelQuery::out(int i) { return lowerer_.define(*lowerer_.scope_, node_.output(i), {}); }
View KernelQuery::out_any(int i) { return lowerer_.define(*lowerer_.scope_, node_.output(i), out_layout(i)); }

PointerArg KernelQuery::weights(const std::string& from, ElementType element, WeightBytes bytes, std::optional<int64_t> wide_bytes) {
  return lowerer_.add_weights(from, element, std::move(bytes), wide_bytes);
}
PointerArg KernelQuery::weights(const std::string& from, const Packed& packed) {
  if (const auto pointer = draft(from, packed, ElementType::F32)) return *pointer;
  const auto make = [make_floats = packed.make, flush = lowerer_.options_.flush_weights] {
    std::vector<float> floats = make_floats();
    if (flush) {
      for (float& x : floats) x = std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
    }
    return Bytes::of(std::move(floats));
  };
  return weights(from, ElementType::F32, packed.bytes(4 * packed.count, make));
}
std::optional<PointerArg> KernelQuery::draft(const std::string& from, const Packed& packed, ElementType element) {
  return lowerer_.options_.draft ? std::optional(lowerer_.draft_weights(from, packed, element)) : std::nullopt;
}
KnownStorages* KernelQuery::known_storages() const { return lowerer_.options_.storages.get(); }
NarrowWeights KernelQuery::narrow_weights() const { return lowerer_.options_.narrow_weights; }
bool KernelQuery::small() const { return lowerer_.options_.small; }
Math KernelQuery::math() const { return lowerer_.options_.math; }
bool KernelQuery::may_depart() const {
  const auto may = [](const Node& node) { return !is_exact(node) && !is_direct(node); };
  return may(node_) && std::ranges::all_of(absorbed(), [&](const Node* node) { return may(*node); });
}
bool KernelQuery::may_mix() const { return math() != Math::Strict && math() != Math::Reproducible && !small() && may_depart(); }
bool KernelQuery::may_round() const { return math() == Math::Bf16 && may_depart(); }
bool KernelQuery::weights_stream() const { return lowerer_.streaming_ > target().machine->memory.l2; }

void KernelQuery::include(const std::string& header) { add_once(lowerer_.program_.includes, header); }
BranchesType KernelQuery::branches(Branches branches) { return {lowerer_.add_branches(std::move(branches))}; }
void KernelQuery::link(const std::string& library) { add_once(lowerer_.program_.libraries, library); }
PointerArg KernelQuery::weights(const std::string& from, const TensorData& tensor) { return lowerer_.add_weights(from, tensor); }

PointerArg KernelQuery::workspace(const std::string& name, ElementType element, Dim elements) {
  const BufferId b = lowerer_.add_storage({.name = node_.name + "." + name,
                                           .space = Buffer::Space::Arena,
                                           .element = element,
                                           .extents = {elements},
                                           .bytes = elements * (held_bits(element) / 8)});
  return {b, true, 0, element};
}

PointerArg KernelQuery::thread_workspace(const std::string& name, ElementType element, Dim elements) {
  if (lowerer_.device_ == Device::Gpu) return share_workspace(name, element, elements, INT64_MAX);
  if (threads() <= 1) return workspace(name, element, elements);
  constexpr int64_t kLine = 64;  // bytes
  const Dim stride = round_up(elements, kLine * 8 / held_bits(element));
  PointerArg room = workspace(name, element, stride * threads());
  room.thread_stride = stride;
  return room;
}

PointerArg KernelQuery::share_workspace(const std::string& name, ElementType element, Dim elements, Dim pieces) {
  if (lowerer_.device_ == Device::Cpu) return workspace(name, element, elements);
  constexpr int64_t kLine = 128, kMostShares = 4096, kMostBytes = int64_t{32} << 20, kSharesOfAnySize = 128;
  const int64_t bits = held_bits(element);
  const Dim stride = round_up(elements, kLine * 8 / bits);
  int64_t most = kSharesOfAnySize;
  if (stride.is_constant()) most = std::clamp<int64_t>(kMostBytes / std::max<int64_t>(stride.value() * bits / 8, 1), 1, kMostShares);
  Dim results = 0;
  for (ValueId v : node_.outputs) {
    if (v != kAbsent) results = max(results, element_count(graph_[v].type.extents));
  }
  const Dim shares = min(min(pieces, results), most);
  PointerArg room = workspace(name, element, stride * shares);
  room.thread_stride = stride;
  lowerer_.shares_of_scratch_.emplace(room.buffer, shares);
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

bool KernelQuery::is_aligned(const View& view, int64_t bytes) const {
  const auto is_multiple = [&](Dim offset) { return !offset.depends_on_run() && round_up(offset, bytes) == offset; };
  if (!is_multiple(view.pointer.offset * (held_bits(view.element) / 8))) return false;
  const Program& program = lowerer_.program_;
  for (BufferId b = view.pointer.buffer; program[b].parent >= 0; b = program[b].parent) {
    if (!is_multiple(program[b].offset)) return false;
  }
  return true;
}

void KernelQuery::alias(int output, int input, Dim offset) {
  View view = in(input);
  const ValueId out = node_.output(output);
  const Type& type = graph_[out].type;
  // The offset of the view is only known during the run, so it is added to the pointer.
  if (offset.depends_on_run() || view.pointer.offset.depends_on_run()) {
    view.pointer.offset += offset;
    view.pointer.extent_used = 0;
    view.pointer.as = view.element = type.element;
    view.extents = type.extents;
    return lowerer_.define_view(*lowerer_.scope_, out, view);
  }
  const BufferId parent = view.pointer.buffer;
  const Dim bytes = bytes_of(type);
  const BufferId b = lowerer_.add_buffer({.name = graph_[out].name,
                                          .space = lowerer_.program_[parent].space,
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
  view.pointer.extent_used = pixels ? type.extents[1] : Dim(0);
  lowerer_.define_view(*lowerer_.scope_, node_.output(i), view);
}

bool KernelQuery::is_defined(int output) const { return !lowerer_.scope_->views[node_.output(output)].empty(); }

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
                                               .space = Buffer::Space::Heap,
                                               .element = v.type.element,
                                               .extents = v.type.extents,
                                               .bytes = element_count(v.type.extents) * (held_bits(v.type.element) / 8),
                                               .borrowed = borrowed});
  const View view{{b, true, 0, v.type.element}, v.type.element, v.type.extents, {}};
  lowerer_.define_view(*lowerer_.scope_, value, view);
  return view;
}

PointerArg KernelQuery::object(int i) { return lowerer_.view_of(*lowerer_.scope_, node_.input(i), nullptr).pointer; }
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

const std::vector<const Node*>& KernelQuery::absorbed() const {
  static const std::vector<const Node*> kNone;
  const auto it = lowerer_.absorbed_.find(&node_);
  return it == lowerer_.absorbed_.end() ? kNone : it->second.nodes;
}

void KernelQuery::consider(std::string_view row, double macs, double bytes, std::function<void()> build, int64_t growth, std::string note,
                           bool narrow) {
  const Kernel& kernel = find_kernel(row);
  const bool flushes = lowerer_.options_.flush_weights;  // dot products of bfloat16 flush, whatever the processor's mode
  if (!target().features.include(kernel.needs) || (kernel.mixes && !may_mix()) || (kernel.bf16 && !(may_round() && flushes)) ||
      (kernel.varies && math() == Math::Reproducible)) {
    varying_ = varying_ || kernel.varies;
    return;
  }
  considered_.push_back({&kernel, kernel.cost(macs, bytes * lowerer_.streaming_), growth, std::move(note), narrow, std::move(build)});
}

std::string KernelQuery::signature() const {
  std::string text = signature_of(graph_, node_, absorbed(), lowerer_.scope_->layouts, lowerer_.streaming_);
  // Blocks are smaller then.
  if (target().workspace > 0) text += fmt::format(", workspace {}", target().workspace);
  return text;
}

void KernelQuery::build_cheapest() {
  if (considered_.empty() && varying_)
    throw Error(ErrorCode::NotReproducible, "results of each of its kernels depend on the machine", "leave --math=reproducible out");
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
  varying_ = false;
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

const char* name(Math math) {
  return math == Math::Strict         ? "strict"
         : math == Math::Fast         ? "fast"
         : math == Math::Bf16         ? "bf16"
         : math == Math::Reproducible ? "reproducible"
                                      : "default";
}
const char* name(NarrowWeights narrow) { return narrow == NarrowWeights::Off ? "off" : narrow == NarrowWeights::All ? "all" : "auto"; }

}  // namespace onnxc
