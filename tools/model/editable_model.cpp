#include "tools/model/editable_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/frontend/guard_inference.h"
#include "compiler/frontend/inline_functions.h"
#include "compiler/frontend/model_file.h"
#include "compiler/frontend/schemas.h"
#include "compiler/frontend/tensors.h"
#include "compiler/support/error_codes.h"
#include "onnx/defs/schema.h"
#include "onnx/version_converter/convert.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

constexpr int64_t kMostFileBytes = INT32_MAX;  // protobuf's limit

template <class Visit>
void for_each_node(const GraphProto& graph, const Visit& visit) {
  for (const auto& node : graph.node()) {
    visit(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_node(attribute.g(), visit);
    }
  }
}

/// All names that nodes of a region read, whether it defines them or not.
void add_names_read(const GraphProto& region, std::set<std::string>& names) {
  for_each_node(region, [&](const NodeProto& node) { names.insert(node.input().begin(), node.input().end()); });
  for_each_node(region, [&](const NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      for (const auto& output : attribute.g().output()) names.insert(output.name());
    }
  });
  for (const auto& output : region.output()) names.insert(output.name());
}

bool has_changed(const GraphProto& graph, int from, int to) {
  bool changed = false;
  for_each_node(graph, [&](const NodeProto& node) {
    if (!normal_domain(node.domain()).empty()) return;
    const auto* before = onnx::OpSchemaRegistry::Schema(node.op_type(), from, "");
    const auto* after = onnx::OpSchemaRegistry::Schema(node.op_type(), to, "");
    changed |= before == nullptr || after == nullptr || before->since_version() != after->since_version();
  });
  return changed;
}

void set_opset(onnx::ModelProto& model, int64_t opset) {
  for (auto& import : *model.mutable_opset_import()) {
    if (normal_domain(import.domain()).empty()) import.set_version(opset);
  }
  constexpr std::pair<int64_t, int64_t> kFirstIr[] = {
      {21, 10}, {20, 9}, {15, 8}, {13, 7}, {11, 6}};  // the IR version that came with an opset
  for (const auto& [first, ir] : kFirstIr) {
    if (opset >= first) return model.set_ir_version(std::max(model.ir_version(), ir));
  }
}

}  // namespace

onnx::ModelProto read_editable_model(const std::filesystem::path& path) {
  const Bytes bytes = read_model_file(path);
  onnx::ModelProto model = parse_model(bytes);
  ModelInfo info;
  check_header(model, info);
  inline_functions(model, info.opsets, {}, {});
  embed_external_data(model, path.parent_path());
  return model;
}

void embed_external_data(onnx::ModelProto& model, const std::filesystem::path& folder) {
  ExternalData external{folder, {}};
  for_each_tensor(*model.mutable_graph(), [&](onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    tensor = to_proto(*import_tensor(tensor, external), tensor.name());
  });
}

void write_model(const onnx::ModelProto& model, const std::filesystem::path& path) {
  if (model.ByteSizeLong() > static_cast<std::size_t>(kMostFileBytes))
    throw Error(ErrorKind::Budget, fmt::format("the result has {} bytes, more than protobuf's limit of 2 GiB", model.ByteSizeLong()));
  std::string bytes;
  if (!model.SerializeToString(&bytes)) throw Error(ErrorKind::Internal, "the model cannot be serialised");
  write_file(path, bytes);
}

int64_t opset_of(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (normal_domain(import.domain()).empty()) return import.version();
  }
  return 1;
}

void raise_opset(onnx::ModelProto& model, int64_t opset) {
  const int64_t own = opset_of(model);
  if (own >= opset) return;
  if (!has_changed(model.graph(), static_cast<int>(own), static_cast<int>(opset))) return set_opset(model, opset);
  guard_inference();
  try {
    onnx::ModelProto converted = onnx::version_conversion::ConvertVersion(model, static_cast<int>(opset));
    model.Swap(&converted);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::OpsetConversion,
                fmt::format("opset {} cannot be brought to {}, which is needed: {}", own, opset, reason_of(error)),
                fmt::format("export the model with opset {}", opset));
  }
  set_opset(model, opset);
}

void import_domain(onnx::ModelProto& model, const std::string& domain, int64_t version) {
  for (const auto& import : model.opset_import()) {
    if (import.domain() == domain) return;
  }
  auto* import = model.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
}

TensorData to_tensor(const onnx::TensorProto& proto) {
  ExternalData none;
  onnx::TensorProto own = proto;  // which gives its bytes away
  return *import_tensor(own, none);
}

onnx::TensorProto to_proto(const TensorData& tensor, const std::string& name) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int32_t>(tensor.type));
  for (const int64_t extent : tensor.shape) proto.add_dims(extent);
  if (tensor.type == ElementType::String) proto.mutable_string_data()->Assign(tensor.strings.begin(), tensor.strings.end());
  else proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
  return proto;
}

std::vector<float> floats_of(const onnx::TensorProto* proto) {
  if (proto == nullptr || proto->data_type() != onnx::TensorProto::FLOAT) return {};
  const TensorData data = to_tensor(*proto);
  const auto values = data.as<float>();
  return {values.begin(), values.end()};
}
TensorData floats_tensor(const std::vector<float>& values) {
  TensorData tensor = TensorData::zeros(ElementType::F32, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.as<float>().begin());
  return tensor;
}

