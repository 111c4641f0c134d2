// The lowering of If and Loop: steps that hold blocks of steps.
//
// Values that leave a block lie in storage that is defined before it; what they depend on of data (extents) in variables declared before it. A loop
// carries a value in one place: the body reads it there, and its last steps store the next value there.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/lowerer.h"
#include "compiler/ops/control/loop.h"
#include "compiler/passes/assign_layouts.h"

namespace onnxc {
namespace {

const Layout kPlain;

/// The extents of `outer` that are symbols of the node, with what they are inside a block.
void collect_extents(const Node& node, const Type& outer, const Type& inner, DimList& symbols, DimList& values) {
  for (std::size_t axis = 0; axis < outer.extents.size() && outer.extents.size() == inner.extents.size(); ++axis) {
    const Dim d = outer.extents[axis];
    if (!d.is_symbol() || d == inner.extents[axis] || std::find(node.binds.begin(), node.binds.end(), d.name()) == node.binds.end())
      continue;
    symbols.push_back(d);
    values.push_back(inner.extents[axis]);
  }
}

}  // namespace

Lowerer::Scope Lowerer::region_scope(const Graph& region, Scope& outer, const Node& node) {
  Scope inner{&region, assign_layouts(region, options_.channels_last ? target_.vector_floats : 1),
              std::vector<std::vector<View>>(region.values.size())};
  if (!options_.channels_last) std::fill(inner.layouts.begin(), inner.layouts.end(), Layout{});
  const std::size_t formals = region.inputs.size() - node.captures.size();
  for (std::size_t i = 0; i < node.captures.size(); ++i)
    define_view(inner, region.inputs[formals + i], place(outer, node.captures[i], nullptr));
  return inner;
}

std::vector<Step> Lowerer::lower_block(Scope& inner, const std::function<void()>& finish) {
  std::vector<Step> block;
  std::vector<Step>* const outer_steps = std::exchange(steps_, &block);
  std::vector<BufferId> outer_owned = std::exchange(owned_, {});
  Scope* const outer_scope = scope_;
  lower_nodes(inner);
  scope_ = &inner;
  finish();
  release_owned();
  scope_ = outer_scope;
  owned_ = std::move(outer_owned);
  steps_ = outer_steps;
  return block;
}

void Lowerer::lower_if(Scope& scope, const Node& node) {
  const Graph& graph = *scope.graph;
  Step step;
  step.kind = Step::Kind::If;
  step.what = fmt::format("If '{}'", node.name);
  step.condition = place(scope, node.inputs[0], &kPlain).pointer;
  // Captures are made available before the branch, in the layouts they have.
  for (ValueId v : node.captures) place(scope, v, nullptr);
  DimList symbols;
  for (const std::string& s : node.binds) symbols.push_back(Dim::symbol(s));
  assign(Step::Kind::Declare, symbols, DimList(symbols.size(), 0));
  std::vector<View> results(node.outputs.size());
  std::vector<char> in_branch(node.outputs.size(), 0);  // the branch takes the memory
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId v = node.outputs[i];
    if (v == kAbsent) continue;
    const Type& type = graph[v].type;
    DimList own, unused;
    collect_extents(node, type, Type::tensor(type.element, Extents(type.extents.size(), -1)), own, unused);
    if (type.is_object()) {
      results[i] = define_object(scope, v);
    } else if (own.empty() || bytes_of(type).upper_bound()) {
      results[i] = define(scope, v, kPlain);
    } else {
      need_heap(node);
      const BufferId b =
          declare_pointer({.name = graph[v].name, .element = type.element, .extents = type.extents, .bytes = bytes_of(type)});
      results[i] = {{b, true, 0, type.element}, type.element, type.extents, {}};
      define_view(scope, v, results[i]);
      in_branch[i] = 1;
    }
  }
  for (const char* branch : {"then_branch", "else_branch"}) {
    const Graph* region = node.region(branch);
    if (region == nullptr) node.fail(ErrorKind::Invalid, fmt::format("has no {}", branch));
    Scope inner = region_scope(*region, scope, node);
    step.blocks.push_back(lower_block(inner, [&] {
      for (std::size_t i = 0; i < region->outputs.size() && i < results.size(); ++i) {
        if (results[i].pointer.buffer < 0) continue;
        const Type& type = (*region)[region->outputs[i]].type;
        DimList own, values;
        collect_extents(node, graph[node.outputs[i]].type, type, own, values);
        assign(Step::Kind::Assign, own, values);
        if (in_branch[i]) allocate(results[i].pointer.buffer, bytes_of(type));
        View to = results[i];
        if (type.is_tensor()) to.extents = type.extents;
        write_output(inner, region->outputs[i], to);
      }
    }));
  }
  emit(std::move(step));
}

