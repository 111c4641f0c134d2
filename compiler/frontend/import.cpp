#include "compiler/frontend/import.h"

#include <fmt/format.h>

#include <future>
#include <set>
#include <utility>

#include "compiler/frontend/check_functions.h"
#include "compiler/frontend/expand_functions.h"
#include "compiler/frontend/free_names.h"
#include "compiler/frontend/inline_functions.h"
#include "compiler/frontend/model_file.h"
#include "compiler/frontend/schemas.h"
#include "compiler/frontend/sort_nodes.h"
#include "compiler/frontend/tensors.h"
#include "compiler/frontend/type_importer.h"
#include "compiler/ops/operator.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/out_of_memory.h"
#include "compiler/support/sha256.h"
#include "compiler/support/stage.h"
#include "onnx/onnx_pb.h"
#include "runtime_stub/onnxc/base.hpp"

namespace onnxc {
namespace {

class GraphImporter {
 public:
  GraphImporter(const ModelInfo& info, Schemas& schemas, TypeImporter& types, ExternalData& external, onnx::ModelProto& model)
      : info_(info), schemas_(schemas), types_(types), external_(external), model_(model) {}

  /// `captures`: names of outer values that the graph may use. Each becomes an input after the graph's own.
  Graph import(onnx::GraphProto& proto, const std::vector<std::string>& captures, const Graph* outer,
               const std::map<std::string, ValueId>* outer_scope, int depth) {
    if (depth > 64) throw Error(ErrorCode::NestedTooDeeply, "graphs are nested too deeply");
    Graph graph;
    graph.name = proto.name();
    graph.metadata["sha256"] = info_.sha256;  // of the model's file
    std::map<std::string, ValueId> scope;
    const auto define = [&](const std::string& name, Type type, const char* what) {
      if (name.empty()) throw Error(ErrorCode::NameClash, fmt::format("{} of graph '{}' has no name", what, proto.name()));
      check_name(name);
      if (scope.count(name) != 0) throw Error(ErrorCode::NameClash, fmt::format("'{}' is defined twice in graph '{}'", name, proto.name()));
      graph.values.push_back({name, std::move(type), nullptr, std::nullopt});
      return scope[name] = static_cast<ValueId>(graph.values.size()) - 1;
    };
    const auto initialise = [&](const std::string& name, Constant constant) {
      const Type type = Type::tensor(constant->type, to_extents(constant->shape));
      graph[define(name, type, "an initialiser")].constant = std::move(constant);
    };
    for (auto& tensor : *proto.mutable_initializer()) initialise(tensor.name(), import_tensor(tensor, external_));
    for (auto& tensor : *proto.mutable_sparse_initializer()) initialise(tensor.values().name(), import_sparse_tensor(tensor, external_));
    for (const auto& input : proto.input()) {
      const auto initialised = scope.find(input.name());
      // The initialiser is the input's default.
      if (initialised != scope.end() && graph[initialised->second].constant) continue;
      graph.inputs.push_back(define(input.name(), types_.import(input.type(), input.name()), "an input"));
      graph[graph.inputs.back()].stated = kind_of(input.type());
    }
    for (const auto& name : captures) {
      if (scope.count(name) != 0)
        throw Error(ErrorCode::NameClash, fmt::format("'{}' of graph '{}' hides a value outside", name, proto.name()));
      graph.inputs.push_back(define(name, (*outer)[outer_scope->at(name)].type, "a capture"));
    }
    for (auto& node : *proto.mutable_node()) import_node(node, graph, scope, define, depth);
    for (const auto& output : proto.output()) {
      const auto it = scope.find(output.name());
      if (it == scope.end())
        throw Error(ErrorCode::OutputNotComputed, fmt::format("output '{}' of graph '{}' is never computed", output.name(), proto.name()));
      graph.outputs.push_back(it->second);
      state_type(graph[it->second], output.type());
    }
    for (const auto& value : proto.value_info()) {
      if (const auto it = scope.find(value.name()); it != scope.end()) state_type(graph[it->second], value.type());
    }
    if (graph.outputs.empty()) throw Error(ErrorCode::OutputNotComputed, fmt::format("graph '{}' has no output", proto.name()));
    return graph;
  }

 private:
  /// Records the type that a model states for a computed value. Its kind must be right, and its rank serves rules
  /// that cannot infer it. Extents are inferred.
  static void state_type(Value& value, const onnx::TypeProto& stated) {
    value.stated = kind_of(stated);
    if (std::string error = stated_error(value); !error.empty()) throw Error(ErrorCode::StatedType, std::move(error));
    const auto& tensor = stated.tensor_type();
    const auto element = element_type_numbered(tensor.elem_type());
    if (value.type.kind != Type::Kind::Unknown || !stated.has_tensor_type() || !tensor.has_shape() ||
        tensor.shape().dim_size() > kMaxRank || !element)
      return;
    value.type = Type::tensor(*element, Extents(static_cast<std::size_t>(tensor.shape().dim_size()), unknown_extent()));
  }

