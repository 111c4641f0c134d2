#include "compiler/lowering/lowerer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "compiler/ops/shape_arithmetic.h"
#include "compiler/passes/assign_layouts.h"
#include "compiler/select/gpu/gpu_kernels.h"

namespace onnxc {

namespace {

std::string names_of(const DimList& symbols) {
  std::string names;
  for (Dim s : symbols) names += (names.empty() ? "" : ", ") + s.name();
  return names;
}

}  // namespace

Call call_of(const Kernel& kernel) {
  return {.kernel = std::string(kernel.name),
          .header = std::string(kernel.header),
          .function = std::string(kernel.function),
          .parallel = kernel.parallel,
          .fallible = kernel.fallible};
}

void set_cost_of_moving(Call& call) {
  if (call.bytes.is_constant()) call.cost_ns = find_kernel(call.kernel).cost(0, static_cast<double>(call.bytes.value()));
}

int Lowerer::add_expr(const Expr& expr) {
  std::string key;
  for (const auto& t : expr.terms)
    key += fmt::format("{},{},{},{},{},{},{};", static_cast<int>(t.kind), static_cast<int>(t.type), static_cast<int>(t.fn), t.args[0],
                       t.args[1], t.args[2], t.bits);
  const auto [it, fresh] = exprs_by_text_.emplace(key, static_cast<int>(program_.exprs.size()));
  if (fresh) program_.exprs.push_back(expr);
  return it->second;
}

int Lowerer::add_branches(Branches branches) {
  const auto known = std::ranges::find(program_.branches, branches);
  const auto number = static_cast<int>(known - program_.branches.begin());
  if (known == program_.branches.end()) program_.branches.push_back(std::move(branches));
  return number;
}

void Lowerer::emit(decltype(Step::action) action, std::string what) {
  if (device_ == Device::Gpu) run_on_gpu(action);
  steps_->push_back({std::move(action), std::move(what), value_});
  for (Dim symbol : symbols_bound(steps_->back())) bound_.insert(symbol.name());
}

void Lowerer::declare(DimList symbols, DimList values) {
  if (symbols.empty()) return;
  std::string what = names_of(symbols);
  emit(Declare{std::move(symbols), std::move(values)}, std::move(what));
}

void Lowerer::assign(DimList symbols, DimList values) {
  if (symbols.empty()) return;
  std::string what = names_of(symbols);
  emit(Assign{std::move(symbols), std::move(values)}, std::move(what));
}

View Lowerer::define_object(Scope& scope, ValueId value) {
  const Value& v = (*scope.graph)[value];
  View view{{-1, true, 0, ElementType::Undefined}, ElementType::Undefined, {}, {}};
  const auto output = output_pointers_.find({scope.graph, value});
  if (output != output_pointers_.end() && scope.views[value].empty()) {
    view.pointer = output->second;
  } else {
    view.pointer.buffer = declare_object(v);
  }
  scope.views[value].push_back(view);
  return view;
}

void Lowerer::move_object(PointerArg to, PointerArg from) {
  if (to.buffer == from.buffer) return;
  emit(MoveBuffer{to.buffer, from}, fmt::format("'{}' is '{}'", program_[to.buffer].name, program_[from.buffer].name));
}

void Lowerer::require(Requirement requirement) {
  std::string what = text(requirement);
  emit(Require{std::move(requirement)}, std::move(what));
}

View Lowerer::define_operand(Scope& scope, ValueId value, const ConcatOperand& operand) {
  const Value& v = (*scope.graph)[value];
  View view = define(scope, operand.whole, scope.layouts[operand.whole]);
  view.pointer.offset += operand.offset;
  view.pointer.extent_used = operand.extent_used;
  view.extents = v.type.extents;
  scope.views[value].push_back(view);
  return view;
}

View Lowerer::define(Scope& scope, ValueId value, const Layout& layout) {
  const Value& v = (*scope.graph)[value];
  auto& views = scope.views[value];
  // already defined, by one of its operands
  if (!views.empty() && views.front().layout == layout && views.front().pointer.writes && device_of(views.front()) == device_)
    return views.front();
  if (const auto operand = scope.concat_operands.find(value);
      operand != scope.concat_operands.end() && views.empty() && layout == scope.layouts[value])
    return define_operand(scope, value, operand->second);
  View view{{-1, true, 0, v.type.element}, v.type.element, v.type.extents, layout};
  for (Dim d : v.type.extents) {
    if (d.depends_on_run() && d.min_value() < 0) require({d, 0, Requirement::Kind::NotNegative, fmt::format("an extent of '{}'", v.name)});
  }
  const auto output = output_pointers_.find({scope.graph, value});
  if (output != output_pointers_.end() && same_storage(v.type.extents, layout, {}) && views.empty() &&
      program_[output->second.buffer].device == device_) {
    view.pointer = output->second;
  } else {
    view.pointer.buffer = add_storage({.name = v.name,
                                       .space = Buffer::Space::Arena,
                                       .element = v.type.element,
                                       .extents = v.type.extents,
                                       .bytes = storage_elements(v.type.extents, layout) * (held_bits(v.type.element) / 8),
                                       .pixel_stride = layout.channels_last ? layout.pixel_stride : Dim(0)});
  }
  views.push_back(view);
  return view;
}

void Lowerer::define_view(Scope& scope, ValueId value, const View& view) { scope.views[value].push_back(view); }

View Lowerer::view_of(Scope& scope, ValueId value, const Layout* layout) {
  auto& views = scope.views[value];
  const Value& v = (*scope.graph)[value];
  if (const auto waiting = scope.waiting.find(value); waiting != scope.waiting.end()) {
    const Node& node = *waiting->second;
    scope.waiting.erase(waiting);
    node.guard([&] { lower_node(scope, node); });
  }
  const auto is_here = [&](const View& view) { return device_of(view) == device_; };
  if (views.empty() || (v.constant != nullptr && std::ranges::none_of(views, is_here))) {
    ONNXC_CHECK(v.constant != nullptr, "a value is defined before it is read");
    if (is_sub_byte(v.type.element)) define_packed_constant(scope, value);
    else views.push_back({add_weights(v.name, *v.constant), v.type.element, v.type.extents, {}});
  }
  const auto as_read = [](View view) {
    view.pointer.writes = false;
    return view;
  };
  const auto first_here = [&] { return std::ranges::find_if(views, is_here); };
  if (first_here() == views.end()) {
    const auto alike = std::ranges::find_if(views, [&](const View& view) { return layout != nullptr && view.layout == *layout; });
    transfer(scope, value, as_read(alike != views.end() ? *alike : views[0]));
    if (first_here() == views.end()) return as_read(views[0]);  // the node is refused
  }
  if (layout == nullptr) return as_read(*first_here());
  for (const View& view : views) {
    if (!is_here(view)) continue;
    if (view.layout.channels_last && layout->channels_last) return as_read(view);
    if (same_storage(v.type.extents, view.layout, *layout)) {
      View same = view;
      same.layout = *layout;
      return as_read(same);
    }
  }
  const View from = as_read(*first_here());
  const View to = define(scope, value, *layout);
  convert(v.type.extents, to, from,
          fmt::format("{}: {} to {}", v.name, from.layout.channels_last ? "channels-last" : "row-major",
                      layout->channels_last ? "channels-last" : "row-major"));
  return as_read(to);
}

void Lowerer::convert(const Extents& extents, const View& to, const View& from, std::string what) {
  // Pixels of their own, which no other operand of a Concat shares, by a kernel of processors.
  const bool pixels_of_four = device_ == Device::Cpu && held_bits(to.element) == 8 && to.layout.channels_last &&
                              to.layout.pixel_stride == Dim(4) && to.pointer.extent_used == Dim(0) && !from.layout.channels_last &&
                              extents[1].is_constant();
  if (!pixels_of_four) return copy(extents, to.pointer, to.strides(), from.pointer, from.strides(), to.element, std::move(what));
  const Dim count = element_count(extents), pixels = element_count({extents.begin() + 2, extents.end()});
  Call call = call_of(find_kernel("pixels_of_bytes"));
  call.args = {from.pointer, to.pointer,
               std::make_shared<ParamsArg>(
                   ParamsArg{{{"batch", DimArg{extents[0]}}, {"channels", DimArg{extents[1]}}, {"pixels", DimArg{pixels}}}})};
  call.bytes = count + extents[0] * pixels * 4;
  set_cost_of_moving(call);
  emit(std::move(call), std::move(what));
}

void Lowerer::copy(const Extents& extents, PointerArg to, DimList to_strides, PointerArg from, DimList from_strides, ElementType element,
                   std::string what) {
  if (lie_at_one_place(program_, to.buffer, from.buffer) && to.offset == from.offset && to_strides == from_strides)
    return;  // it is there already
  // Neighbouring axes that are contiguous on both sides become one axis; axes of extent 1 vanish.
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t axis) { return likely_value(to_strides[axis]); });
  DimList shape, to_list, from_list;
  for (std::size_t i : order) {
    if (extents[i] == Dim(1)) continue;
    if (!shape.empty() && to_list.back() == to_strides[i] * extents[i] && from_list.back() == from_strides[i] * extents[i]) {
      shape.back() *= extents[i];
      to_list.back() = to_strides[i];
      from_list.back() = from_strides[i];
    } else {
      shape.push_back(extents[i]);
      to_list.push_back(to_strides[i]);
      from_list.push_back(from_strides[i]);
    }
  }
  if (shape.empty()) {
    shape = {1};
    to_list = from_list = {1};
  }
  // What lies in its place is one box even where it counts as a part of another: the strides of vanished axes differ then.
  if (target_.bare && to.buffer == from.buffer && to.offset == from.offset && to_list == from_list) return;
  // If each side is contiguous along a different axis, blocks are transposed in registers. Axes of less than half a
  // vector are not worth it.
  const auto is_wide = [](Dim d) { return !d.is_constant() || d.value() >= 8; };
  const std::size_t unit = static_cast<std::size_t>(std::ranges::find(from_list, Dim(1)) - from_list.begin()), last = shape.size() - 1;
  const bool turns = device_ == Device::Cpu && held_bits(element) == 32 && to_list[last] == Dim(1) && unit < last && is_wide(shape[unit]) &&
                     is_wide(shape[last]);
  Call call = call_of(find_kernel(uses_gpu_kernels() ? "gpu_copy" : turns ? "transposing_copy" : "strided_copy"));
  to.writes = true;
  from.writes = false;
  to.as = from.as = element;
  call.args = {DimsArg{shape}, to, DimsArg{to_list}, from, DimsArg{from_list}};
  if (turns) call.args.insert(call.args.begin() + 1, DimArg{static_cast<int64_t>(unit)});
  call.bytes = element_count(extents) * ((info(element).bits + 7) / 8) * 2;
  set_cost_of_moving(call);
  emit(std::move(call), std::move(what));
}

