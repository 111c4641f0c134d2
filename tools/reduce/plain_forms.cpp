// Functions, branches, attributes, operands, words.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "onnx/inliner/inliner.h"
#include "tools/model/editable_model.h"
#include "tools/reduce/changes.h"

namespace onnxc {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;

/// What a region defines gets a name that the graph around it has not, and what it reads as its own inputs becomes what is given for them.
class Lifted {
 public:
  Lifted(const GraphProto& region, std::string suffix) : region_(region), suffix_(std::move(suffix)) {}

  void give(const std::string& formal, const std::string& actual) { names_[formal] = actual; }
  std::vector<NodeProto> nodes() {
    std::vector<NodeProto> made(region_.node().begin(), region_.node().end());
    for (NodeProto& node : made) rename(node);
    return made;
  }
  std::string named(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }

 private:
  void rename(NodeProto& node) {
    for (auto& name : *node.mutable_input()) name = named(name);
    for (auto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      for (auto& inner : *attribute.mutable_g()->mutable_node()) rename(inner);
      for (auto& output : *attribute.mutable_g()->mutable_output()) output.set_name(named(output.name()));
    }
    for (auto& name : *node.mutable_output()) {
      if (!name.empty()) names_[name] = name + suffix_, name += suffix_;
    }
  }

  const GraphProto& region_;
  std::string suffix_;
  std::map<std::string, std::string> names_;
};

void replace_node(GraphProto& graph, int at, std::vector<NodeProto> nodes) {
  google::protobuf::RepeatedPtrField<NodeProto> made;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (i != at) made.Add()->Swap(graph.mutable_node(i));
    else
      for (NodeProto& node : nodes) made.Add()->Swap(&node);
  }
  graph.mutable_node()->Swap(&made);
}

NodeProto identity(const std::string& from, const std::string& to) {
  NodeProto node;
  node.set_op_type("Identity");
  node.add_input(from);
  node.add_output(to);
  return node;
}

void add_scalar(GraphProto& graph, const std::string& name, int32_t type, int64_t value) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  if (type == onnx::TensorProto::BOOL) tensor->add_int32_data(static_cast<int32_t>(value));
  else tensor->add_int64_data(value);
}

/// The branch in place of the If.
bool take_branch(ModelProto& model, int at, const std::string& branch) {
  GraphProto& graph = *model.mutable_graph();
  if (at >= graph.node_size()) return false;
  const NodeProto node = graph.node(at);
  const auto* attribute = find_attribute(node, branch);
  if (node.op_type() != "If" || attribute == nullptr) return false;
  for (const auto& tensor : attribute->g().initializer()) *graph.add_initializer() = tensor;
  Lifted lifted(attribute->g(), fmt::format("_{}", at));
  std::vector<NodeProto> nodes = lifted.nodes();
  for (int i = 0; i < node.output_size() && i < attribute->g().output_size(); ++i) {
    if (!node.output(i).empty()) nodes.push_back(identity(lifted.named(attribute->g().output(i).name()), node.output(i)));
  }
  replace_node(graph, at, std::move(nodes));
  return true;
}

/// The body in place of the Loop, once. What it scans gets an axis in front.
bool take_trip(ModelProto& model, int at) {
  GraphProto& graph = *model.mutable_graph();
  if (at >= graph.node_size()) return false;
  const NodeProto node = graph.node(at);
  const auto* attribute = find_attribute(node, "body");
  if (node.op_type() != "Loop" || attribute == nullptr || attribute->g().input_size() != node.input_size()) return false;
  const GraphProto& body = attribute->g();
  for (const auto& tensor : body.initializer()) *graph.add_initializer() = tensor;
  const std::string suffix = fmt::format("_{}", at), first = "trip" + suffix, go = "go" + suffix, front = "front" + suffix;
  add_scalar(graph, first, onnx::TensorProto::INT64, 0);
  add_scalar(graph, go, onnx::TensorProto::BOOL, 1);
  add_scalar(graph, front, onnx::TensorProto::INT64, 0);
  graph.mutable_initializer(graph.initializer_size() - 1)->add_dims(1);
  Lifted lifted(body, suffix);
  lifted.give(body.input(0).name(), first);
  lifted.give(body.input(1).name(), go);
  for (int i = 2; i < body.input_size(); ++i) lifted.give(body.input(i).name(), node.input(i));
  std::vector<NodeProto> nodes = lifted.nodes();
  for (int i = 0; i < node.output_size() && i + 1 < body.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const std::string own = lifted.named(body.output(i + 1).name());
    nodes.push_back(identity(own, node.output(i)));
    if (i + 2 < body.input_size()) continue;
    nodes.back().set_op_type("Unsqueeze");
    nodes.back().add_input(front);
  }
  replace_node(graph, at, std::move(nodes));
  return true;
}