void Lowerer::lower_loop(Scope& scope, const Node& node) {
  const Graph& graph = *scope.graph;
  const Graph& body = *node.region("body");
  const std::size_t carried = loop_carried(node);
  const Dim iteration = Dim::symbol(node.binds.at(0)), trips = Dim::symbol(node.binds.at(1));
  const LoopTrips limit = loop_trips(graph, node);

  Step step;
  step.kind = Step::Kind::Loop;
  step.what = fmt::format("Loop '{}'", node.name);
  step.binds = {iteration};
  step.values = {limit.most ? *limit.most : Dim(options_.max_trip)};
  step.limited = !limit.most;
  for (ValueId v : node.captures) place(scope, v, nullptr);

  // The condition.
  View condition;
  if (limit.conditional) {
    condition = {{-1, true, 0, ElementType::Bool}, ElementType::Bool, {}, {}};
    condition.pointer.buffer =
        add_buffer({.name = node.name + ".condition", .place = Buffer::Place::Arena, .element = ElementType::Bool, .bytes = 1});
    View first{{}, ElementType::Bool, {}, {}};
    first.pointer = node.has_input(1) ? place(scope, node.inputs[1], &kPlain).pointer
                                      : add_weights(node.name + ".true", ElementType::Bool, {std::byte{1}});
    copy({}, condition.pointer, {}, first.pointer, {}, ElementType::Bool, "the loop's first condition");
    step.condition = condition.pointer;
    step.condition.writes = false;
  }

  // What is carried: its extents as variables, and its storage, with the first value.
  DimList symbols{trips}, first_values{0};
  for (std::size_t i = 0; i < carried; ++i)
    collect_extents(node, body[body.inputs[2 + i]].type, graph[node.inputs[2 + i]].type, symbols, first_values);
  assign(Step::Kind::Declare, symbols, first_values);
  std::vector<View> places(carried);
  for (std::size_t i = 0; i < carried; ++i) {
    const ValueId initial = node.inputs[2 + i], formal = body.inputs[2 + i], result = node.outputs[i];
    const Type &type = body[formal].type, &first = graph[initial].type;
    if (!type.is_tensor()) {
      const PointerArg from = place(scope, initial, nullptr).pointer;
      if (result != kAbsent) {
        places[i] = define_object(scope, result);
      } else {
        places[i].pointer = {declare_object(body[formal]), true};
      }
      move_object(places[i].pointer, from);
      continue;
    }
    const View from = place(scope, initial, &kPlain);
    const Dim bytes = bytes_of(type);
    const bool grows = bytes.depends_on_run() && std::any_of(node.binds.begin(), node.binds.end(), [&](const std::string& s) {
                         std::map<std::string, Dim> used;
                         bytes.collect_symbols(used);
                         return used.count(s) != 0;
                       });
    if (grows) {
      need_heap(node);
      const BufferId b = declare_pointer({.name = body[formal].name, .element = type.element, .extents = type.extents, .bytes = bytes});
      places[i] = {{b, true, 0, type.element}, type.element, type.extents, {}};
      if (result != kAbsent) define_view(scope, result, places[i]);
      allocate(b, bytes_of(first));
    } else if (result != kAbsent) {
      places[i] = define(scope, result, kPlain);
    } else {
      const BufferId b = add_storage(
          {.name = body[formal].name, .place = Buffer::Place::Arena, .element = type.element, .extents = type.extents, .bytes = bytes});
      places[i] = {{b, true, 0, type.element}, type.element, type.extents, {}};
    }
    const View to{places[i].pointer, type.element, first.extents, {}};
    copy(first.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element,
         fmt::format("{}: the first value", body[formal].name));
  }

  // Scan outputs: one slice an iteration, in place where the room is known before the loop.
  struct Scanned {
    View whole;
    bool grows = false;
  };
  std::vector<Scanned> scanned(node.outputs.size() - carried);
  for (std::size_t k = 0; k < scanned.size(); ++k) {
    const ValueId result = node.outputs[carried + k];
    if (result == kAbsent) continue;
    const Type& type = graph[result].type;
    const Dim bytes = bytes_of(type);
    if (bytes.upper_bound([&](const std::string& s) { return bound_.count(s) != 0 && s != trips.name(); })) {
      bound_.erase(trips.name());
      scanned[k].whole = define(scope, result, kPlain);
      bound_.insert(trips.name());
    } else {
      need_heap(node);
      const BufferId b = declare_pointer({.name = graph[result].name, .element = type.element, .extents = type.extents, .bytes = bytes});
      scanned[k] = {{{b, true, 0, type.element}, type.element, type.extents, {}}, true};
      define_view(scope, result, scanned[k].whole);
    }
  }
  DimList scan_symbols;
  for (std::size_t s = 2; s < node.binds.size(); ++s) {
    const Dim symbol = Dim::symbol(node.binds[s]);
    if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) scan_symbols.push_back(symbol);
  }
  assign(Step::Kind::Declare, scan_symbols, DimList(scan_symbols.size(), 0));

  Scope inner = region_scope(body, scope, node);
  const auto as_read = [](View view) {
    view.pointer.writes = false;
    return view;
  };
  for (std::size_t i = 0; i < carried; ++i) define_view(inner, body.inputs[2 + i], as_read(places[i]));
  if (limit.conditional) define_view(inner, body.inputs[1], as_read(condition));
  const std::vector<int> definition = definitions(body);
  for (std::size_t k = 0; k < scanned.size(); ++k) {
    const ValueId v = body.outputs[1 + carried + k];
    const Type& slice = body[v].type;
    if (scanned[k].whole.pointer.buffer < 0 || scanned[k].grows || definition[static_cast<std::size_t>(v)] < 0 || !slice.is_tensor())
      continue;
    if (std::any_of(slice.extents.begin(), slice.extents.end(), [](Dim d) { return d.depends_on_run(); })) continue;
    PointerArg at = scanned[k].whole.pointer;
    at.offset += iteration * element_count(slice.extents);
    output_places_.emplace(std::pair{&body, v}, at);
  }
  bound_.insert(iteration.name());
  const auto formal_numbers =
      [&] {  // the number of the iteration and, where it is always true, the condition, as tensors where the body reads them
        const auto uses = use_counts(body);
        if (uses[static_cast<std::size_t>(body.inputs[0])] > 0) {
          const View number = define(inner, body.inputs[0], kPlain);
          Step store =
              make_call(find_kernel("store_integers"), fmt::format("'{}': the number of the iteration", body[body.inputs[0]].name));
          store.args = {number.pointer, DimsArg{{iteration}}};
          emit(std::move(store));
        }
        if (!limit.conditional && uses[static_cast<std::size_t>(body.inputs[1])] > 0)
          define_view(inner, body.inputs[1],
                      {add_weights(node.name + ".true", ElementType::Bool, {std::byte{1}}), ElementType::Bool, {}, {}});
      };
  std::vector<Step> head;
  {
    std::vector<Step>* const outer = std::exchange(steps_, &head);
    formal_numbers();
    steps_ = outer;
  }
  std::vector<Step> block = lower_block(inner, [&] {
    for (std::size_t k = 0; k < scanned.size(); ++k) {
      if (scanned[k].whole.pointer.buffer < 0) continue;
      store_slice(inner, node, scanned[k].whole, scanned[k].grows, graph[node.outputs[carried + k]].type, body.outputs[1 + carried + k],
                  iteration);
    }
    store_carried(inner, node, places);
    if (limit.conditional) {
      View goes_on = condition;
      goes_on.extents = body[body.outputs[0]].type.extents;  // one element, of whatever rank
      write_output(inner, body.outputs[0], goes_on);
    }
    assign(Step::Kind::Assign, {trips}, {iteration + 1});
  });
  block.insert(block.begin(), std::make_move_iterator(head.begin()), std::make_move_iterator(head.end()));
  step.blocks.push_back(std::move(block));
  emit(std::move(step));
}

