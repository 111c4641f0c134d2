// The lowering of If and Loop: steps that hold blocks of steps. Loop has a file of its own.
//
// Values that leave a block lie in storage that is defined before it. Their extents that depend on data are in
// variables that are declared before it.
#include "compiler/lowering/control.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/loop.h"
#include "compiler/passes/assign_layouts.h"

namespace onnxc {

void collect_extents(const Node& node, const Type& outer, const Type& inner, DimList& symbols, DimList& values) {
  for (std::size_t axis = 0; axis < outer.extents.size() && outer.extents.size() == inner.extents.size(); ++axis) {
    const Dim d = outer.extents[axis];
    if (!d.is_symbol() || d == inner.extents[axis] || std::find(node.binds.begin(), node.binds.end(), d.name()) == node.binds.end())
      continue;
    symbols.push_back(d);
    values.push_back(inner.extents[axis]);
  }
}

Lowerer::Scope Lowerer::region_scope(const Graph& region, Scope& outer, const Node& node) {
  Scope inner{&region, assign_layouts(region, options_.channels_last ? target_.vector_floats : 1, 4, options_.math != Math::Reproducible),
              PerValue<std::vector<View>>(region.values.size())};
  if (!options_.channels_last) std::fill(inner.layouts.begin(), inner.layouts.end(), Layout{});
  const std::size_t formals = region.inputs.size() - node.captures.size();
  for (std::size_t i = 0; i < node.captures.size(); ++i)
    define_view(inner, region.inputs[formals + i], view_of(outer, node.captures[i], nullptr));
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
  const Layout row_major;
  If branches{.condition = view_of(scope, node.inputs[0], &row_major).pointer, .then_steps = {}, .else_steps = {}};
  // Captures are made available before the branch, in the layouts they have.
  for (ValueId v : node.captures) view_of(scope, v, nullptr);
  DimList symbols;
  for (const std::string& s : node.binds) symbols.push_back(Dim::symbol(s));
  declare(symbols, DimList(symbols.size(), 0));
  std::vector<View> results(node.outputs.size());
  std::vector<char> in_branch(node.outputs.size(), 0);  // the branch allocates the memory
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId v = node.outputs[i];
    if (v == kAbsent) continue;
    const Type& type = graph[v].type;
    DimList own, unused;
    collect_extents(node, type, Type::tensor(type.element, Extents(type.extents.size(), -1)), own, unused);
    if (type.is_object()) {
      results[i] = define_object(scope, v);
    } else if (own.empty() || bytes_of(type).upper_bound()) {
      results[i] = define(scope, v, row_major);
    } else {
      need_heap(node);
      const BufferId block =
          declare_pointer({.name = graph[v].name, .element = type.element, .extents = type.extents, .bytes = bytes_of(type)});
      results[i] = whole_buffer(block, type);
      define_view(scope, v, results[i]);
      in_branch[i] = 1;
    }
  }
  const auto lower_branch = [&](const char* branch) {
    const Graph* region = node.region(branch);
    if (region == nullptr) node.fail(ErrorKind::Invalid, fmt::format("has no {}", branch));
    Scope inner = region_scope(*region, scope, node);
    return lower_block(inner, [&] {
      for (std::size_t i = 0; i < region->outputs.size() && i < results.size(); ++i) {
        if (results[i].pointer.buffer < 0) continue;
        const Type& type = (*region)[region->outputs[i]].type;
        DimList own, values;
        collect_extents(node, graph[node.outputs[i]].type, type, own, values);
        assign(own, values);
        if (in_branch[i]) allocate(results[i].pointer.buffer, bytes_of(type));
        View to = results[i];
        if (type.is_tensor()) to.extents = type.extents;
        write_output(inner, region->outputs[i], to);
      }
    });
  };
  branches.then_steps = lower_branch("then_branch");
  branches.else_steps = lower_branch("else_branch");
  emit(std::move(branches), fmt::format("If '{}'", node.name));
}

void Lowerer::lower_loop(Scope& scope, const Node& node) { LoopLowering(*this, scope, node).run(); }

}  // namespace onnxc
