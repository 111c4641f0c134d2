#include "compiler/frontend/expand_functions.h"

#include <fmt/format.h>

#include <map>

#include "compiler/frontend/function_precision.h"
#include "compiler/frontend/guard_inference.h"
#include "compiler/frontend/schemas.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "onnx/defs/function.h"
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
#include "onnx/shape_inference/implementation.h"

namespace onnxc {
namespace {

using Types = std::map<std::string, onnx::TypeProto>;

class Expander {
 public:
  Expander(onnx::ModelProto& model, const std::function<bool(const std::string&, const std::string&)>& knows)
      : model_(model), knows_(knows) {
    for (const auto& import : model.opset_import()) versions_[normal_domain(import.domain())] = static_cast<int>(import.version());
  }

  void run() {
    // ONNX's inference stops at domains that are not imported.
    onnx::OperatorSetIdProto& own = *model_.add_opset_import();
    own.set_domain(kVerifyDomain);
    own.set_version(1);
    // Functions may consist of functions, but none in ONNX nests more than a few levels deep.
    constexpr int kMostRounds = 12;
    for (int round = 0; round < kMostRounds; ++round) {
      if (!any_to_expand(model_.graph())) return;
      infer_types();
      expanded_ = false;
      Types types;
      expand_graph(*model_.mutable_graph(), types);
      if (!expanded_) return;
    }
  }

 private:
  const onnx::OpSchema* schema_of(const onnx::NodeProto& node) const {
    const std::string domain = normal_domain(node.domain());
    const auto version = versions_.find(domain);
    if (version == versions_.end() || knows_(domain, node.op_type())) return nullptr;
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Instance()->GetSchema(node.op_type(), version->second, domain);
    return schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction()) ? schema : nullptr;
  }

  bool any_to_expand(const onnx::GraphProto& graph) const {
    for (const auto& node : graph.node()) {
      if (schema_of(node) != nullptr) return true;
      for (const auto& a : node.attribute()) {
        if (a.has_g() && any_to_expand(a.g())) return true;
      }
    }
    return false;
  }

  void infer_types() {
    guard_inference();
    try {
      onnx::shape_inference::InferShapes(model_);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      // What could be inferred stays. Bodies that need more are not built.
    }
  }

  void expand_graph(onnx::GraphProto& graph, Types types) {
    for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
      for (const auto& v : *list) {
        if (v.has_type()) types[v.name()] = v.type();
      }
    }
    for (const auto& t : graph.initializer()) {
      onnx::TypeProto& type = types[t.name()];
      type.mutable_tensor_type()->set_elem_type(t.data_type());
      auto* shape = type.mutable_tensor_type()->mutable_shape();
      shape->clear_dim();
      for (int64_t d : t.dims()) shape->add_dim()->set_dim_value(d);
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    for (auto& node : nodes) {
      for (auto& a : *node.mutable_attribute()) {
        if (a.has_g()) expand_graph(*a.mutable_g(), types);
      }
      const onnx::OpSchema* schema = schema_of(node);
      onnx::FunctionProto body;
      if (schema == nullptr || !build_body(*schema, node, types, body)) {
        graph.add_node()->Swap(&node);
        continue;
      }
      expanded_ = true;
      for (auto& inner : *body.mutable_node()) bind_attributes(inner, node);
      if (reads_f64(node, types)) widen_own_numbers(body);
      inline_body(node, body, graph);
    }
  }

  bool build_body(const onnx::OpSchema& schema, onnx::NodeProto& node, const Types& types, onnx::FunctionProto& body) const {
    // Defaults become part of the call, since bodies refer to them.
    std::map<std::string, bool> given;
    for (const auto& a : node.attribute()) given[a.name()] = true;
    for (const auto& [name, attribute] : schema.attributes()) {
      if (given.count(name) == 0 && attribute.default_value.type() != onnx::AttributeProto::UNDEFINED) {
        onnx::AttributeProto* a = node.add_attribute();
        *a = attribute.default_value;
        a->set_name(name);
      }
    }
    const int version = versions_.at(normal_domain(node.domain()));
    if (schema.HasFunction()) {
      const onnx::FunctionProto* f = schema.GetFunction(version, false);
      if (f == nullptr) return false;
      body = *f;
      return true;
    }
    std::vector<onnx::TypeProto> inputs;
    for (const auto& name : node.input()) {
      const auto it = types.find(name);
      if (!name.empty() && it == types.end()) return false;
      inputs.push_back(name.empty() ? onnx::TypeProto() : it->second);
    }
    const onnx::FunctionBodyBuildContextImpl context(node, inputs);
    try {
      return schema.BuildContextDependentFunction(context, body, version);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      throw Error(ErrorCode::FunctionCall, std::vector<Diagnostic>{{node_name(node), node.op_type(), reason_of(e)}});
    }
  }

