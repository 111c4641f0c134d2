#include "onnx/shape_inference/implementation.h"
#include "tools/reduce/changes.h"

namespace onnxc {
namespace {

void collect(const onnx::GraphProto& graph, ValueTypes& types) {
  for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& info : *list) {
      if (info.has_type() && info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET) types[info.name()] = info.type();
    }
  }
  for (const auto& tensor : graph.initializer()) {
    auto& type = *types[tensor.name()].mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    type.clear_shape();
    type.mutable_shape();
    for (const int64_t extent : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect(attribute.g(), types);
    }
  }
}

}  // namespace

ValueTypes value_types(const onnx::ModelProto& model) {
  ValueTypes types;
  collect(model.graph(), types);
  try {
    onnx::ModelProto inferred = model;
    onnx::shape_inference::InferShapes(inferred, onnx::OpSchemaRegistry::Instance(), onnx::ShapeInferenceOptions(false, 0, true));
    collect(inferred.graph(), types);
  } catch (const std::exception&) {
  }
  return types;
}

void restate(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  for (auto* list : {graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& info : *list) {
      if (!info.type().has_tensor_type()) continue;
      for (auto& dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) dim.Clear();
    }
  }
  const ValueTypes types = value_types(model);
  for (auto* list : {graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& info : *list) {
      const auto type = types.find(info.name());
      if (type != types.end()) *info.mutable_type() = type->second;
    }
  }
}

}  // namespace onnxc
