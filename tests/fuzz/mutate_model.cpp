#include "tests/fuzz/mutate_model.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"
#include "tests/fuzz/draw.h"

namespace onnxc::fuzz {
namespace {

using onnx::AttributeProto, onnx::GraphProto, onnx::ModelProto, onnx::NodeProto, onnx::TensorProto, onnx::TypeProto, onnx::ValueInfoProto;
using Schema = onnx::OpSchema;

class Mutator : public Draw {
 public:
  Mutator(ModelProto& model, std::minstd_rand& random) : Draw(random), model_(model) {}

  void change() {
    std::vector<GraphProto*> graphs;
    collect(*model_.mutable_graph(), graphs);
    GraphProto& graph = *graphs[below(graphs.size())];
    switch (below(16)) {
      case 0:
      case 1:
      case 2: change_attributes(graph); break;
      case 3:
      case 4: rewire(graph); break;
      case 5:
      case 6: change_tensor(graph); break;
      case 7: change_operator(graph); break;
      case 8: insert_node(graph); break;
      case 9: move_node(graph); break;
      case 10:
      case 11: change_type(graph); break;
      case 12: rename(graph); break;
      case 13: change_header(); break;
      case 14: change_functions(graph); break;
      case 15: nest(graph); break;
    }
  }

 private:
  /// The graph, and all inside of its nodes.
  static void collect(GraphProto& graph, std::vector<GraphProto*>& all, int depth = 0) {
    all.push_back(&graph);
    for (NodeProto& node : *graph.mutable_node()) {
      for (AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g() && depth < 8) collect(*attribute.mutable_g(), all, depth + 1);
      }
    }
  }

  static const std::vector<Schema>& schemas() {
    static const std::vector<Schema> all = onnx::OpSchemaRegistry::get_all_schemas();
    return all;
  }

  /// The names that a node of the graph may read.
  std::vector<std::string> names(const GraphProto& graph) {
    std::vector<std::string> all{""};
    for (const ValueInfoProto& input : graph.input()) all.push_back(input.name());
    for (const TensorProto& tensor : graph.initializer()) all.push_back(tensor.name());
    for (const NodeProto& node : graph.node()) all.insert(all.end(), node.output().begin(), node.output().end());
    for (const ValueInfoProto& input : model_.graph().input()) all.push_back(input.name());
    return all;
  }
  std::string name(const GraphProto& graph) {
    const std::vector<std::string> all = names(graph);
    return all[below(all.size())];
  }

  void rewire(GraphProto& graph) {
    NodeProto* node = any_of(graph.mutable_node());
    if (one_in(8)) {
      if (ValueInfoProto* output = any_of(graph.mutable_output())) output->set_name(name(graph));
      return;
    }
    if (node == nullptr) return;
    switch (below(5)) {
      case 0: node->add_input(name(graph)); break;
      case 1:
        if (!node->input().empty()) node->mutable_input()->RemoveLast();
        break;
      case 2:
        if (one_in(4) && !node->output().empty()) node->mutable_output()->RemoveLast();
        else node->add_output(one_in(2) ? "" : new_name());
        break;
      default:
        if (!node->input().empty()) node->set_input(static_cast<int>(below(static_cast<std::size_t>(node->input_size()))), name(graph));
    }
  }

  void change_operator(GraphProto& graph) {
    NodeProto* node = any_of(graph.mutable_node());
    if (node == nullptr) return;
    const Schema& schema = schemas()[below(schemas().size())];
    node->set_op_type(schema.Name());
    node->set_domain(schema.domain());
    use_domain(schema.domain());
  }
  void use_domain(const std::string& domain) {
    for (const auto& opset : model_.opset_import()) {
      if (opset.domain() == domain) return;
    }
    auto* opset = model_.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(one_in(2) ? 1 : 5);
  }

