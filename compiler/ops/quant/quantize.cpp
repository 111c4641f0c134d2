// QuantizeLinear and DequantizeLinear, per tensor, per axis or per block: compositions of elementwise operators, so that they fuse, and fold where
// weights are stored quantised.
//
//   y = saturate(round(x / scale) + zero_point)          x = (q - zero_point) * scale
#include <fmt/format.h>

#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

int64_t axis_of(const Node& node, int rank) {
  const int64_t axis = node.integer("axis", 1);
  return axis < 0 ? axis + rank : axis;
}

ElementType quantised_type(const Graph& graph, const Node& node) {
  if (node.has_input(2)) return graph[node.input(2)].type.element;
  const int64_t given = node.integer("output_dtype", 0);
  return given != 0 ? static_cast<ElementType>(given) : ElementType::U8;
}

void check_scale(Inference& n) {
  const Extents &x = n.extents(0), &scale = n.extents(1);
  const int64_t axis = axis_of(n.node(), static_cast<int>(x.size())), block = n.node().integer("block_size", 0);
  const bool one = scale.empty() || (scale.size() == 1 && scale[0] == Dim(1));
  if (one) return;
  if (axis < 0 || axis >= static_cast<int64_t>(x.size())) n.fail(fmt::format("axis {} is out of range for rank {}", axis, x.size()));
  if (block == 0) {
    if (scale.size() != 1) n.fail(fmt::format("the scale has rank {}; one value or one for each slice of the axis is needed", scale.size()));
    n.unify(scale[0], x[static_cast<std::size_t>(axis)], "the scale and the axis");
  } else if (scale.size() != x.size()) {
    n.fail(fmt::format("a blocked scale has rank {}, the input {}", scale.size(), x.size()));
  }
}

void infer_quantize(Inference& n) {
  check_scale(n);
  n.output(0, quantised_type(n.graph(), n.node()), n.extents(0));
}

void infer_dequantize(Inference& n) {
  check_scale(n);
  const int64_t given = n.node().integer("output_dtype", 0);
  n.output(0, given != 0 ? static_cast<ElementType>(given) : n.element(1), n.extents(0));
}

/// Scale or zero point, shaped so that it broadcasts against x.
ValueId spread(GraphBuilder& b, const Node& node, ValueId v) {
  const Extents x = b.extents(node.input(0));  // a copy: the builder moves values as it adds some
  const int64_t rank = static_cast<int64_t>(x.size()), axis = axis_of(node, static_cast<int>(rank)), block = node.integer("block_size", 0);
  const Extents own = b.extents(v);
  if (own.empty()) return v;
  if (own.size() == 1 && own[0] == Dim(1)) return b.op("Squeeze", {v, b.integers({0})});
  if (block == 0) {
    std::vector<int64_t> axes;
    for (int64_t k = 1; k < rank - axis; ++k) axes.push_back(k);
    return axes.empty() ? v : b.op("Unsqueeze", {v, b.integers(axes)});
  }
  // Each value stands for `block` neighbours along the axis: a new axis of that extent, merged into the old one, and cut where the last block is short.
  if (!is_static(own) || !is_static(x)) node.fail(ErrorKind::Unsupported, "a blocked scale of dynamic shape", "fix the dimensions with --dim");
  std::vector<int64_t> wide = values(own), flat = values(own);
  wide.insert(wide.begin() + axis + 1, block);
  flat[static_cast<std::size_t>(axis)] *= block;
  const ValueId apart = b.op("Unsqueeze", {v, b.integers({axis + 1})});
  const ValueId repeated = b.op("Reshape", {b.op("Expand", {apart, b.integers(wide)}), b.integers(flat)});
  const int64_t extent = x[static_cast<std::size_t>(axis)].value();
  if (flat[static_cast<std::size_t>(axis)] == extent) return repeated;
  return b.op("Slice", {repeated, b.integers({0}), b.integers({extent}), b.integers({axis})});
}

ValueId cast(GraphBuilder& b, ValueId v, ElementType to) {
  return b.type(v).element == to ? v : b.op("Cast", {v}, {{"to", static_cast<int64_t>(to)}});
}

/// Floats of less precision than f32 are computed in f32 and rounded once.
ElementType computed_in(ElementType type) { return type == ElementType::F64 ? type : ElementType::F32; }

std::optional<std::vector<ValueId>> decompose_quantize(GraphBuilder& b, const Node& node) {
  const ElementType to = quantised_type(b.graph(), node);
  if (is_sub_byte(to)) return std::nullopt;
  const ElementType type = computed_in(b.type(node.input(0)).element);
  ValueId y = b.op("Div", {cast(b, node.input(0), type), cast(b, spread(b, node, node.input(1)), type)});
  if (is_integer(to)) y = b.op("Round", {y});
  if (node.has_input(2)) y = b.op("Add", {y, cast(b, spread(b, node, node.input(2)), type)});
  std::map<std::string, Attribute> attributes{{"to", static_cast<int64_t>(to)}};
  if (node.has("saturate")) attributes["saturate"] = node.integer("saturate", 1);
  return std::vector{b.op("Cast", {y}, std::move(attributes))};
}

std::optional<std::vector<ValueId>> decompose_dequantize(GraphBuilder& b, const Node& node) {
  if (is_sub_byte(b.type(node.input(0)).element)) return std::nullopt;
  const int64_t given = node.integer("output_dtype", 0);
  const ElementType out = given != 0 ? static_cast<ElementType>(given) : b.type(node.input(1)).element, type = computed_in(out);
  ValueId x = node.input(0);
  if (node.has_input(2)) {
    // Differences of integers are formed exactly.
    const ElementType from = b.type(x).element;
    const ElementType wide = is_integer(from) ? (info(from).bits < 32 ? ElementType::I32 : ElementType::I64) : type;
    x = b.op("Sub", {cast(b, x, wide), cast(b, spread(b, node, node.input(2)), wide)});
  }
  return std::vector{cast(b, b.op("Mul", {cast(b, x, type), cast(b, spread(b, node, node.input(1)), type)}), out)};
}

}  // namespace

extern const Operator op_QuantizeLinear, op_DequantizeLinear;
const Operator op_QuantizeLinear{.name = "QuantizeLinear", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .infer = infer_quantize, .decompose = decompose_quantize};
const Operator op_DequantizeLinear{.name = "DequantizeLinear", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .infer = infer_dequantize, .decompose = decompose_dequantize};

}  // namespace onnxc