  template <class Define>
  void import_node(onnx::NodeProto& proto, Graph& graph, std::map<std::string, ValueId>& scope, Define& define, int depth) {
    Node node;
    node.domain = normal_domain(proto.domain());
    node.op = proto.op_type();
    node.name = node_name(proto);
    node.version = schemas_.version_of(node.domain);
    const bool verifies = node.domain == kVerifyDomain;
    node.schema = schemas_.schema_of(verifies ? proto.overload() : node.domain, node.op);
    if (verifies) {
      node.domain = "onnxc";
      node.op = "Verify";
    }
    std::vector<std::string> captured;
    node.guard([&] { captured = free_names(proto, depth); });
    for (const auto& name : captured) {
      const auto it = scope.find(name);
      if (it == scope.end()) refuse_undefined(node, name);
      node.captures.push_back(it->second);
    }
    for (auto& a : *proto.mutable_attribute()) import_attribute(a, node, graph, scope, captured, depth);
    for (const auto& name : proto.input()) {
      if (name.empty()) {
        node.inputs.push_back(kAbsent);
        continue;
      }
      const auto it = scope.find(name);
      if (it == scope.end()) refuse_undefined(node, name);
      node.inputs.push_back(it->second);
    }
    while (!node.inputs.empty() && node.inputs.back() == kAbsent) node.inputs.pop_back();
    if (node.is("Constant")) {
      graph[define(proto.output_size() > 0 ? proto.output(0) : "", {}, "a Constant")] = constant_value(node, proto);
      return;
    }
    for (const auto& name : proto.output()) node.outputs.push_back(name.empty() ? kAbsent : define(name, {}, "an output"));
    graph.nodes.push_back(std::move(node));
  }

  /// --repair is named where it changes something. It cannot break a circle, which sort_nodes tells of.
  [[noreturn]] void refuse_undefined(const Node& node, const std::string& name) {
    const std::string found = fmt::format("uses '{}', which is not defined before it", name);
    const bool helps = sort_nodes(model_);  // nobody reads the model any more
    node.fail(ErrorCode::NotDefinedBefore, found,
              helps ? "the nodes of a model must be in topological order; --repair puts them into it" : "");
  }

  void import_attribute(onnx::AttributeProto& a, Node& node, const Graph& graph, const std::map<std::string, ValueId>& scope,
                        const std::vector<std::string>& captured, int depth) {
    const auto put = [&](Attribute value) { node.attributes.insert_or_assign(a.name(), std::move(value)); };
    switch (a.type()) {
      case onnx::AttributeProto::INT: put(static_cast<int64_t>(a.i())); break;
      case onnx::AttributeProto::FLOAT: put(a.f()); break;
      case onnx::AttributeProto::STRING: put(a.s()); break;
      case onnx::AttributeProto::INTS: put(std::vector<int64_t>(a.ints().begin(), a.ints().end())); break;
      case onnx::AttributeProto::FLOATS: put(std::vector<float>(a.floats().begin(), a.floats().end())); break;
      case onnx::AttributeProto::STRINGS: put(std::vector<std::string>(a.strings().begin(), a.strings().end())); break;
      case onnx::AttributeProto::TENSOR: put(import_tensor(*a.mutable_t(), external_)); break;
      case onnx::AttributeProto::SPARSE_TENSOR: put(import_sparse_tensor(*a.mutable_sparse_tensor(), external_)); break;
      case onnx::AttributeProto::TYPE_PROTO: put(types_.import(a.tp(), node.name)); break;
      case onnx::AttributeProto::GRAPH:
        node.regions.emplace_back(a.name(), std::make_shared<Graph>(import(*a.mutable_g(), captured, &graph, &scope, depth + 1)));
        break;
      default: node.fail(ErrorKind::Unsupported, fmt::format("attribute '{}' has a type that is not supported", a.name()));
    }
  }