  void insert_node(GraphProto& graph) {
    const Schema& schema = schemas()[below(schemas().size())];
    NodeProto node;
    node.set_op_type(schema.Name());
    node.set_domain(schema.domain());
    use_domain(schema.domain());
    const int inputs = std::clamp(schema.min_input() + static_cast<int>(below(3)), 0, 8);
    for (int k = 0; k < inputs; ++k) node.add_input(name(graph));
    for (int k = 0; k < std::clamp(schema.min_output(), 1, 8); ++k) node.add_output(new_name());
    for (const auto& [key, attribute] : schema.attributes()) {
      if (attribute.required || one_in(4)) add_attribute(node, attribute);
    }
    const int at = static_cast<int>(below(static_cast<std::size_t>(graph.node_size()) + 1));
    *graph.add_node() = node;
    for (int k = graph.node_size() - 1; k > at; --k) graph.mutable_node()->SwapElements(k, k - 1);
    if (one_in(2)) graph.add_output()->set_name(node.output(0));
    else if (NodeProto* reader = any_of(graph.mutable_node()); reader != nullptr && !reader->input().empty())
      reader->set_input(0, node.output(0));
  }

  void move_node(GraphProto& graph) {
    const int count = graph.node_size();
    if (count == 0) return;
    const int at = static_cast<int>(below(static_cast<std::size_t>(count)));
    switch (below(3)) {
      case 0: graph.mutable_node()->DeleteSubrange(at, 1); break;
      case 1: graph.mutable_node()->SwapElements(at, static_cast<int>(below(static_cast<std::size_t>(count)))); break;
      case 2: {
        NodeProto copy = graph.node(at);
        for (std::string& output : *copy.mutable_output()) output = one_in(8) ? output : new_name();
        if (one_in(2) && copy.output_size() > 0) graph.add_output()->set_name(copy.output(0));
        *graph.add_node() = copy;
      }
    }
  }

  void add_attribute(NodeProto& node, const Schema::Attribute& like) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(like.name);
    attribute.set_type(static_cast<AttributeProto::AttributeType>(like.type));
    fill(attribute);
  }
  void fill(AttributeProto& attribute) {
    switch (attribute.type()) {
      case AttributeProto::INT: attribute.set_i(number()); break;
      case AttributeProto::FLOAT: attribute.set_f(real()); break;
      case AttributeProto::STRING: attribute.set_s(text()); break;
      case AttributeProto::INTS:
        if (!attribute.ints().empty() && !one_in(4))
          attribute.set_ints(static_cast<int>(below(static_cast<std::size_t>(attribute.ints_size()))), number());
        else if (!attribute.ints().empty() && one_in(2)) attribute.mutable_ints()->RemoveLast();
        else
          for (std::size_t k = below(4) + 1; k > 0; --k) attribute.add_ints(number());
        break;
      case AttributeProto::FLOATS: attribute.add_floats(real()); break;
      case AttributeProto::STRINGS: attribute.add_strings(text()); break;
      case AttributeProto::TENSOR: change(*attribute.mutable_t()); break;
      default: break;
    }
  }
  void change_attributes(GraphProto& graph) {
    NodeProto* node = any_of(graph.mutable_node());
    if (node == nullptr) return;
    const Schema* schema = onnx::OpSchemaRegistry::Schema(node->op_type(), node->domain() == "ai.onnx" ? "" : node->domain());
    AttributeProto* attribute = any_of(node->mutable_attribute());
    if (attribute == nullptr || one_in(4)) {
      if (schema == nullptr || schema->attributes().empty()) return;
      const auto chosen = std::next(schema->attributes().begin(), static_cast<std::ptrdiff_t>(below(schema->attributes().size())));
      add_attribute(*node, chosen->second);
    } else if (one_in(6)) {
      node->mutable_attribute()->DeleteSubrange(static_cast<int>(below(static_cast<std::size_t>(node->attribute_size()))), 1);
    } else if (one_in(12)) {
      attribute->set_type(static_cast<AttributeProto::AttributeType>(below(15)));
    } else {
      fill(*attribute);
    }
  }