void Lowerer::write_output(Scope& scope, ValueId value, const View& to) {
  if ((*scope.graph)[value].type.is_object()) return move_object(to.pointer, view_of(scope, value, nullptr).pointer);
  if (program_[to.pointer.buffer].is_value) return give_tensor(scope, value, to.pointer);
  const View from = view_of(scope, value, nullptr);
  if (stored_element(program_[to.pointer.buffer]) != program_[to.pointer.buffer].element) {
    const Layout row_major;
    return pack(to.pointer, view_of(scope, value, &row_major), (*scope.graph)[value].name);
  }
  copy((*scope.graph)[value].type.extents, to.pointer, to.strides(), from.pointer, from.strides(), to.element,
       (*scope.graph)[value].name + ": to the output");
}

void Lowerer::emit_packing(const char* row, PointerArg to, PointerArg from, const View& view, const std::string& name) {
  const Dim count = element_count(view.extents);
  Call call = call_of(find_kernel(row));
  call.template_args.emplace_back(view.element);
  to.writes = true;
  from.writes = false;
  call.args = {to, from, DimArg{count}};
  call.bytes = count * 2;
  emit(std::move(call), fmt::format("{}: {} {}", name, row, info(view.element).name));
}

void Lowerer::unpack(const View& to, PointerArg from, const std::string& name) {
  from.as = ElementType::U8;
  emit_packing("unpack", to.pointer, from, to, name);
}

