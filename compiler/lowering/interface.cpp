// Lowerer's inputs and outputs: their buffers, and the last steps of a run, which write the outputs.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "compiler/lowering/lowerer.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// The states that are written at the end of a run, since their inputs lie there, which others may still read. All others are changed where they
/// lie as soon as their step comes: a Concat of the input and more, or a TensorScatter into the input, which nobody else reads.
std::vector<State> replaced_states(const Graph& graph) {
  if (graph.states.empty()) return {};
  const PerValue<int> definition = definitions(graph), uses = use_counts(graph);
  std::vector<State> replaced;
  std::ranges::copy_if(graph.states, std::back_inserter(replaced), [&](const State& state) {
    if (grows(graph, state)) return false;
    const ValueId past = graph.inputs[static_cast<std::size_t>(state.past)];
    const int at = definition[graph.outputs[static_cast<std::size_t>(state.present)]];
    return at < 0 || !graph.node(at).is("TensorScatter") || graph.node(at).inputs[0] != past || uses[past] != 1;
  });
  return replaced;
}

bool is_one_of(const std::vector<State>& states, std::size_t output) {
  return std::ranges::find(states, static_cast<int>(output), &State::present) != states.end();
}

}  // namespace

/// Defines inputs and outputs as buffers. An output whose size depends on data has room for its upper bound, or is
/// passed as an onnxc_value.
void Lowerer::define_interface(Scope& scope) {
  const Graph& graph = *scope.graph;
  device_ = target_.gpu != nullptr ? Device::Gpu : Device::Cpu;
  const auto interface = [&](ValueId v, Buffer::Space space, std::size_t number) {
    const Value& value = graph[v];
    const bool renamed = space == Buffer::Space::Output && number < options_.output_names.size();
    const std::string& own_name = renamed ? options_.output_names[number] : value.name;
    if (!value.type.is_tensor() || (space == Buffer::Space::Output && !value.type.ranked))
      return add_buffer({.name = own_name,
                         .space = space,
                         .element = value.type.is_tensor() ? value.type.element : ElementType::Undefined,
                         .alignment = 1,
                         .index = static_cast<int>(number),
                         .is_value = true,
                         .is_ranked = value.type.ranked,
                         .kind = value.type.kind});
    if (!value.type.ranked)
      throw Error(ErrorCode::UnknownRank,
                  fmt::format("'{}' is {}; inputs and outputs must be tensors of known rank", value.name, value.type.text()));
    std::optional<Dim> most = Dim(1);
    for (Dim d : value.type.extents) {
      const auto bound = d.upper_bound();
      most = most && bound ? std::optional<Dim>(*most * *bound) : std::nullopt;
    }
    const bool is_value = space == Buffer::Space::Output && number < options_.value_outputs.size() && options_.value_outputs[number];
    const int bits = info(value.type.element).bits;
    const Dim count = most.value_or(0);
    return add_buffer({.name = own_name,
                       .space = space,
                       .device = is_value || !most || !fits_gpu(value.type) ? Device::Cpu : device_,
                       .element = value.type.element,
                       .extents = value.type.extents,
                       .bytes = bits < 8 ? ceil_div(count * bits, 8) : count * (bits / 8),
                       .alignment = 1,
                       .index = static_cast<int>(number),
                       .is_value = !most || is_value});
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId v = graph.inputs[i];
    const BufferId b = interface(v, Buffer::Space::Input, i);
    program_.inputs.push_back(b);
    if (stored_element(program_[b]) != program_[b].element) unpack(define(scope, v, {}), {b, false, 0, ElementType::U8}, graph[v].name);
    else define_view(scope, v, {{b, false, 0, program_[b].element}, program_[b].element, graph[v].type.extents, {}});
  }
  const PerValue<int> definition = definitions(graph);
  const std::vector<State> replaced = replaced_states(graph);
  program_.states = graph.states;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId v = graph.outputs[i];
    const BufferId b = interface(v, Buffer::Space::Output, i);
    program_.outputs.push_back(b);
    const bool is_state = std::ranges::find(graph.states, static_cast<int>(i), &State::present) != graph.states.end();
    if (is_state && program_[b].is_value)
      throw Error(ErrorCode::NotAState, fmt::format("the size of '{}' has no bound, so it cannot be a state", graph[v].name),
                  "leave it out of --state");
    // The producer writes directly into the caller's memory.
    if (definition[v] >= 0 && !is_one_of(replaced, i) && (!program_[b].is_value || graph[v].type.is_object()) &&
        stored_element(program_[b]) == program_[b].element)
      output_pointers_.emplace(std::pair{&graph, v}, PointerArg{b, true, 0, program_[b].element});
  }
  device_ = Device::Cpu;
}