  void change_tensor(GraphProto& graph) {
    if (TensorProto* tensor = any_of(graph.mutable_initializer())) change(*tensor);
  }
  void change(TensorProto& tensor) {
    switch (below(7)) {
      case 0:
        if (tensor.dims().empty() || one_in(4)) tensor.add_dims(one_in(2) ? 1 : number());
        else tensor.set_dims(static_cast<int>(below(static_cast<std::size_t>(tensor.dims_size()))), number());
        break;
      case 1:
        if (!tensor.dims().empty()) tensor.mutable_dims()->RemoveLast();
        break;
      case 2: tensor.set_data_type(static_cast<int>(below(27))); break;
      case 3:
        if (!tensor.raw_data().empty()) (*tensor.mutable_raw_data())[below(tensor.raw_data().size())] = static_cast<char>(number());
        else if (!tensor.int64_data().empty())
          tensor.set_int64_data(static_cast<int>(below(static_cast<std::size_t>(tensor.int64_data_size()))), number());
        else if (!tensor.float_data().empty())
          tensor.set_float_data(static_cast<int>(below(static_cast<std::size_t>(tensor.float_data_size()))), real());
        break;
      case 4: {  // whole numbers, as shapes, axes and indices are
        const std::string kept = tensor.name();
        tensor.Clear();
        tensor.set_name(kept);
        tensor.set_data_type(one_in(4) ? TensorProto::INT32 : TensorProto::INT64);
        const std::size_t count = below(4);
        tensor.add_dims(static_cast<int64_t>(count));
        for (std::size_t k = 0; k < count; ++k) {
          if (tensor.data_type() == TensorProto::INT64) tensor.add_int64_data(number());
          else tensor.add_int32_data(static_cast<int32_t>(number()));
        }
        break;
      }
      case 5: tensor.mutable_raw_data()->resize(tensor.raw_data().size() / 2); break;
      case 6: {
        auto* entry = tensor.add_external_data();
        entry->set_key(one_in(2) ? "location" : one_in(2) ? "offset" : "length");
        entry->set_value(one_in(2) ? "model.onnx" : one_in(2) ? "../model.onnx" : std::to_string(number()));
        if (one_in(2)) tensor.set_data_location(TensorProto::EXTERNAL);
      }
    }
  }

  void change_type(GraphProto& graph) {
    ValueInfoProto* value = one_in(3)   ? any_of(graph.mutable_output())
                            : one_in(3) ? any_of(graph.mutable_value_info())
                                        : any_of(graph.mutable_input());
    if (value == nullptr) {
      graph.add_input()->set_name(new_name());
      return;
    }
    TypeProto& type = *value->mutable_type();
    if (one_in(12)) {
      const TypeProto inner = type;
      if (one_in(2)) *type.mutable_sequence_type()->mutable_elem_type() = inner;
      else *type.mutable_optional_type()->mutable_elem_type() = inner;
      return;
    }
    auto& tensor = *type.mutable_tensor_type();
    if (one_in(4)) {
      tensor.set_elem_type(static_cast<int>(below(27)));
      return;
    }
    auto& shape = *tensor.mutable_shape();
    if (shape.dim().empty() || one_in(5)) shape.add_dim()->set_dim_value(one_in(2) ? 1 : number());
    else if (one_in(5)) shape.mutable_dim()->RemoveLast();
    else if (auto* dim = any_of(shape.mutable_dim()); one_in(3)) dim->set_dim_param(one_in(2) ? "n" : text());
    else dim->set_dim_value(number());
  }

  void rename(GraphProto& graph) {
    const std::string from = name(graph), to = one_in(2) ? text() : name(graph);
    const bool everywhere = !one_in(4);
    const auto change = [&](std::string* name) {
      if (*name == from && (everywhere || one_in(2))) *name = to;
    };
    for (NodeProto& node : *graph.mutable_node()) {
      for (std::string& input : *node.mutable_input()) change(&input);
      for (std::string& output : *node.mutable_output()) change(&output);
      if (one_in(8)) node.set_name(text());
    }
    for (TensorProto& tensor : *graph.mutable_initializer()) change(tensor.mutable_name());
    for (ValueInfoProto& value : *graph.mutable_input()) change(value.mutable_name());
    for (ValueInfoProto& value : *graph.mutable_output()) change(value.mutable_name());
  }

  void change_header() {
    if (one_in(4)) model_.set_ir_version(number());
    else if (auto* opset = any_of(model_.mutable_opset_import()); opset != nullptr && !one_in(4))
      opset->set_version(static_cast<int64_t>(below(28)));
    else use_domain(one_in(2) ? "com.microsoft" : "ai.onnx.ml");
  }