void Lowerer::pack(PointerArg to, const View& from, const std::string& name) {
  to.as = ElementType::U8;
  emit_packing("pack", to, from.pointer, from, name);
}

/// Small constants are stored with a byte for each element. Large ones stay packed, as in the model, and are unpacked
/// where they are first read.
void Lowerer::define_packed_constant(Scope& scope, ValueId value) {
  constexpr int64_t kFewElements = 4096;
  const Value& v = (*scope.graph)[value];
  if (v.constant->count() <= kFewElements)
    return define_view(scope, value,
                       {add_weights(v.name, v.type.element, unpacked(*v.constant).bytes), v.type.element, v.type.extents, {}});
  const PointerArg from = add_weights(v.name, ElementType::U8, v.constant->bytes);
  unpack(define(scope, value, {}), from, v.name);
}

void Lowerer::lower_node(Scope& scope, const Node& node) {
  const Node* const outer = std::exchange(node_, &node);
  const Device outer_device = std::exchange(device_, device_of(node));
  const ValueId first = node.outputs.empty() ? kAbsent : node.outputs[0];
  std::string outer_value = std::exchange(value_, first == kAbsent ? "" : (*scope.graph)[first].name);
  if (node.is("If")) {
    lower_if(scope, node);
  } else if (node.is("Loop")) {
    lower_loop(scope, node);
  } else {
    const Operator* const op = node.is_map() ? nullptr : find_operator(node);
    const auto lower = node.is_map() ? &lower_map : op != nullptr ? op->lower : nullptr;
    if (lower == nullptr) node.fail(ErrorKind::Unsupported, "this operator has no kernel yet");
    for (ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      const Type& type = (*scope.graph)[v].type;
      if (!type.is_tensor()) continue;
      if (!type.ranked) node.fail(ErrorKind::Unsupported, fmt::format("output '{}' is {}", (*scope.graph)[v].name, type.text()));
    }
    // Steps that are still unfinished, of nodes that wait for a value of this one.
    const int begun = begun_;
    const bool outer_applies = std::exchange(applies_epilogue_, false);
    if (device_ == Device::Gpu) check_values(scope, node);
    KernelQuery lowering(*this, *scope.graph, node);
    const auto absorbed = absorbed_.find(&node);
    if (absorbed != absorbed_.end()) absorbed->second.island->lower(lowering);
    else if (!uses_gpu_kernels() || !lower_by_gpu_kernels(lowering)) lower(lowering);
    lowering.build_cheapest();
    // Reference kernels meet nodes with epilogues on GPUs alone.
    if (!node.is_map() && node.epilogue && !applies_epilogue_) need_host("its reference kernel has no epilogue");
    applies_epilogue_ = outer_applies;
    for (ValueId v : node.inputs) {  // whose values the choice of kernels may have looked at
      if (v != kAbsent && (*scope.graph)[v].constant) (*scope.graph)[v].constant->bytes.give_back();
    }
    ONNXC_CHECK(begun_ == begun, "each step that a kernel query begins is emitted, once");
    for (ValueId v : node.outputs) {
      if (v != kAbsent) ONNXC_CHECK(!scope.views[v].empty(), "a kernel query defines every output");
    }
  }
  node_ = outer;
  device_ = outer_device;
  value_ = std::move(outer_value);
}

