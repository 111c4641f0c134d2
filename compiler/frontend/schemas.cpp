#include "compiler/frontend/schemas.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/contrib_schemas.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/custom/custom_operator.h"
#include "compiler/support/error_codes.h"
#include "onnx/defs/data_type_utils.h"
#include "onnx/onnx_pb.h"

namespace onnxc {

Type kind_of(const onnx::TypeProto& proto) {
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
      return Type::unranked(element_type_numbered(proto.tensor_type().elem_type()).value_or(ElementType::Undefined));
    case onnx::TypeProto::kSequenceType: return Type::sequence(kind_of(proto.sequence_type().elem_type()));
    case onnx::TypeProto::kOptionalType: return Type::optional(kind_of(proto.optional_type().elem_type()));
    case onnx::TypeProto::kMapType: {
      Type map{Type::Kind::Map, element_type_numbered(proto.map_type().key_type()).value_or(ElementType::Undefined), false, {}, {}};
      map.nested.push_back(kind_of(proto.map_type().value_type()));
      return map;
    }
    default: return {};
  }
}

namespace {

Schema to_schema(const onnx::OpSchema& schema, const std::vector<uint32_t>* ranks) {
  Schema made{.op = full_op(schema.domain(), schema.Name()), .inputs = {}};
  for (const auto& input : schema.inputs()) {
    Schema::Operand operand;
    operand.name = input.GetName();
    for (const auto& type : input.GetTypes()) operand.types.push_back(kind_of(onnx::Utils::DataTypeUtils::ToTypeProto(type)));
    std::erase_if(operand.types, [](const Type& type) { return type.kind == Type::Kind::Unknown; });  // sparse tensors
    std::ranges::sort(operand.types, {}, [](const Type& type) { return std::pair{type.kind, type.element}; });
    if (input.GetIsHomogeneous()) operand.variable = input.GetTypeStr();
    if (ranks != nullptr) operand.ranks = ranks->at(made.inputs.size());
    made.inputs.push_back(std::move(operand));
  }
  return made;
}

bool is_own(const Schemas::Predicate& predicate, const std::string& domain, const std::string& op) {
  return predicate && predicate(domain, op);
}

[[noreturn]] void refuse(ErrorCode code, const onnx::NodeProto& proto, std::string found) {
  throw Error(code, std::vector<Diagnostic>{{node_name(proto), full_op(normal_domain(proto.domain()), proto.op_type()), std::move(found)}});
}

}  // namespace

std::string node_name(const onnx::NodeProto& node) {
  return !node.name().empty() ? node.name() : node.output_size() > 0 ? node.output(0) : "";
}

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string reason_of(const std::exception& error) {
  std::string text = error.what();
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  // "/folder/of/its/build/file.cc:224: function: what"
  const std::size_t separator = text.starts_with('/') ? text.find(": ") : std::string::npos;
  return separator == std::string::npos ? text : text.substr(separator + 2);
}

void check_opset(const std::string& domain, int64_t version, const std::string& who) {
  constexpr int64_t kNewest = 28, kNewestMl = 5;
  const std::string own = normal_domain(domain), shown = own.empty() ? "ai.onnx" : own;
  const int64_t newest = own.empty() ? kNewest : own == "ai.onnx.ml" ? kNewestMl : INT64_MAX;
  if (version < 1) throw Error(ErrorCode::OpsetImport, fmt::format("{}opset {} of domain '{}' does not exist", who, version, shown));
  if (version > newest)
    throw Error(ErrorCode::NewerOpset,
                fmt::format("{}opset {} of domain '{}' is newer than {}, the newest known", who, version, shown, newest),
                "export with an older opset");
}

int Schemas::version_of(const std::string& domain) const {
  const auto opset = opsets_.find(domain.empty() ? "ai.onnx" : domain);
  return opset == opsets_.end() ? 1 : static_cast<int>(std::min<int64_t>(opset->second, 1000));
}

Schemas::Found Schemas::find(const std::string& domain, const std::string& op) const {
  if (is_own(replaces_, domain, op)) return {};
  if (const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op, version_of(domain), domain)) return {schema};
  const ContribSchema* contrib = find_contrib_schema(domain, op);
  return contrib != nullptr ? Found{&contrib->schema, &contrib->ranks} : Found{};
}

void Schemas::verify(const onnx::NodeProto& node) const {
  const std::string domain = normal_domain(node.domain());
  if (domain.starts_with("onnxc") || domain.starts_with(kCustomDomain))
    refuse(ErrorCode::OpsetImport, node, fmt::format("domain '{}' is the compiler's own", domain));
  if (domain != "com.microsoft" && !opsets_.contains(domain.empty() ? "ai.onnx" : domain))
    refuse(ErrorCode::OpsetImport, node, fmt::format("domain '{}' is not imported", domain));
  const onnx::OpSchema* schema = find(domain, node.op_type()).schema;
  if (schema == nullptr) {
    if (is_own(replaces_, domain, node.op_type())) return;
    if (const onnx::OpSchema* latest = onnx::OpSchemaRegistry::Schema(node.op_type(), domain))
      refuse(ErrorCode::NotInOpset, node,
             fmt::format("is not in opset {}, which the model imports; the operator's form of today came with opset {}", version_of(domain),
                         latest->SinceVersion()));
    ONNXC_CHECK(!is_own(knows_, domain, node.op_type()), "every operator that is known has a schema");
    return;
  }
  try {
    schema->Verify(node);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    refuse(ErrorCode::NotAsSchema, node, fmt::format("is not as opset {} has it: {}", schema->SinceVersion(), reason_of(e)));
  }
}

std::shared_ptr<const Schema> Schemas::schema_of(const std::string& domain, const std::string& op) {
  const auto [entry, is_new] = made_.try_emplace({domain, op});
  if (!is_new) return entry->second;
  const Found found = find(domain, op);
  if (found.schema != nullptr) entry->second = std::make_shared<const Schema>(to_schema(*found.schema, found.ranks));
  return entry->second;
}

}  // namespace onnxc