/// Copies values of states that lie where a state was, which may be written before they are read: of states that change
/// places, or move on by one.
void Lowerer::keep_states(Scope& scope, const std::vector<State>& replaced) {
  const Graph& graph = *scope.graph;
  const auto was_state = [&](BufferId buffer) {
    const BufferId root = root_of(program_, buffer);
    return std::ranges::any_of(replaced, [&](const State& state) { return program_.inputs[static_cast<std::size_t>(state.past)] == root; });
  };
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!is_one_of(replaced, i)) continue;
    const ValueId v = graph.outputs[i];
    const Type& type = graph[v].type;
    device_ = program_[program_.outputs[i]].device;
    const View from = view_of(scope, v, nullptr);
    const bool stays =
        lie_at_one_place(program_, program_.outputs[i], from.pointer.buffer) && from.pointer.offset == Dim(0) && from.layout == Layout();
    if (stays || !was_state(from.pointer.buffer)) continue;
    const BufferId kept = add_storage(
        {.name = graph[v].name, .space = Buffer::Space::Arena, .element = type.element, .extents = type.extents, .bytes = bytes_of(type)});
    const View to{{kept, true, 0, type.element}, type.element, type.extents, {}};
    copy(type.extents, to.pointer, to.strides(), from.pointer, from.strides(), type.element,
         graph[v].name + ": before its place is written");
    scope.views[v].insert(scope.views[v].begin(), to);
  }
}

/// Copies outputs that were not computed in the caller's memory, and stores shapes that depend on data.
void Lowerer::write_results(Scope& scope) {
  const Graph& graph = *scope.graph;
  scope_ = &scope;
  const std::vector<State> replaced = replaced_states(graph);
  std::vector<std::size_t> order(graph.outputs.size());  // states come last, since others may be what their inputs were
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !is_one_of(replaced, i); });
  keep_states(scope, replaced);
  for (const std::size_t i : order) {
    const ValueId v = graph.outputs[i];
    const Type& type = graph[v].type;
    const BufferId b = program_.outputs[i];
    const View to{{b, true, 0, type.element}, type.element, type.extents, {}};
    device_ = program_[b].device;
    if (!type.is_object() && program_[b].is_value) {
      give_tensor(scope, v, to.pointer);
      continue;
    }
    const auto& views = scope.views[v];
    if (std::none_of(views.begin(), views.end(), [&](const View& view) { return view.pointer.buffer == b; })) write_output(scope, v, to);
    if (std::none_of(type.extents.begin(), type.extents.end(), [](Dim d) { return d.depends_on_run(); })) continue;
    emit(StoreShape{b, type.extents}, fmt::format("the shape of '{}'", graph[v].name));
  }
  device_ = Device::Cpu;
}

/// Writes an output whose size has no bound. The caller takes over its heap block; a value that lies elsewhere is
/// copied into one.
void Lowerer::give_tensor(Scope& scope, ValueId value, PointerArg to) {
  const Layout row_major;
  const Type& type = (*scope.graph)[value].type;
  View from = view_of(scope, value, &row_major);
  const auto own = std::find(owned_.begin(), owned_.end(), from.pointer.buffer);
  if (own != owned_.end() && from.pointer.offset == Dim(0)) {
    owned_.erase(own);
  } else {
    const Dim bytes = bytes_of(type);
    const BufferId block =
        declare_pointer({.name = (*scope.graph)[value].name, .element = type.element, .extents = type.extents, .bytes = bytes});
    allocate(block, bytes);
    owned_.pop_back();
    const View copy_of{{block, true, 0, type.element}, type.element, type.extents, {}};
    copy(type.extents, copy_of.pointer, copy_of.strides(), from.pointer, from.strides(), type.element,
         (*scope.graph)[value].name + ": to the output");
    from = copy_of;
  }
  program_.uses_heap = true;
  Call call = call_of(find_kernel("make_tensor"));
  call.args = {to, NumberArg{static_cast<double>(type.element), ElementType::I32}, from.pointer, DimsArg{type.extents}};
  emit(std::move(call), (*scope.graph)[value].name + ": to the output");
}

}  // namespace onnxc