std::set<const Node*> Lowerer::find_islands(const Scope& scope) {
  const Graph& graph = *scope.graph;
  std::set<const Node*> all;
  if (!options_.optimise || !options_.channels_last) return all;
  const Surroundings around(graph, scope.layouts);
  // Chains are found from their last node backwards.
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (all.contains(&node)) continue;
    for (const Island& island : all_islands()) {
      // Those of a GPU sum in another order, where --math=strict promises multiply-adds in the order of k.
      if (options_.math == Math::Reproducible) continue;  // their sums have an order of their own
      if (island.device == Device::Gpu && options_.math == Math::Strict) continue;
      std::vector<const Node*> nodes = island.match(around, node, target_);
      const auto elsewhere = [&](const Node* n) { return device_of(*n) != island.device; };
      if (nodes.empty() || elsewhere(&node) || std::ranges::any_of(nodes, elsewhere)) continue;
      all.insert(nodes.begin(), nodes.end());
      absorbed_[&node] = {&island, std::move(nodes)};
      break;
    }
  }
  return all;
}

void Lowerer::lower_nodes(Scope& scope) {
  Scope* const outer = std::exchange(scope_, &scope);
  const std::set<const Node*> done_by_others = find_islands(scope);
  for (const Node& node : scope.graph->nodes) {
    scope_ = &scope;
    if (done_by_others.contains(&node)) continue;
    // Extents become a tensor only once a kernel reads them; most of them only shape other tensors.
    if (is_extents(node) && output_pointers_.count({scope.graph, node.outputs[0]}) == 0) scope.waiting.emplace(node.outputs[0], &node);
    else node.guard([&] { lower_node(scope, node); });
  }
  scope_ = outer;
}

}  // namespace onnxc