/// Stores one iteration's slice of a scan output.
void Lowerer::store_slice(Scope& inner, const Node& node, const View& whole, bool grows, const Type& type, ValueId value, Dim iteration) {
  const View from = place(inner, value, &kPlain);
  const Type slice = (*inner.graph)[value].type;
  DimList symbols, values;
  collect_extents(node, Type::tensor(type.element, Extents(type.extents.begin() + 1, type.extents.end())), slice, symbols, values);
  assign(Step::Kind::Assign, symbols, values);
  if (grows) {
    Step append = make_call(find_kernel("append_slice"), fmt::format("{}: one more slice", (*inner.graph)[value].name));
    append.args = {NameArg{"heap"}, AddressArg{whole.pointer.buffer}, DimArg{iteration}, TensorArg{from.pointer, slice.extents}};
    return emit(std::move(append));
  }
  if (from.pointer.buffer == whole.pointer.buffer) return;  // produced in place
  View to = whole;
  to.pointer.offset += iteration * element_count(slice.extents);
  to.extents = slice.extents;
  copy(slice.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element,
       fmt::format("{}: a slice of the result", (*inner.graph)[value].name));
}

/// Stores what the next iteration reads. Values that are read from the place of another carried value are saved first.
void Lowerer::store_carried(Scope& inner, const Node& node, const std::vector<View>& places) {
  const Graph& body = *inner.graph;
  std::vector<View> next(places.size());
  const auto is_carried = [&](BufferId b) {
    return std::any_of(places.begin(), places.end(), [&](const View& p) { return p.pointer.buffer == b; });
  };
  const auto stays = [&](std::size_t i) {
    return next[i].pointer.buffer == places[i].pointer.buffer && next[i].pointer.offset == places[i].pointer.offset;
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ValueId v = body.outputs[1 + i];
    const Type& type = body[v].type;
    next[i] = type.is_tensor() ? place(inner, v, &kPlain) : place(inner, v, nullptr);
    if (stays(i) || !is_carried(root_of(program_, next[i].pointer.buffer))) continue;
    if (!type.is_tensor()) {
      const BufferId saved = declare_object(body[v]);
      move_object({saved, true}, next[i].pointer);
      next[i].pointer.buffer = saved;
      continue;
    }
    const BufferId saved = add_storage(
        {.name = body[v].name, .place = Buffer::Place::Arena, .element = type.element, .extents = type.extents, .bytes = bytes_of(type)});
    const View to{{saved, true, 0, type.element}, type.element, type.extents, {}};
    copy(type.extents, to.pointer, to.strides(), next[i].pointer, next[i].strides(), type.element, fmt::format("{}: saved", body[v].name));
    next[i] = to;
  }
  DimList symbols, values;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ValueId v = body.outputs[1 + i];
    const Type& type = body[v].type;
    if (stays(i)) continue;
    if (!type.is_tensor()) {
      move_object(places[i].pointer, next[i].pointer);
      continue;
    }
    if (program_[places[i].pointer.buffer].place == Buffer::Place::Heap && !program_[places[i].pointer.buffer].borrowed) {
      const auto own = std::find(owned_.begin(), owned_.end(), next[i].pointer.buffer);
      BufferId block = next[i].pointer.buffer;
      if (own == owned_.end() || !(next[i].pointer.offset == Dim(0))) {
        block = declare_pointer({.name = body[v].name, .element = type.element, .extents = type.extents, .bytes = bytes_of(type)});
        allocate(block, bytes_of(type));
        const View to{{block, true, 0, type.element}, type.element, type.extents, {}};
        copy(type.extents, to.pointer, to.strides(), next[i].pointer, next[i].strides(), type.element,
             fmt::format("{}: for the next iteration", body[v].name));
      }
      owned_.erase(std::find(owned_.begin(), owned_.end(), block));
      move_object(places[i].pointer, {block, false, 0, type.element});
    } else {
      const View to{places[i].pointer, type.element, type.extents, {}};
      copy(type.extents, to.pointer, to.strides(), next[i].pointer, next[i].strides(), type.element,
           fmt::format("{}: for the next iteration", body[v].name));
    }
    collect_extents(node, body[body.inputs[2 + i]].type, type, symbols, values);
  }
  assign(Step::Kind::Assign, symbols, values);
}

}  // namespace onnxc
