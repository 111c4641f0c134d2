#include "compiler/ir/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/ir/graph.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

std::string list_text(const std::vector<Type>& types) {
  std::string list;
  for (const Type& type : types) list += (list.empty() ? "" : ", ") + kind_text(type);
  return list;
}

std::string rank_text(uint32_t ranks) {
  std::string list;
  for (int rank = 0; rank < 32; ++rank) {
    if (ranks >> rank & 1) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  }
  return list;
}

}  // namespace

bool differ_in_kind(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::Unknown || b.kind == Type::Kind::Unknown) return false;
  if (a.kind != b.kind) return true;
  const bool has_element = a.kind == Type::Kind::Tensor || a.kind == Type::Kind::Map;
  if (has_element && a.element != b.element) return a.element != ElementType::Undefined && b.element != ElementType::Undefined;
  return !a.nested.empty() && !b.nested.empty() && differ_in_kind(a.nested[0], b.nested[0]);
}

std::string kind_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Unknown: return "?";
    case Type::Kind::Tensor: return std::string(name(type.element));
    case Type::Kind::Sequence: return fmt::format("seq({})", kind_text(type.nested[0]));
    case Type::Kind::Optional: return fmt::format("optional({})", kind_text(type.nested[0]));
    case Type::Kind::Map: return fmt::format("map({}, {})", name(type.element), kind_text(type.nested[0]));
  }
  return "?";
}

std::string stated_error(const Value& value) {
  if (!differ_in_kind(value.type, value.stated)) return {};
  return fmt::format("'{}' is {}, and the model states {}", value.name, kind_text(value.type), kind_text(value.stated));
}

void verify_inputs(const Schema& schema, const Graph& graph, const Node& node) {
  std::map<std::string, std::pair<int, Type>> bound;  // by type variable: the first input that has it
  for (int i = 0; i < node.own_inputs() && !schema.inputs.empty(); ++i) {
    if (!node.has_input(i)) continue;
    const Schema::Operand& operand = schema.inputs[std::min(static_cast<std::size_t>(i), schema.inputs.size() - 1)];
    const Value& value = graph[node.input(i)];
    const auto refuse = [&](const std::string& what) {
      throw Error(
          ErrorCode::OperandType,
          std::vector<Diagnostic>{{node.name, schema.op, fmt::format("input {} ({}, '{}') {}", i, operand.name, value.name, what)}});
    };
    if (std::ranges::all_of(operand.types, [&](const Type& type) { return differ_in_kind(type, value.type); }) && !operand.types.empty())
      refuse(fmt::format("is {}; {} is allowed", kind_text(value.type), list_text(operand.types)));
    if (operand.ranks != 0 && value.type.is_tensor() && value.type.ranked && (operand.ranks >> value.type.rank() & 1) == 0)
      refuse(fmt::format("has rank {}; {} is allowed", value.type.rank(), rank_text(operand.ranks)));
    if (operand.variable.empty()) continue;
    auto& [first, type] = bound.try_emplace(operand.variable, i, value.type).first->second;
    if (differ_in_kind(type, value.type))
      refuse(fmt::format("is {}, and input {} is {}; they must be of one type", kind_text(value.type), first, kind_text(type)));
    const bool is_open = type.kind == Type::Kind::Unknown || (type.kind == Type::Kind::Tensor && type.element == ElementType::Undefined);
    if (is_open) std::tie(first, type) = std::pair(i, value.type);
  }
}

}  // namespace onnxc
