// Nodes that go.
#include <algorithm>
#include <set>

#include "tools/model/editable_model.h"
#include "tools/reduce/changes.h"

namespace onnxc {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;

/// All names that a node reads, those in its regions too.
void add_names_read(const NodeProto& node, std::set<std::string>& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const auto& inner : attribute.g().node()) add_names_read(inner, names);
    for (const auto& output : attribute.g().output()) names.insert(output.name());
  }
}

template <class Visit>
void for_each_region(GraphProto& graph, const Visit& visit) {
  visit(graph);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) for_each_region(*attribute.mutable_g(), visit);
    }
  }
}

void rename_reads(GraphProto& graph, const std::string& from, const std::string& to) {
  for_each_region(graph, [&](GraphProto& region) {
    for (auto& node : *region.mutable_node()) {
      for (auto& name : *node.mutable_input()) {
        if (name == from) name = to;
      }
    }
  });
}

template <class List, class Predicate>
void erase_if(List& list, const Predicate& goes) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (goes(list.Get(i))) continue;
    if (kept != i) list.SwapElements(kept, i);
    ++kept;
  }
  list.DeleteSubrange(kept, list.size() - kept);
}

bool is_input(const GraphProto& graph, const std::string& name) {
  return std::ranges::any_of(graph.input(), [&](const auto& input) { return input.name() == name; });
}

/// The type of a value for an input of the graph, whose extents may not be named after what a node computes.
onnx::TypeProto input_type(onnx::TypeProto type) {
  if (!type.has_tensor_type()) return type;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (!dim.has_dim_value() && dim.dim_param().starts_with("unk__")) dim.Clear();
  }
  return type;
}

/// Removes nodes [first, end). False if a type is not known that is needed.
bool cut(ModelProto& model, const ValueTypes& types, int first, int end) {
  GraphProto& graph = *model.mutable_graph();
  if (end > graph.node_size()) return false;
  std::set<std::string> written, read_inside, read_outside;
  for (int i = 0; i < graph.node_size(); ++i) {
    const bool inside = i >= first && i < end;
    if (inside) written.insert(graph.node(i).output().begin(), graph.node(i).output().end());
    add_names_read(graph.node(i), inside ? read_inside : read_outside);
  }
  written.erase("");
  for (const std::string& name : written) {
    if (!read_outside.contains(name)) continue;
    const auto type = types.find(name);
    if (type == types.end()) return false;
    auto* input = graph.add_input();
    input->set_name(name);
    *input->mutable_type() = input_type(type->second);
  }
  const onnx::TypeProto usual = graph.output_size() > 0 ? graph.output(0).type() : onnx::TypeProto();
  erase_if(*graph.mutable_output(), [&](const auto& output) { return written.contains(output.name()); });
  graph.mutable_node()->DeleteSubrange(first, end - first);
  if (graph.output_size() == 0) {  // what they read is given instead
    std::set<std::string> computed;
    for (const auto& node : graph.node()) computed.insert(node.output().begin(), node.output().end());
    for (const std::string& name : read_inside) {
      const auto type = types.find(name);
      if (name.empty() || !computed.contains(name)) continue;
      auto* output = graph.add_output();
      output->set_name(name);
      *output->mutable_type() =
          type != types.end() ? input_type(type->second) : usual;  // a guess, where nothing can be inferred behind a fault
    }
    if (graph.output_size() == 0) return false;
  }
  return true;
}

bool same_kind(const onnx::TypeProto& a, const onnx::TypeProto& b) {
  return a.has_tensor_type() && b.has_tensor_type() && a.SerializeAsString() == b.SerializeAsString();
}

/// The r-th graph of the model, the main one first, or null.
GraphProto* region_of(ModelProto& model, int number) {
  GraphProto* found = nullptr;
  for_each_region(*model.mutable_graph(), [&](GraphProto& region) {
    if (number-- == 0) found = &region;
  });
  return found;
}

}  // namespace