  Value constant_value(const Node& node, const onnx::NodeProto& proto) {
    if (proto.output_size() != 1 || proto.output(0).empty()) node.fail(ErrorKind::Invalid, "has no output");
    const auto list = [&](auto values, ElementType type) {
      auto t = std::make_shared<TensorData>(TensorData::zeros(type, {static_cast<int64_t>(values.size())}));
      if (!values.empty()) std::memcpy(t->bytes.data(), values.data(), t->bytes.size());
      return Constant(t);
    };
    Constant constant;
    for (const auto& [name, attribute] : node.attributes) {
      if (name == "value" || name == "sparse_value") {
        if (const auto* t = std::get_if<Constant>(&attribute)) constant = *t;
      } else if (name == "value_int") {
        constant = make_scalar(ElementType::I64, node.integer(name, 0));
      } else if (name == "value_float") {
        constant = make_scalar(ElementType::F32, node.number(name, 0));
      } else if (name == "value_ints") {
        constant = list(node.integers(name), ElementType::I64);
      } else if (name == "value_floats") {
        if (const auto* v = std::get_if<std::vector<float>>(&attribute)) constant = list(*v, ElementType::F32);
      } else if (name == "value_string" || name == "value_strings") {
        auto t = std::make_shared<TensorData>();
        t->type = ElementType::String;
        if (const auto* s = std::get_if<std::string>(&attribute)) t->strings = {*s};
        if (const auto* v = std::get_if<std::vector<std::string>>(&attribute)) {
          t->strings = *v;
          t->shape = {static_cast<int64_t>(v->size())};
        }
        constant = t;
      }
    }
    if (!constant) node.fail(ErrorKind::Invalid, "has no value");
    return {proto.output(0), Type::tensor(constant->type, to_extents(constant->shape)), constant, std::nullopt};
  }

  const ModelInfo& info_;
  Schemas& schemas_;
  TypeImporter& types_;
  ExternalData& external_;
  onnx::ModelProto& model_;
};

/// Checks every node of the graph and its regions by itself, before anything is derived from it.
void verify_nodes(const onnx::GraphProto& graph, const Schemas& schemas, int depth) {
  if (depth > 64) throw Error(ErrorCode::NestedTooDeeply, fmt::format("graph '{}' is nested too deeply", graph.name()));
  for (const auto& node : graph.node()) {
    schemas.verify(node);
    for (const auto& a : node.attribute()) {
      if (a.has_g() && node.op_type() == "If" && normal_domain(node.domain()).empty() && a.g().input_size() > 0)
        throw Error(ErrorCode::NotAsSchema,
                    std::vector<Diagnostic>{{node_name(node), "If",
                                             fmt::format("{} has an input '{}'; a branch takes none", a.name(), a.g().input(0).name())}});
      if (a.has_g()) verify_nodes(a.g(), schemas, depth + 1);
    }
  }
}

}  // namespace

std::string text(const ImportOptions::Range& range) {
  if (!range.is_one) return "*";
  return range.min == range.max ? std::to_string(range.min) : fmt::format("{}..{}", range.min, range.max);
}

Imported import_model(const std::filesystem::path& path, const ImportOptions& options) {
  const Stage stage("import");
  Bytes bytes = read_model_file(path);
  Imported imported;
  ModelInfo& info = imported.info;
  // On another thread, if there is one: hashing a large model takes time, and parsing does not need the hash.
  // By reference: where no thread starts, libstdc++ calls what it has already moved from.
  std::future<std::string> hash = std::async([&given = std::as_const(bytes)] { return sha256(given); });
  info.files.push_back(path);
  onnx::ModelProto model = parse_model(std::as_const(bytes));  // not to be changed: no copy
  info.sha256 = hash.get();
  // Weights are large, so memory that is no longer needed is released.
  bytes.clear();
  check_header(model, info);
  info.ir_version = model.ir_version();
  info.producer_name = model.producer_name();
  info.producer_version = model.producer_version();
  info.model_domain = model.domain();
  info.model_version = model.model_version();
  info.doc_string = model.doc_string();
  info.graph_name = model.graph().name();
  for (const auto& entry : model.metadata_props()) info.metadata[entry.key()] = entry.value();
  for (int i = model.functions_size() - 1; options.replaces && i >= 0; --i) {
    const auto& function = model.functions(i);
    if (options.replaces(normal_domain(function.domain()), function.name())) model.mutable_functions()->DeleteSubrange(i, 1);
  }
  if (options.repair) sort_nodes(model);
  inline_functions(model, info.opsets, options.knows, options.replaces, options.max_nodes);
  Schemas schemas(info.opsets, options.knows, options.replaces);
  try {
    verify_nodes(model.graph(), schemas, 0);
    expand_functions(model, options.knows);
    check_node_count(model, options.max_nodes);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw Error(ErrorCode::FunctionCall, fmt::format("functions cannot be inlined: {}", reason_of(e)));
  }
  ExternalData external{path.parent_path(), {}};
  external.most_dense_bytes = options.max_dense_bytes;
  TypeImporter types(options);
  imported.graph = GraphImporter(info, schemas, types, external, model).import(*model.mutable_graph(), {}, nullptr, nullptr, 0);
  info.unmet_dims = types.unmet_dims();
  info.files.insert(info.files.end(), external.files.begin(), external.files.end());
  check_memory();
  return imported;
}

}  // namespace onnxc
