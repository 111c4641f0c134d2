#include "compiler/lowering/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/lowering/control.h"

namespace onnxc {
namespace {

const Layout kRowMajor;

View as_read(View view) {
  view.pointer.writes = false;
  return view;
}

}  // namespace

LoopLowering::LoopLowering(Lowerer& lowerer, Lowerer::Scope& outer, const Node& node)
    : l_(lowerer),
      outer_(outer),
      node_(node),
      graph_(*outer.graph),
      body_(*node.region("body")),
      carried_(loop_carried(node)),
      iteration_(Dim::symbol(node.binds.at(0))),
      trips_(Dim::symbol(node.binds.at(1))),
      limit_(loop_trips(graph_, node)),
      carried_views_(carried_),
      scanned_(node.outputs.size() - carried_) {}

void LoopLowering::run() {
  Loop loop{.iteration = iteration_, .most = limit_.most ? *limit_.most : Dim(l_.options_.max_trip), .limited = !limit_.most, .body = {}};
  for (ValueId v : node_.captures) l_.view_of(outer_, v, nullptr);
  if (limit_.conditional) define_condition();
  loop.condition = as_read(condition_).pointer;
  define_carried();
  define_scanned();
  Lowerer::Scope inner = l_.region_scope(body_, outer_, node_);
  define_formals(inner);
  loop.body = store_formals(inner);
  std::ranges::move(lower_body(inner), std::back_inserter(loop.body));
  l_.emit(std::move(loop), fmt::format("Loop '{}'", node_.name));
}

void LoopLowering::define_condition() {
  condition_ = {{-1, true, 0, ElementType::Bool}, ElementType::Bool, {}, {}};
  condition_.pointer.buffer =
      l_.add_buffer({.name = node_.name + ".condition", .space = Buffer::Space::Arena, .element = ElementType::Bool, .bytes = 1});
  const PointerArg first = node_.has_input(1) ? l_.view_of(outer_, node_.inputs[1], &kRowMajor).pointer
                                              : l_.add_weights(node_.name + ".true", ElementType::Bool, Bytes{std::byte{1}});
  l_.copy({}, condition_.pointer, {}, first, {}, ElementType::Bool, "the loop's first condition");
}

void LoopLowering::define_carried() {
  symbols_ = {trips_};
  DimList first_values{0};
  for (std::size_t i = 0; i < carried_; ++i)
    collect_extents(node_, body_[body_.inputs[2 + i]].type, graph_[node_.inputs[2 + i]].type, symbols_, first_values);
  l_.declare(symbols_, first_values);
  for (std::size_t i = 0; i < carried_; ++i) {
    carried_views_[i] = define_carried_value(i);
    const PointerArg& at = carried_views_[i].pointer;
    owns_block_.push_back(at.offset == Dim(0) && std::ranges::find(l_.owned_, at.buffer) != l_.owned_.end());
  }
}

View LoopLowering::define_carried_value(std::size_t i) {
  const ValueId initial = node_.inputs[2 + i], formal = body_.inputs[2 + i], result = node_.outputs[i];
  const Type &type = body_[formal].type, &first = graph_[initial].type;
  View carried;
  if (!type.is_tensor()) {
    const PointerArg from = l_.view_of(outer_, initial, nullptr).pointer;
    if (result != kAbsent) carried = l_.define_object(outer_, result);
    else carried.pointer = {l_.declare_object(body_[formal]), true};
    l_.move_object(carried.pointer, from);
    return carried;
  }
  const View from = l_.view_of(outer_, initial, &kRowMajor);
  const Dim bytes = bytes_of(type);
  if (grows_with_iterations(bytes)) {
    l_.need_heap(node_);
    const BufferId block =
        l_.declare_pointer({.name = body_[formal].name, .element = type.element, .extents = type.extents, .bytes = bytes});
    carried = whole_buffer(block, type);
    if (result != kAbsent) l_.define_view(outer_, result, carried);
    l_.allocate(block, bytes_of(first));
  } else if (result != kAbsent) {
    carried = l_.define(outer_, result, kRowMajor);
  } else {
    carried = whole_buffer(
        l_.add_storage(
            {.name = body_[formal].name, .space = Buffer::Space::Arena, .element = type.element, .extents = type.extents, .bytes = bytes}),
        type);
  }
  const View to{carried.pointer, type.element, first.extents, {}};
  l_.copy(first.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element,
          fmt::format("{}: the first value", body_[formal].name));
  return carried;
}

bool LoopLowering::grows_with_iterations(Dim bytes) const {
  if (!bytes.depends_on_run()) return false;
  std::map<std::string, Dim> used;
  bytes.collect_symbols(used);
  return std::ranges::any_of(node_.binds, [&](const std::string& s) { return used.contains(s); });
}

void LoopLowering::define_scanned() {
  for (std::size_t k = 0; k < scanned_.size(); ++k) {
    const ValueId result = node_.outputs[carried_ + k];
    if (result == kAbsent) continue;
    const Type& type = graph_[result].type;
    const Dim bytes = bytes_of(type);
    if (bytes.upper_bound([&](const std::string& s) { return l_.bound_.contains(s) && s != trips_.name(); })) {
      l_.bound_.erase(trips_.name());
      scanned_[k].whole = l_.define(outer_, result, kRowMajor);
      l_.bound_.insert(trips_.name());
    } else {
      l_.need_heap(node_);
      const BufferId block =
          l_.declare_pointer({.name = graph_[result].name, .element = type.element, .extents = type.extents, .bytes = bytes});
      scanned_[k] = {whole_buffer(block, type), true};
      l_.define_view(outer_, result, scanned_[k].whole);
    }
  }
  DimList scan_symbols;
  for (std::size_t s = 2; s < node_.binds.size(); ++s) {
    const Dim symbol = Dim::symbol(node_.binds[s]);
    if (std::ranges::find(symbols_, symbol) == symbols_.end()) scan_symbols.push_back(symbol);
  }
  l_.declare(scan_symbols, DimList(scan_symbols.size(), 0));
}

void LoopLowering::define_formals(Lowerer::Scope& inner) {
  for (std::size_t i = 0; i < carried_; ++i) l_.define_view(inner, body_.inputs[2 + i], as_read(carried_views_[i]));
  if (limit_.conditional) l_.define_view(inner, body_.inputs[1], as_read(condition_));
  const PerValue<int> definition = definitions(body_);
  for (std::size_t k = 0; k < scanned_.size(); ++k) {
    const ValueId v = body_.outputs[1 + carried_ + k];
    const Type& slice = body_[v].type;
    const PointerArg& whole = scanned_[k].whole.pointer;
    if (whole.buffer < 0 || scanned_[k].grows || definition[v] < 0 || !slice.is_tensor()) continue;
    if (std::ranges::any_of(slice.extents, [](Dim d) { return d.depends_on_run(); })) continue;
    PointerArg at = whole;
    at.offset += iteration_ * element_count(slice.extents);
    l_.output_pointers_.emplace(std::pair{&body_, v}, at);
  }
  l_.bound_.insert(iteration_.name());
}

std::vector<Step> LoopLowering::store_formals(Lowerer::Scope& inner) {
  std::vector<Step> steps;
  std::vector<Step>* const outer = std::exchange(l_.steps_, &steps);
  const auto uses = use_counts(body_);
  if (uses[body_.inputs[0]] > 0) {
    const View number = l_.define(inner, body_.inputs[0], kRowMajor);
    Call store = call_of(find_kernel("store_integers"));
    store.args = {number.pointer, DimsArg{{iteration_}}};
    l_.emit(std::move(store), fmt::format("'{}': the number of the iteration", body_[body_.inputs[0]].name));
  }
  if (!limit_.conditional && uses[body_.inputs[1]] > 0)
    l_.define_view(inner, body_.inputs[1],
                   {l_.add_weights(node_.name + ".true", ElementType::Bool, Bytes{std::byte{1}}), ElementType::Bool, {}, {}});
  l_.steps_ = outer;
  return steps;
}

std::vector<Step> LoopLowering::lower_body(Lowerer::Scope& inner) {
  return l_.lower_block(inner, [&] {
    for (std::size_t k = 0; k < scanned_.size(); ++k) {
      if (scanned_[k].whole.pointer.buffer >= 0) store_slice(inner, k);
    }
    store_carried(inner);
    if (limit_.conditional) {
      View goes_on = condition_;
      goes_on.extents = body_[body_.outputs[0]].type.extents;  // one element, of any rank
      l_.write_output(inner, body_.outputs[0], goes_on);
    }
    l_.assign({trips_}, {iteration_ + 1});
  });
}

void LoopLowering::store_slice(Lowerer::Scope& inner, std::size_t k) {
  const auto& [whole, grows] = scanned_[k];
  const Type& type = graph_[node_.outputs[carried_ + k]].type;
  const ValueId value = body_.outputs[1 + carried_ + k];
  const View from = l_.view_of(inner, value, &kRowMajor);
  const Type& slice = body_[value].type;
  DimList symbols, values;
  collect_extents(node_, Type::tensor(type.element, Extents(type.extents.begin() + 1, type.extents.end())), slice, symbols, values);
  l_.assign(symbols, values);
  if (grows) {
    Call append = call_of(find_kernel("append_slice"));
    append.args = {UnitArg::Heap, AddressArg{whole.pointer.buffer}, DimArg{iteration_}, TensorArg{from.pointer, slice.extents}};
    return l_.emit(std::move(append), fmt::format("{}: one more slice", body_[value].name));
  }
  if (from.pointer.buffer == whole.pointer.buffer) return;  // computed in place
  View to = whole;
  to.pointer.offset += iteration_ * element_count(slice.extents);
  to.extents = slice.extents;
  l_.copy(slice.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element,
          fmt::format("{}: a slice of the result", body_[value].name));
}

View LoopLowering::saved(ValueId value, const View& from) {
  const Type& type = body_[value].type;
  if (!type.is_tensor()) {
    View view = from;
    view.pointer.buffer = l_.declare_object(body_[value]);
    l_.move_object({view.pointer.buffer, true}, from.pointer);
    return view;
  }
  const View to = whole_buffer(l_.add_storage({.name = body_[value].name,
                                               .space = Buffer::Space::Arena,
                                               .element = type.element,
                                               .extents = type.extents,
                                               .bytes = bytes_of(type)}),
                               type);
  l_.copy(type.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element, fmt::format("{}: saved", body_[value].name));
  return to;
}

BufferId LoopLowering::own_block(ValueId value, const View& from) {
  const Type& type = body_[value].type;
  const auto own = std::ranges::find(l_.owned_, from.pointer.buffer);
  BufferId block = from.pointer.buffer;
  if (own == l_.owned_.end() || !(from.pointer.offset == Dim(0))) {
    block = l_.declare_pointer({.name = body_[value].name, .element = type.element, .extents = type.extents, .bytes = bytes_of(type)});
    l_.allocate(block, bytes_of(type));
    const View to = whole_buffer(block, type);
    l_.copy(type.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element,
            fmt::format("{}: for the next iteration", body_[value].name));
  }
  l_.owned_.erase(std::ranges::find(l_.owned_, block));
  return block;
}

void LoopLowering::store_carried(Lowerer::Scope& inner) {
  std::vector<View> next(carried_);
  const auto is_carried = [&](BufferId b) {
    return std::ranges::any_of(carried_views_, [&](const View& p) { return p.pointer.buffer == b; });
  };
  const auto stays = [&](std::size_t i) {
    return next[i].pointer.buffer == carried_views_[i].pointer.buffer && next[i].pointer.offset == carried_views_[i].pointer.offset;
  };
  for (std::size_t i = 0; i < carried_; ++i) {
    const ValueId v = body_.outputs[1 + i];
    next[i] = l_.view_of(inner, v, body_[v].type.is_tensor() ? &kRowMajor : nullptr);
    if (!stays(i) && is_carried(root_of(l_.program_, next[i].pointer.buffer))) next[i] = saved(v, next[i]);
  }
  DimList symbols, values;
  for (std::size_t i = 0; i < carried_; ++i) {
    const ValueId v = body_.outputs[1 + i];
    const Type& type = body_[v].type;
    if (stays(i)) continue;
    if (!type.is_tensor()) {
      l_.move_object(carried_views_[i].pointer, next[i].pointer);
      continue;
    }
    if (owns_block_[i]) {
      l_.move_object(carried_views_[i].pointer, {own_block(v, next[i]), false, 0, type.element});
    } else {
      const View to{carried_views_[i].pointer, type.element, type.extents, {}};
      l_.copy(type.extents, to.pointer, to.strides(), next[i].pointer, next[i].strides(), type.element,
              fmt::format("{}: for the next iteration", body_[v].name));
    }
    collect_extents(node_, body_[body_.inputs[2 + i]].type, type, symbols, values);
  }
  l_.assign(symbols, values);
}

}  // namespace onnxc