void sweep(ModelProto& model, bool nodes) {
  GraphProto& graph = *model.mutable_graph();
  std::set<std::string> inputs, read, called;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  if (nodes) for_each_region(graph, remove_unused);
  for (const auto& node : graph.node()) add_names_read(node, read);
  for (const auto& output : graph.output()) read.insert(output.name());
  erase_if(*graph.mutable_initializer(),
           [&](const auto& tensor) { return !read.contains(tensor.name()) && !inputs.contains(tensor.name()); });
  for (const auto& node : graph.node()) read.insert(node.output().begin(), node.output().end());
  erase_if(*graph.mutable_value_info(), [&](const auto& info) { return !read.contains(info.name()) || inputs.contains(info.name()); });
  const auto call = [&](const auto& list, const auto& self) -> void {
    for (const auto& node : list) {
      if (called.insert(node.domain() + ":" + node.op_type()).second) {
        for (const auto& function : model.functions()) {
          if (function.domain() == node.domain() && function.name() == node.op_type()) self(function.node(), self);
        }
      }
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) self(attribute.g().node(), self);
      }
    }
  };
  call(graph.node(), call);
  erase_if(*model.mutable_functions(), [&](const auto& function) { return !called.contains(function.domain() + ":" + function.name()); });
}

std::vector<Change> drop_outputs(const ModelProto& model, const ValueTypes&) {
  std::vector<Change> changes;
  const int count = model.graph().output_size();
  for (int size = count / 2; size >= 1; size /= 2) {
    for (int first = 0; first + size <= count; first += size) {
      changes.push_back([first, size](ModelProto& m) {
        if (m.graph().output_size() <= size || m.graph().output_size() < first + size) return false;
        m.mutable_graph()->mutable_output()->DeleteSubrange(first, size);
        return true;
      });
    }
  }
  return changes;
}

std::vector<Change> cut_nodes(const ModelProto& model, const ValueTypes& types) {
  std::vector<Change> changes;
  const int count = model.graph().node_size();
  for (int size = std::max(1, count / 2);; size /= 2) {
    // From the end first: it takes no inputs.
    for (int end = count; end > 0; end -= size) {
      const int first = std::max(0, end - size);
      changes.push_back([&types, first, end](ModelProto& m) { return cut(m, types, first, end); });
    }
    if (size <= 1) break;
  }
  return changes;
}

std::vector<Change> bypass_nodes(const ModelProto& model, const ValueTypes& types) {
  std::vector<Change> changes;
  int number = 0;
  for_each_region(*const_cast<ModelProto&>(model).mutable_graph(), [&](const GraphProto& region) {
    for (int i = region.node_size(); i-- > 0;) {
      const NodeProto& node = region.node(i);
      if (node.output_size() == 0) continue;
      for (const std::string& from : node.input()) {
        const std::string& to = node.output(0);
        const auto a = types.find(from), b = types.find(to);
        const bool known = a != types.end() && b != types.end();
        if (from.empty() || (known ? !same_kind(a->second, b->second) : number == 0)) continue;
        changes.push_back([from, to, number, i](ModelProto& m) {
          GraphProto* graph = region_of(m, number);
          if (graph == nullptr || graph->node_size() <= i) return false;
          const bool is_output = std::ranges::any_of(graph->output(), [&](const auto& output) { return output.name() == to; });
          if (number == 0 && is_output && is_input(*graph, from)) return false;
          if (is_output) {
            if (graph->node(i).op_type() == "Identity") return false;
            graph->mutable_node(i)->Clear();
            graph->mutable_node(i)->set_op_type("Identity");
            graph->mutable_node(i)->add_input(from);
            graph->mutable_node(i)->add_output(to);
          } else {
            graph->mutable_node()->DeleteSubrange(i, 1);
          }
          rename_reads(*graph, to, from);
          if (is_output) graph->mutable_node(i)->set_input(0, from);
          return true;
        });
      }
    }
    ++number;
  });
  return changes;
}

}  // namespace onnxc
