#include "compiler/frontend/type_importer.h"

#include <fmt/format.h>

#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/base.hpp"

namespace onnxc {

void check_name(const std::string& name) {
  if (name.find('\0') != name.npos) throw Error(ErrorCode::NameClash, fmt::format("the name '{}' holds a NUL", name));
}

Type TypeImporter::import(const onnx::TypeProto& proto, const std::string& value, int depth) {
  if (depth > 16) throw Error(ErrorCode::NestedTooDeeply, fmt::format("'{}' has a type nested too deeply", value));
  const auto element = [&](int32_t number) {
    const auto type = element_type_numbered(number);
    if (!type || *type == ElementType::Undefined)
      throw Error(ErrorCode::StatedType, fmt::format("'{}' has the unknown element type {}", value, number));
    return *type;
  };
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType: {
      const auto& tensor = proto.tensor_type();
      const ElementType type = element(tensor.elem_type());
      if (!tensor.has_shape()) return Type::unranked(type);
      if (tensor.shape().dim_size() > kMaxRank)
        throw Error(ErrorCode::RankTooHigh,
                    fmt::format("'{}' has rank {}; at most {} is supported", value, tensor.shape().dim_size(), kMaxRank));
      Extents extents;
      for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) extents.push_back(dim(tensor.shape().dim(axis), value, axis));
      return Type::tensor(type, std::move(extents));
    }
    case onnx::TypeProto::kSequenceType: return Type::sequence(import(proto.sequence_type().elem_type(), value, depth + 1));
    case onnx::TypeProto::kOptionalType: return Type::optional(import(proto.optional_type().elem_type(), value, depth + 1));
    case onnx::TypeProto::kMapType: {
      Type map{Type::Kind::Map, element(proto.map_type().key_type()), false, {}, {}};
      map.nested.push_back(import(proto.map_type().value_type(), value, depth + 1));
      return map;
    }
    case onnx::TypeProto::kSparseTensorType:
      throw Error(ErrorCode::SparseTensor, fmt::format("'{}' is a sparse tensor; only sparse initialisers are supported", value));
    default: return {};
  }
}

Dim TypeImporter::dim(const onnx::TensorShapeProto::Dimension& proto, const std::string& value, int axis) {
  if (proto.has_dim_value()) {
    if (proto.dim_value() < 0) throw Error(ErrorCode::StatedType, fmt::format("'{}' has extent {}", value, proto.dim_value()));
    return proto.dim_value();
  }
  const std::string own = fmt::format("{}_{}", value, axis);
  std::string name = proto.has_dim_param() && !proto.dim_param().empty() ? proto.dim_param() : own;
  check_name(name);
  if (const auto stated = options_.dims.find(name); stated != options_.dims.end()) {
    met_.insert(name);
    if (!stated->second.is_one) name = own;
  }
  if (const auto other = options_.same.find(name); other != options_.same.end()) return other->second;
  const auto it = options_.dims.find(name);
  if (it == options_.dims.end()) return Dim::symbol(name, 0, INT64_MAX);
  met_.insert(name);
  if (it->second.min == it->second.max) return it->second.min;
  return Dim::symbol(name, it->second.min, it->second.max);
}

std::vector<std::string> TypeImporter::unmet_dims() const {
  std::vector<std::string> unmet;
  for (const auto& [name, range] : options_.dims) {
    if (!met_.contains(name)) unmet.push_back(name);
  }
  return unmet;
}

}  // namespace onnxc
