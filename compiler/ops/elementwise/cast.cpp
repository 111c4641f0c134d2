// Cast and CastLike. Out of range, a float saturates to an integer target's range (NaN gives 0), and an integer keeps
// its low bits; so does any conversion to an integer of 4 or 2 bits. float8 follows `saturate`, and float8e8m0 also
// `round_mode`.
#include <fmt/format.h>

#include "compiler/ops/elementwise/elementwise.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// The cast function that the attributes `saturate` and `round_mode` select.
Fn cast_function(const Node& node, ElementType to) {
  const bool small =
      to == ElementType::F8E4M3FN || to == ElementType::F8E4M3FNUZ || to == ElementType::F8E5M2 || to == ElementType::F8E5M2FNUZ;
  const bool special = node.integer("saturate", 1) == 0;
  if (small && special) return Fn::CastSpecial;
  if (to != ElementType::F8E8M0) return Fn::Cast;
  const std::string mode = node.string("round_mode", "up");
  if (mode == "up") return special ? Fn::CastSpecial : Fn::Cast;
  if (mode == "down") return special ? Fn::CastSpecialDown : Fn::CastDown;
  if (mode == "nearest") return special ? Fn::CastSpecialNearest : Fn::CastNearest;
  node.fail(ErrorKind::Invalid, fmt::format("round_mode is '{}'", mode), "up, down or nearest");
}

Expr cast_expression(const Graph& graph, const Node& node, ElementType to) {
  const ElementType from = element_of(graph, node, 0);
  for (ElementType t : {from, to}) {
    if (t == ElementType::String || t == ElementType::C64 || t == ElementType::C128)
      node.fail(ErrorCode::ElementType, fmt::format("cast from {} to {}", name(from), name(to)));
  }
  Expr e;
  e.finish(e.cast(to, e.input(0, from), cast_function(node, to)));
  return e;
}

ElementType target(const Node& node) {
  const auto type = element_type_numbered(static_cast<int32_t>(node.integer("to", 0)));
  if (!type || *type == ElementType::Undefined)
    node.fail(ErrorKind::Invalid, fmt::format("attribute 'to' is {}, not an element type", node.integer("to", 0)));
  return *type;
}

/// Before opset 6 the target was named: to="FLOAT".
void resolve_named_type(Node& node) {
  const auto it = node.attributes.find("to");
  if (it == node.attributes.end()) return;
  const auto* text = std::get_if<std::string>(&it->second);
  if (text == nullptr) return;
  for (int32_t i = 1; element_type_numbered(i); ++i) {
    if (info(*element_type_numbered(i)).onnx_name == *text) {
      it->second = int64_t{i};
      return;
    }
  }
  node.fail(ErrorKind::Invalid, fmt::format("attribute 'to' is '{}', not an element type", *text));
}

/// Casts from and to strings may fail, so they are no expressions.
bool is_text(ElementType from, ElementType to) { return (from == ElementType::String) != (to == ElementType::String); }

void resolve_cast(GraphBuilder& b, Node& node) {
  resolve_named_type(node);
  const ElementType to = target(node);
  if (node.inputs.empty() || node.inputs[0] == kAbsent) return;
  const ElementType from = b.type(node.inputs[0]).element;
  if (from == ElementType::String && to == from) {
    node.op = "Identity";
    node.attributes.clear();
  } else if (is_text(from, to)) {
    node.domain = "onnxc";
    node.op = "CastText";
  }
}

Expr express_cast(const Graph& graph, const Node& node) { return cast_expression(graph, node, target(node)); }

std::optional<std::vector<ValueId>> decompose_cast_like(GraphBuilder& b, const Node& node) {
  const auto to = static_cast<int64_t>(b.type(node.input(1)).element);
  const ElementType from = b.type(node.input(0)).element;
  if (static_cast<int64_t>(from) == to) return std::vector{b.op("Identity", {node.input(0)})};
  if (is_text(from, b.type(node.input(1)).element)) return std::vector{b.op("onnxc.CastText", {node.input(0)}, {{"to", to}})};
  std::map<std::string, Attribute> attributes{{"to", to}};
  for (const char* name : {"saturate", "round_mode"}) {
    if (node.has(name)) attributes[name] = node.attributes.at(name);
  }
  return std::vector{b.op("Cast", {node.input(0)}, std::move(attributes))};
}

void infer_cast_like(Inference& n) { n.output(0, n.element(1), n.extents(0)); }

}  // namespace

extern const Operator op_Cast, op_CastLike;
const Operator op_Cast{
    .name = "Cast", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .resolve = resolve_cast, .express = express_cast};
const Operator op_CastLike{
    .name = "CastLike", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .infer = infer_cast_like, .decompose = decompose_cast_like};

}  // namespace onnxc
