#include "compiler/lowering/lowerer.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/shape_arithmetic.h"
#include "compiler/support/sha256.h"

namespace onnxc {

BufferId Lowerer::add_buffer(Buffer buffer) {
  program_.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

PointerArg Lowerer::add_weights(const std::string& from, ElementType element, std::vector<std::byte> bytes) {
  const std::string key = fmt::format("{}:{}:{}", name(element), bytes.size(), sha256(bytes));
  auto [it, fresh] = weights_by_hash_.emplace(key, -1);
  if (fresh) {
    const auto number = program_.weights.size();
    const auto size = static_cast<int64_t>(bytes.size());
    program_.weights.push_back({fmt::format("w{}", number), from, element, std::make_shared<std::vector<std::byte>>(std::move(bytes))});
    it->second = add_buffer({.name = from, .place = Buffer::Place::Weights, .element = element, .extents = {size * 8 / held_bits(element)}, .bytes = size,
                             .index = static_cast<int>(number)});
  }
  return {it->second, false, 0, element};
}

int Lowerer::add_expr(const Expr& expr) {
  std::string key;
  for (const auto& t : expr.terms)
    key += fmt::format("{},{},{},{},{},{},{};", static_cast<int>(t.kind), static_cast<int>(t.type), static_cast<int>(t.fn), t.args[0], t.args[1], t.args[2], t.bits);
  const auto [it, fresh] = exprs_by_text_.emplace(key, static_cast<int>(program_.exprs.size()));
  if (fresh) program_.exprs.push_back(expr);
  return it->second;
}

void Lowerer::emit(Step step) { steps_->push_back(std::move(step)); }

View Lowerer::define(Scope& scope, ValueId value, const Layout& layout) {
  const Value& v = (*scope.graph)[value];
  View view{{-1, true, 0, v.type.element}, v.type.element, v.type.extents, layout};
  const auto output = output_buffers_.find({scope.graph, value});
  if (output != output_buffers_.end() && !layout.channels_last && scope.places[static_cast<std::size_t>(value)].empty()) {
    view.pointer.buffer = output->second;
  } else {
    const Dim bytes = storage_elements(v.type.extents, layout) * (held_bits(v.type.element) / 8);
    view.pointer.buffer = add_buffer({.name = v.name, .place = Buffer::Place::Arena, .element = v.type.element, .extents = v.type.extents,
                                      .bytes = bytes});
  }
  scope.places[static_cast<std::size_t>(value)].push_back(view);
  return view;
}

void Lowerer::define_view(Scope& scope, ValueId value, const View& view) { scope.places[static_cast<std::size_t>(value)].push_back(view); }

View Lowerer::place(Scope& scope, ValueId value, const Layout* layout) {
  auto& places = scope.places[static_cast<std::size_t>(value)];
  const Value& v = (*scope.graph)[value];
  if (const auto waiting = scope.waiting.find(value); waiting != scope.waiting.end()) {
    const Node& node = *waiting->second;
    scope.waiting.erase(waiting);
    lower_node(scope, node);
  }
  if (places.empty()) {
    ONNXC_CHECK(v.constant != nullptr, "a value has a place before it is read");
    if (v.type.element == ElementType::String) throw Error(ErrorKind::Unsupported, fmt::format("constant '{}' holds strings", v.name));
    if (is_sub_byte(v.type.element)) place_packed_constant(scope, value);
    else places.push_back({add_weights(v.name, v.type.element, v.constant->bytes), v.type.element, v.type.extents, {}});
  }
  const auto as_read = [](View view) {
    view.pointer.writes = false;
    return view;
  };
  if (layout == nullptr) return as_read(places[0]);
  for (const View& p : places) {
    if (same_storage(v.type.extents, p.layout, *layout)) {
      View view = p;
      view.layout = *layout;
      return as_read(view);
    }
  }
  const View from = as_read(places[0]);
  const View to = define(scope, value, *layout);
  copy(v.type.extents, to.pointer, to.strides(), from.pointer, from.strides(), v.type.element,
       fmt::format("{}: {} to {}", v.name, from.layout.channels_last ? "channels-last" : "row-major", layout->channels_last ? "channels-last" : "row-major"));
  return as_read(to);
}

void Lowerer::copy(const Extents& extents, PointerArg to, std::vector<Dim> to_strides, PointerArg from, std::vector<Dim> from_strides, ElementType element,
                   std::string what) {
  // Neighbouring axes that both sides walk in one go are one; axes of extent 1 vanish.
  std::vector<std::size_t> order(extents.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return to_strides[a].is_constant() && to_strides[b].is_constant() && to_strides[a].value() > to_strides[b].value();
  });
  std::vector<Dim> shape, to_list, from_list;
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
  const Kernel& kernel = find_kernel("strided_copy");
  Step step;
  step.header = kernel.header;
  step.function = kernel.function;
  step.parallel = kernel.parallel;
  step.row = kernel.name;
  step.what = std::move(what);
  to.writes = true;
  from.writes = false;
  to.as = from.as = element;
  step.args = {DimsArg{shape}, to, DimsArg{to_list}, from, DimsArg{from_list}};
  step.bytes = element_count(extents) * ((info(element).bits + 7) / 8) * 2;
  emit(std::move(step));
}

void Lowerer::write_output(Scope& scope, ValueId value, const View& to) {
  const View from = place(scope, value, nullptr);
  if (is_sub_byte(to.element) && program_[to.pointer.buffer].place == Buffer::Place::Output) {
    const Layout plain;
    return pack(to.pointer, place(scope, value, &plain), (*scope.graph)[value].name);
  }
  copy((*scope.graph)[value].type.extents, to.pointer, to.strides(), from.pointer, from.strides(), to.element, (*scope.graph)[value].name + ": to the output");
}

void Lowerer::emit_packing(const char* row, PointerArg to, PointerArg from, const View& view, const std::string& name) {
  const Kernel& kernel = find_kernel(row);
  const Dim count = element_count(view.extents);
  Step step;
  step.header = kernel.header;
  step.function = kernel.function;
  step.parallel = kernel.parallel;
  step.row = kernel.name;
  step.what = fmt::format("{}: {} {}", name, row, info(view.element).name);
  step.template_args.push_back({std::string(info(view.element).cpp_name), -1});
  to.writes = true;
  from.writes = false;
  step.args = {to, from, DimArg{count}};
  step.bytes = count * 2;
  emit(std::move(step));
}

void Lowerer::unpack(const View& to, PointerArg from, const std::string& name) {
  from.as = ElementType::U8;
  emit_packing("unpack", to.pointer, from, to, name);
}

void Lowerer::pack(PointerArg to, const View& from, const std::string& name) {
  to.as = ElementType::U8;
  emit_packing("pack", to, from.pointer, from, name);
}

/// Small constants take their bytes in the weights; large ones stay as small as the model has them, and are unpacked where they are first read.
void Lowerer::place_packed_constant(Scope& scope, ValueId value) {
  constexpr int64_t kFewElements = 4096;
  const Value& v = (*scope.graph)[value];
  if (v.constant->count() <= kFewElements)
    return define_view(scope, value, {add_weights(v.name, v.type.element, unpacked(*v.constant).bytes), v.type.element, v.type.extents, {}});
  const PointerArg from = add_weights(v.name, ElementType::U8, v.constant->bytes);
  unpack(define(scope, value, {}), from, v.name);
}

void Lowerer::lower_if(Scope& scope, const Node& node) {
  const Layout plain;
  Step step;
  step.kind = Step::Kind::If;
  step.what = fmt::format("If '{}'", node.name);
  step.condition = place(scope, node.inputs[0], &plain).pointer;
  // Captures are made available before the branch, in the layouts they have.
  for (ValueId v : node.captures) place(scope, v, nullptr);
  std::vector<View> results;
  for (ValueId v : node.outputs) {
    if (v == kAbsent) {
      results.emplace_back();
    } else {
      results.push_back(define(scope, v, plain));
    }
  }
  std::vector<Step>* const outer = steps_;
  for (const char* branch : {"then_branch", "else_branch"}) {
    const Graph* region = node.region(branch);
    if (region == nullptr) node.fail(ErrorKind::Invalid, fmt::format("has no {}", branch));
    step.blocks.emplace_back();
    steps_ = &step.blocks.back();
    Scope inner{region, assign_layouts(*region, options_.channels_last ? target_.vector_floats : 1), std::vector<std::vector<View>>(region->values.size())};
    if (!options_.channels_last) std::fill(inner.layouts.begin(), inner.layouts.end(), Layout{});
    for (std::size_t i = 0; i < node.captures.size(); ++i) define_view(inner, region->inputs[i], place(scope, node.captures[i], nullptr));
    lower_nodes(inner);
    for (std::size_t i = 0; i < region->outputs.size() && i < results.size(); ++i) {
      if (results[i].pointer.buffer >= 0) write_output(inner, region->outputs[i], results[i]);
    }
  }
  steps_ = outer;
  emit(std::move(step));
}

void Lowerer::lower_node(Scope& scope, const Node& node) {
  if (node.is("If")) return lower_if(scope, node);
  const Operator* op = node.is_map() ? nullptr : find_operator(node);
  if (!node.is_map() && (op == nullptr || op->lower == nullptr)) node.fail(ErrorKind::Unsupported, "this operator has no kernel yet");
  for (ValueId v : node.outputs) {
    if (v == kAbsent) continue;
    const Type& type = (*scope.graph)[v].type;
    if (!type.is_tensor() || !type.ranked) node.fail(ErrorKind::Unsupported, fmt::format("output '{}' is {}", (*scope.graph)[v].name, type.text()));
    if (type.element == ElementType::String || info(type.element).bits > 64)
      node.fail(ErrorKind::Unsupported, fmt::format("element type {} of '{}' is not supported yet", name(type.element), (*scope.graph)[v].name));
  }
  Lowering lowering(*this, *scope.graph, node);
  if (node.is_map()) lower_map(lowering);
  else op->lower(lowering);
  lowering.build_cheapest();
  for (ValueId v : node.outputs) {
    if (v != kAbsent) ONNXC_CHECK(!scope.places[static_cast<std::size_t>(v)].empty(), "a kernel query defines every output");
  }
}

void Lowerer::lower_nodes(Scope& scope) {
  Scope* const outer = std::exchange(scope_, &scope);
  for (const Node& node : scope.graph->nodes) {
    scope_ = &scope;
    // Extents are stored once a kernel reads them; most only shape other tensors.
    if (is_extents(node) && output_buffers_.count({scope.graph, node.outputs[0]}) == 0) scope.waiting.emplace(node.outputs[0], &node);
    else lower_node(scope, node);
  }
  scope_ = outer;
}

Program Lowerer::run(const Graph& graph) {
  program_.name = graph.name;
  program_.constraints = graph.constraints;
  steps_ = &program_.steps;
  Scope scope{&graph, assign_layouts(graph, target_.vector_floats), std::vector<std::vector<View>>(graph.values.size())};
  if (!options_.channels_last) std::fill(scope.layouts.begin(), scope.layouts.end(), Layout{});
  const auto interface = [&](ValueId v, Buffer::Place where, std::size_t number) {
    const Value& value = graph[v];
    if (!value.type.is_tensor() || !value.type.ranked)
      throw Error(ErrorKind::Unsupported, fmt::format("'{}' is {}; inputs and outputs must be tensors of known rank", value.name, value.type.text()));
    if (value.type.element == ElementType::String || info(value.type.element).bits > 64)
      throw Error(ErrorKind::Unsupported, fmt::format("'{}' has element type {}, which is not supported yet", value.name, name(value.type.element)));
    const int bits = info(value.type.element).bits;
    const Dim count = element_count(value.type.extents);
    return add_buffer({.name = value.name, .place = where, .element = value.type.element, .extents = value.type.extents,
                       .bytes = bits < 8 ? ceil_div(count * bits, 8) : count * (bits / 8), .alignment = 1, .index = static_cast<int>(number)});
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId v = graph.inputs[i];
    const BufferId b = interface(v, Buffer::Place::Input, i);
    program_.inputs.push_back(b);
    if (is_sub_byte(graph[v].type.element)) unpack(define(scope, v, {}), {b, false, 0, ElementType::U8}, graph[v].name);
    else define_view(scope, v, {{b, false, 0, graph[v].type.element}, graph[v].type.element, graph[v].type.extents, {}});
  }
  const std::vector<int> definition = definitions(graph);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId v = graph.outputs[i];
    const BufferId b = interface(v, Buffer::Place::Output, i);
    program_.outputs.push_back(b);
    // The producer writes straight into the caller's memory.
    if (definition[static_cast<std::size_t>(v)] >= 0 && !is_sub_byte(graph[v].type.element)) output_buffers_.emplace(std::pair{&graph, v}, b);
  }
  lower_nodes(scope);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId v = graph.outputs[i];
    const auto& places = scope.places[static_cast<std::size_t>(v)];
    const BufferId b = program_.outputs[i];
    if (std::any_of(places.begin(), places.end(), [&](const View& p) { return p.pointer.buffer == b; })) continue;
    scope_ = &scope;
    write_output(scope, v, {{b, true, 0, graph[v].type.element}, graph[v].type.element, graph[v].type.extents, {}});
  }
  return std::move(program_);
}

Program lower_graph(const Graph& graph, const Target& target, const LowerOptions& options, std::vector<Choice>* choices) {
  return Lowerer(target, options, choices).run(graph);
}

}  // namespace onnxc
