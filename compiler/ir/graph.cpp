#include "compiler/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <set>
#include <stdexcept>

#include "compiler/support/error_codes.h"
#include "compiler/support/out_of_memory.h"

namespace onnxc {
namespace {

template <class T>
T attribute_or(const Node& node, const std::string& name, T otherwise) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return otherwise;
  if (const T* value = std::get_if<T>(&it->second)) return *value;
  node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' has the wrong type", name));
}

}  // namespace

int64_t Node::integer(const std::string& attribute, int64_t otherwise) const { return attribute_or(*this, attribute, otherwise); }
float Node::number(const std::string& attribute, float otherwise) const { return attribute_or(*this, attribute, otherwise); }
std::string Node::string(const std::string& attribute, std::string otherwise) const {
  return attribute_or(*this, attribute, std::move(otherwise));
}
std::vector<int64_t> Node::integers(const std::string& attribute, std::vector<int64_t> otherwise) const {
  return attribute_or(*this, attribute, std::move(otherwise));
}

Graph* Node::region(const std::string& attribute) const {
  for (const auto& [name, region] : regions) {
    if (name == attribute) return region.get();
  }
  return nullptr;
}

void Node::fail(ErrorClass what, std::string found, std::string remedy) const {
  // What is wrong with a node has codes of its own.
  if (what.code == ErrorCode::Invalid) what = ErrorCode::NodeRule;
  if (what.code == ErrorCode::Unsupported) what = ErrorCode::OperatorForm;
  throw Error(what, std::vector<Diagnostic>{{name, full_op(), std::move(found), std::move(remedy)}});
}

std::string size_error(const Value& value) {
  const double bytes = least_bytes(value.type);
  if (bytes <= static_cast<double>(kMostBytes)) return {};
  return fmt::format("value '{}' is {}: 2^{} bytes or more, which no machine can address", value.name, value.type.text(),
                     std::ilogb(bytes));
}

void Node::rethrow_as_own() const {
  constexpr const char* kTooMuch = "takes more memory than there is";
  try {
    throw;
  } catch (const Misread&) {
    throw;  // the walk that infers types knows which node it is from
  } catch (const Error& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& d : diagnostics) {
      if (!d.node.empty() || !d.op.empty()) continue;
      d.node = name;
      d.op = full_op();
    }
    throw Error(error.kind(), std::move(diagnostics));
  } catch (const OutOfMemory&) {
    throw;  // of a node inside of this one
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(Diagnostic{name, full_op(), kTooMuch}.text());
  } catch (const std::length_error&) {  // more elements than a vector can have
    fail(ErrorKind::Budget, kTooMuch);
  }
}

std::string Graph::unique_name(std::string_view base) {
  if (names_.empty()) {
    for (const Value& v : values) names_.emplace(v.name, 1);
  }
  const auto [it, fresh] = names_.emplace(std::string(base), 1);
  if (fresh) return std::string(base);
  for (;;) {
    std::string candidate = fmt::format("{}.{}", base, it->second++);
    if (names_.emplace(candidate, 1).second) return candidate;
  }
}

ValueId Graph::add_value(std::string_view name, Type type) {
  values.push_back({unique_name(name.empty() ? "v" : name), std::move(type), nullptr, std::nullopt});
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::add_constant(std::string_view name, Constant constant) {
  const ValueId id = add_value(name, Type::tensor(constant->type, to_extents(constant->shape)));
  (*this)[id].constant = std::move(constant);
  return id;
}

ValueId Graph::add_constant(std::string_view name, std::vector<int64_t> list) { return add_constant(name, make_constant(std::move(list))); }

PerValue<int> use_counts(const Graph& graph) {
  PerValue<int> uses(graph.values.size(), 0);
  const auto use = [&](ValueId v) {
    if (v != kAbsent) ++uses[v];
  };
  for (const Node& node : graph.nodes) {
    for (ValueId v : node.inputs) use(v);
    for (ValueId v : node.captures) use(v);
  }
  for (ValueId v : graph.outputs) use(v);
  return uses;
}

PerValue<int> definitions(const Graph& graph) {
  PerValue<int> definition(graph.values.size(), -1);
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    for (ValueId v : graph.node(i).outputs) {
      if (v != kAbsent) definition[v] = i;
    }
  }
  return definition;
}