void clear_words(GraphProto& graph) {
  graph.clear_doc_string();
  for (auto& node : *graph.mutable_node()) {
    node.clear_doc_string();
    node.clear_name();
    node.clear_metadata_props();
    for (auto& attribute : *node.mutable_attribute()) {
      attribute.clear_doc_string();
      if (attribute.has_g()) clear_words(*attribute.mutable_g());
    }
  }
}

bool differs(const ModelProto& a, const ModelProto& b) { return a.SerializeAsString() != b.SerializeAsString(); }

/// A change that may find nothing to do.
Change if_changed(void (*edit)(ModelProto&)) {
  return [edit](ModelProto& m) {
    const ModelProto before = m;
    edit(m);
    return differs(before, m);
  };
}

}  // namespace

std::vector<Change> choose_branches(const ModelProto& model, const ValueTypes&) {
  std::vector<Change> changes;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const std::string& op = model.graph().node(i).op_type();
    if (op == "If") {
      for (const char* branch : {"then_branch", "else_branch"})
        changes.push_back([i, branch](ModelProto& m) { return take_branch(m, i, branch); });
    }
    if (op == "Loop") changes.push_back([i](ModelProto& m) { return take_trip(m, i); });
  }
  return changes;
}

std::vector<Change> inline_functions(const ModelProto& model, const ValueTypes&) {
  if (model.functions_size() == 0) return {};
  return {[](ModelProto& m) {
    try {
      onnx::inliner::InlineLocalFunctions(m);
    } catch (const std::exception&) {
      return false;
    }
    m.clear_functions();
    return true;
  }};
}

std::vector<Change> drop_attributes(const ModelProto& model, const ValueTypes&) {
  std::vector<Change> changes;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    for (const auto& attribute : model.graph().node(i).attribute()) {
      if (attribute.has_g()) continue;
      changes.push_back([i, name = attribute.name()](ModelProto& m) {
        NodeProto& node = *m.mutable_graph()->mutable_node(i);
        const int before = node.attribute_size();
        clear_attribute(node, name);
        return node.attribute_size() < before;
      });
    }
  }
  return changes;
}

std::vector<Change> drop_operands(const ModelProto& model, const ValueTypes&) {
  std::vector<Change> changes;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const NodeProto& node = model.graph().node(i);
    for (int k = node.input_size(); k-- > 1;) {
      changes.push_back([i, k](ModelProto& m) {
        NodeProto& own = *m.mutable_graph()->mutable_node(i);
        if (own.input_size() <= k || own.input(k).empty()) return false;
        if (k + 1 == own.input_size() || own.op_type() == "Concat" || own.op_type() == "Sum") own.mutable_input()->DeleteSubrange(k, 1);
        else own.set_input(k, "");
        while (own.input_size() > 0 && own.input(own.input_size() - 1).empty()) own.mutable_input()->RemoveLast();
        return true;
      });
    }
    for (int k = node.output_size(); k-- > 1;) {
      changes.push_back([i, k](ModelProto& m) {
        NodeProto& own = *m.mutable_graph()->mutable_node(i);
        if (k + 1 != own.output_size()) return false;
        own.mutable_output()->RemoveLast();
        return true;
      });
    }
  }
  return changes;
}

std::vector<Change> drop_words(const ModelProto& model, const ValueTypes&) {
  std::vector<Change> changes{
      if_changed([](ModelProto& m) { m.mutable_graph()->clear_value_info(); }),
      if_changed(restate),
      if_changed([](ModelProto& m) {
        m.clear_producer_name();
        m.clear_producer_version();
        m.clear_doc_string();
        m.clear_domain();
        m.clear_model_version();
        m.clear_metadata_props();
        m.mutable_graph()->clear_metadata_props();
        m.mutable_graph()->clear_quantization_annotation();
        clear_words(*m.mutable_graph());
      }),
  };
  const auto& imports = model.opset_import();
  for (int i = 0; i < imports.size(); ++i) {
    if (imports.Get(i).domain().empty()) continue;
    changes.push_back([domain = imports.Get(i).domain()](ModelProto& m) {
      for (int k = 0; k < m.opset_import_size(); ++k) {
        if (m.opset_import(k).domain() != domain) continue;
        m.mutable_opset_import()->DeleteSubrange(k, 1);
        return true;
      }
      return false;
    });
  }
  for (int i = model.graph().input_size(); i-- > 0;) {  // what nothing reads: a checker tells of the others
    changes.push_back([name = model.graph().input(i).name()](ModelProto& m) {
      auto& inputs = *m.mutable_graph()->mutable_input();
      for (int k = 0; k < inputs.size(); ++k) {
        if (inputs.Get(k).name() != name) continue;
        inputs.DeleteSubrange(k, 1);
        return true;
      }
      return false;
    });
  }
  return changes;
}

}  // namespace onnxc