  static bool reads_f64(const onnx::NodeProto& node, const Types& types) {
    for (const auto& name : node.input()) {
      const auto it = types.find(name);
      if (it != types.end() && it->second.tensor_type().elem_type() == onnx::TensorProto::DOUBLE) return true;
    }
    return false;
  }

  /// Binds attributes that refer to the call's. Those that the call does not have are removed.
  static void bind_attributes(onnx::NodeProto& node, const onnx::NodeProto& call) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
    for (auto& a : *node.mutable_attribute()) {
      if (a.ref_attr_name().empty()) {
        if (a.has_g()) {
          for (auto& inner : *a.mutable_g()->mutable_node()) bind_attributes(inner, call);
        }
        bound.Add()->Swap(&a);
        continue;
      }
      for (const auto& given : call.attribute()) {
        if (given.name() != a.ref_attr_name()) continue;
        onnx::AttributeProto* b = bound.Add();
        *b = given;
        b->set_name(a.name());
      }
    }
    node.mutable_attribute()->Swap(&bound);
  }

  using Names = std::map<std::string, std::string>;

  std::string fresh(const std::string& name) { return fmt::format("{}/{}", prefix_, name); }

  /// Renames a node's inputs by `names`. Its outputs get fresh names unless they have one already.
  void rename(onnx::NodeProto& node, Names& names) {
    for (auto& input : *node.mutable_input()) {
      if (const auto it = names.find(input); it != names.end()) input = it->second;
    }
    for (auto& a : *node.mutable_attribute()) {
      if (a.has_g()) rename_graph(*a.mutable_g(), names);
    }
    for (auto& output : *node.mutable_output()) {
      if (!output.empty()) output = names.emplace(output, fresh(output)).first->second;
    }
  }

  void rename_graph(onnx::GraphProto& graph, Names names) {
    const auto define = [&](std::string& name) { name = names[name] = fresh(name); };
    for (auto& input : *graph.mutable_input()) define(*input.mutable_name());
    for (auto& t : *graph.mutable_initializer()) define(*t.mutable_name());
    graph.clear_value_info();
    for (auto& node : *graph.mutable_node()) rename(node, names);
    for (auto& output : *graph.mutable_output()) {
      if (const auto it = names.find(output.name()); it != names.end()) output.set_name(it->second);
    }
  }

  void inline_body(const onnx::NodeProto& node, onnx::FunctionProto& body, onnx::GraphProto& graph) {
    prefix_ = fmt::format("{}#{}", node.op_type(), ++count_);
    Names names;
    for (int i = 0; i < body.input_size(); ++i) names[body.input(i)] = i < node.input_size() ? node.input(i) : "";
    for (int i = 0; i < body.output_size(); ++i) {
      if (i < node.output_size() && !node.output(i).empty()) names[body.output(i)] = node.output(i);
    }
    onnx::NodeProto& verify = *graph.add_node();
    verify.set_domain(kVerifyDomain);
    verify.set_overload(normal_domain(node.domain()));
    verify.set_op_type(node.op_type());
    verify.set_name(node_name(node));
    *verify.mutable_input() = node.input();
    for (auto& inner : *body.mutable_node()) {
      rename(inner, names);
      if (inner.name().empty()) inner.set_name(node.name().empty() ? node.op_type() : node.name());
      graph.add_node()->Swap(&inner);
    }
  }

  onnx::ModelProto& model_;
  const std::function<bool(const std::string&, const std::string&)>& knows_;
  std::map<std::string, int> versions_;
  bool expanded_ = false;
  int count_ = 0;
  std::string prefix_;
};

}  // namespace

void expand_functions(onnx::ModelProto& model, const std::function<bool(const std::string& domain, const std::string& op)>& knows) {
  Expander(model, knows).run();
}

}  // namespace onnxc