void replace_uses(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes) {
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    std::replace(node.captures.begin(), node.captures.end(), from, to);
  }
  std::replace(graph.outputs.begin(), graph.outputs.end(), from, to);
}

Graph clone(const Graph& graph) {
  Graph copy = graph;
  for (Node& node : copy.nodes) {
    for (auto& [name, region] : node.regions) region = std::make_shared<Graph>(clone(*region));
  }
  return copy;
}

bool grows(const Graph& graph, const State& state) {
  const ValueId present = graph.outputs[static_cast<std::size_t>(state.present)];
  const auto node =
      std::ranges::find_if(graph.nodes, [&](const Node& n) { return std::ranges::find(n.outputs, present) != n.outputs.end(); });
  return node != graph.nodes.end() && node->is("Concat") && node->inputs[0] == graph.inputs[static_cast<std::size_t>(state.past)];
}

namespace {

template <class Breach>
void verify_states(const Graph& graph, const Breach& breach) {
  std::set<int> pasts, presents;
  for (const State& state : graph.states) {
    if (state.past < 0 || state.past >= static_cast<int>(graph.inputs.size()) || state.present < 0 ||
        state.present >= static_cast<int>(graph.outputs.size()))
      return breach("a state is no input and output");
    const Value &past = graph[graph.inputs[static_cast<std::size_t>(state.past)]],
                &present = graph[graph.outputs[static_cast<std::size_t>(state.present)]];
    if (!pasts.insert(state.past).second || !presents.insert(state.present).second)
      breach(fmt::format("'{}' or '{}' is in two states", past.name, present.name));
  }
}

}  // namespace

void verify_graph(const Graph& graph, std::string_view after) {
  const auto breach = [&](const std::string& what) {
    throw Error(ErrorKind::Internal, fmt::format("after {}: graph '{}': {}", after, graph.name, what),
                "this is a bug in onnxc; please report it with the model");
  };
  const auto count = static_cast<ValueId>(graph.values.size());
  PerValue<bool> defined(graph.values.size());
  std::set<std::string_view> names;
  const auto define = [&](ValueId v, const std::string& who) {
    if (v < 0 || v >= count) breach(fmt::format("{} defines no value", who));
    if (defined[v]) breach(fmt::format("'{}' is defined twice", graph[v].name));
    defined[v] = true;
  };
  for (ValueId v = 0; v < count; ++v) {
    if (graph[v].name.empty()) breach("a value has no name");
    if (!names.insert(graph[v].name).second) breach(fmt::format("two values are named '{}'", graph[v].name));
    if (!graph[v].constant) continue;
    const Type& t = graph[v].type;
    if (!t.is_tensor() || t.element != graph[v].constant->type || t.extents != to_extents(graph[v].constant->shape))
      breach(fmt::format("constant '{}' is not of its type {}", graph[v].name, t.text()));
    define(v, "a constant");
  }
  for (ValueId v : graph.inputs) define(v, "the input list");
  for (const Node& node : graph.nodes) {
    const auto who = fmt::format("{} '{}'", node.full_op(), node.name);
    for (const auto* list : {&node.inputs, &node.captures}) {
      for (ValueId v : *list) {
        if (v == kAbsent && list == &node.inputs) continue;
        if (v < 0 || v >= count) breach(who + " uses no value");
        if (!defined[v]) breach(fmt::format("{} uses '{}' before it is defined", who, graph[v].name));
      }
    }
    for (ValueId v : node.outputs) {
      if (v != kAbsent) define(v, who);
    }
    if (node.epilogue_operands < 0 || node.epilogue_operands > static_cast<int>(node.inputs.size()))
      breach(who + " has too many epilogue operands");
    if (node.epilogue && !node.is_map() && node.epilogue->input_count() > node.epilogue_operands + 1)
      breach(who + ": its epilogue reads too much");
    if (node.is_map() && (!node.epilogue || node.epilogue->input_count() > static_cast<int>(node.inputs.size())))
      breach(who + ": bad expression");
    for (const auto& [name, region] : node.regions) {
      if (region->inputs.size() < node.captures.size()) breach(who + ": a region has fewer inputs than captures");
      verify_graph(*region, after);
    }
  }
  for (ValueId v : graph.outputs) {
    if (v < 0 || v >= count || !defined[v]) breach("an output is not defined");
  }
  verify_states(graph, breach);
}

}  // namespace onnxc