  /// A node becomes the body of a function that is called in its place; or a function changes.
  void change_functions(GraphProto& graph) {
    if (auto* function = any_of(model_.mutable_functions()); function != nullptr && one_in(2)) {
      NodeProto* node = any_of(function->mutable_node());
      if (node == nullptr) return;
      if (one_in(3) && !function->input().empty()) function->mutable_input()->RemoveLast();
      else if (one_in(3)) *function->add_node() = NodeProto(*node);
      else if (one_in(2)) node->set_op_type(function->name()), node->set_domain(function->domain());
      else if (!node->input().empty() && !function->input().empty()) node->set_input(0, function->input(0));
      return;
    }
    NodeProto* node = any_of(graph.mutable_node());
    if (node == nullptr || node->output().empty()) return;
    auto& function = *model_.add_functions();
    function.set_name(new_name());
    function.set_domain("local");
    for (const auto& opset : model_.opset_import()) *function.add_opset_import() = opset;
    *function.add_node() = *node;
    for (const std::string& input : node->input())
      if (!input.empty()) function.add_input(input);
    for (const std::string& output : node->output())
      if (!output.empty()) function.add_output(output);
    node->set_op_type(function.name());
    node->set_domain("local");
    node->clear_attribute();
    use_domain("local");
  }

  /// A node becomes both branches of an If, or the body of a Loop.
  void nest(GraphProto& graph) {
    NodeProto* node = any_of(graph.mutable_node());
    if (node == nullptr || node->output().empty() || node->ByteSizeLong() > 20000) return;
    GraphProto body;
    body.set_name(new_name());
    *body.add_node() = *node;
    for (std::string& output : *body.mutable_node(0)->mutable_output()) {
      if (output.empty()) continue;
      output += "_inside";
      body.add_output()->set_name(output);
    }
    NodeProto outer;
    for (const std::string& output : node->output())
      if (!output.empty()) outer.add_output(output);
    const bool loop = one_in(3);
    outer.set_op_type(loop ? "Loop" : "If");
    outer.add_input(name(graph));
    if (loop) {
      outer.add_input(name(graph));
      body.add_input()->set_name("i");
      body.add_input()->set_name("go");
      body.add_output()->set_name("go");
      for (int k = body.output_size() - 1; k > 0; --k) body.mutable_output()->SwapElements(k, k - 1);
    }
    for (const char* key : loop ? std::vector<const char*>{"body"} : std::vector<const char*>{"then_branch", "else_branch"}) {
      AttributeProto& attribute = *outer.add_attribute();
      attribute.set_name(key);
      attribute.set_type(AttributeProto::GRAPH);
      *attribute.mutable_g() = body;
    }
    *node = outer;
  }

  ModelProto& model_;
};

}  // namespace

void mutate(ModelProto& model, std::minstd_rand& random) {
  Mutator mutator(model, random);
  for (std::size_t count = 1 + mutator.below(4); count > 0; --count) mutator.change();
}

void cross_over(ModelProto& model, const ModelProto& donor, std::minstd_rand& random) {
  Mutator mutator(model, random);
  GraphProto& graph = *model.mutable_graph();
  const GraphProto& other = donor.graph();
  if (other.node().empty()) return;
  const std::size_t count = static_cast<std::size_t>(other.node_size()), first = mutator.below(count),
                    last = std::min(count, first + 1 + mutator.below(4));
  std::vector<std::string> read;
  for (std::size_t k = first; k < last; ++k) {
    const NodeProto& node = other.node(static_cast<int>(k));
    read.insert(read.end(), node.input().begin(), node.input().end());
    *graph.add_node() = node;
  }
  for (const TensorProto& tensor : other.initializer()) {
    if (std::ranges::find(read, tensor.name()) != read.end()) *graph.add_initializer() = tensor;
  }
  for (const ValueInfoProto& input : other.input()) {
    if (std::ranges::find(read, input.name()) != read.end()) *graph.add_input() = input;
  }
  const NodeProto& newest = graph.node(graph.node_size() - 1);
  if (newest.output_size() > 0) graph.add_output()->set_name(newest.output(0));
  if (donor.opset_import_size() > 0 && mutator.one_in(2)) *model.mutable_opset_import() = donor.opset_import();
  mutate(model, random);
}

}  // namespace onnxc::fuzz