const onnx::AttributeProto* find_attribute(const NodeProto& node, const std::string& name) {
  const auto found = std::ranges::find_if(node.attribute(), [&](const auto& attribute) { return attribute.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}
int64_t integer_attribute(const NodeProto& node, const std::string& name, int64_t otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}
float number_attribute(const NodeProto& node, const std::string& name, float otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : attribute->f();
}
std::vector<int64_t> integers_attribute(const NodeProto& node, const std::string& name) {
  const auto* attribute = find_attribute(node, name);
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}
void set_attribute(NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}
void clear_attribute(NodeProto& node, const std::string& name) {
  for (int i = node.attribute_size(); i-- > 0;) {
    if (node.attribute(i).name() == name) node.mutable_attribute()->DeleteSubrange(i, 1);
  }
}
bool is_op(const NodeProto& node, std::string_view op) { return node.op_type() == op && normal_domain(node.domain()).empty(); }
std::string shown(const NodeProto& node) { return one_line(fmt::format("{} '{}'", node.op_type(), node_name(node))); }

GraphIndex::GraphIndex(const GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) initialisers_[tensor.name()] = &tensor;
  for (const auto& input : graph.input()) names_.insert(input.name());
  for (const auto& output : graph.output()) outside_.insert(output.name());
  for (int i = 0; i < graph.node_size(); ++i) {
    const NodeProto& node = graph.node(i);
    for (const std::string& name : node.input()) {
      if (!name.empty()) readers_[name].push_back(i);
    }
    for (const std::string& name : node.output()) producers_[name] = i;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) add_names_read(attribute.g(), outside_);
    }
  }
  names_.insert(outside_.begin(), outside_.end());
  for (const auto& [name, tensor] : initialisers_) names_.insert(name);
  for (const auto& [name, node] : producers_) names_.insert(name);
  for_each_node(graph, [&](const NodeProto& node) {
    names_.insert(node.output().begin(), node.output().end());
    names_.insert(node.name());
  });
}

int GraphIndex::producer(const std::string& value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? -1 : found->second;
}
const std::vector<int>& GraphIndex::readers(const std::string& value) const {
  static const std::vector<int> kNone;
  const auto found = readers_.find(value);
  return found == readers_.end() ? kNone : found->second;
}
const onnx::TensorProto* GraphIndex::initialiser(const std::string& value) const {
  const auto found = initialisers_.find(value);
  return found == initialisers_.end() ? nullptr : found->second;
}
std::string GraphIndex::fresh(const std::string& base) {
  std::string name = base;
  for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

void set_initialiser(GraphProto& graph, const std::string& name, const TensorData& tensor) {
  for (auto& initialiser : *graph.mutable_initializer()) {
    if (initialiser.name() == name) initialiser = to_proto(tensor, name);
  }
}

void remove_unused(GraphProto& graph) {
  std::set<std::string> used;
  for (const auto& output : graph.output()) used.insert(output.name());
  std::vector<bool> keeps(static_cast<std::size_t>(graph.node_size()));
  for (int i = graph.node_size(); i-- > 0;) {
    const NodeProto& node = graph.node(i);
    const bool keep =
        node.output_size() == 0 || std::ranges::any_of(node.output(), [&](const std::string& name) { return used.contains(name); });
    keeps[static_cast<std::size_t>(i)] = keep;
    if (!keep) continue;
    used.insert(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) add_names_read(attribute.g(), used);
    }
  }
  const auto erase_if = [](auto& list, const auto& is_unused) {
    int kept = 0;
    for (int i = 0; i < list.size(); ++i) {
      if (is_unused(i)) continue;
      if (kept != i) list.SwapElements(kept, i);
      ++kept;
    }
    list.DeleteSubrange(kept, list.size() - kept);
  };
  erase_if(*graph.mutable_node(), [&](int i) { return !keeps[static_cast<std::size_t>(i)]; });
  std::set<std::string> removed;
  erase_if(*graph.mutable_initializer(), [&](int i) {
    if (!used.contains(graph.initializer(i).name())) removed.insert(graph.initializer(i).name());
    return removed.contains(graph.initializer(i).name());
  });
  erase_if(*graph.mutable_input(), [&](int i) { return removed.contains(graph.input(i).name()); });
}

void move_constants(GraphProto& graph) {
  for (const auto& node : graph.node()) {
    const auto* value = find_attribute(node, "value");
    if (!is_op(node, "Constant") || value == nullptr || !value->has_t() || node.output_size() != 1) continue;
    auto* tensor = graph.add_initializer();
    *tensor = value->t();
    tensor->set_name(node.output(0));
  }
  std::set<std::string> moved;
  for (const auto& tensor : graph.initializer()) moved.insert(tensor.name());
  auto& nodes = *graph.mutable_node();
  int kept = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (is_op(nodes[i], "Constant") && nodes[i].output_size() == 1 && moved.contains(nodes[i].output(0))) continue;
    if (kept != i) nodes.SwapElements(kept, i);
    ++kept;
  }
  nodes.DeleteSubrange(kept, nodes.size() - kept);
}

}  // namespace onnxc
