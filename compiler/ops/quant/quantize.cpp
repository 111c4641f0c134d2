// QuantizeLinear and DequantizeLinear, per tensor, per axis or per block. They are compositions of elementwise
// operators, so that they fuse with others, and fold where weights are stored quantised.
//
//   y = saturate(round(x / scale) + zero_point)          x = (q - zero_point) * scale
//
// The quotient has the precision of the scale, or of the attribute `precision`; everything else is f32. com.microsoft
// has the same operators under its own name, from before ONNX had 16-bit and 4-bit integers.
#include <fmt/format.h>

#include "compiler/ops/axis.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/quant/linear.h"

#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

/// The type that an attribute names; Undefined if the attribute is absent.
ElementType named_type(const Node& node, const char* attribute) {
  const int64_t given = node.integer(attribute, 0);
  if (given == 0) return ElementType::Undefined;
  const auto type = given > 0 && given < 1000 ? element_type_numbered(static_cast<int32_t>(given)) : std::nullopt;
  if (!type) node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is {}, not an element type", attribute, given));
  return *type;
}

bool is_quantised(ElementType type) {
  return (is_integer(type) && info(type).bits <= 16) || (is_float(type) && info(type).bits <= 8 && type != ElementType::F8E8M0);
}
bool is_real(ElementType type) { return is_float(type) && info(type).bits >= 16; }

ElementType quantised_type(const Graph& graph, const Node& node) {
  if (node.has_input(2)) return graph[node.input(2)].type.element;
  const ElementType given = named_type(node, "output_dtype");
  return given != ElementType::Undefined ? given : ElementType::U8;
}

void check_scale(Inference& n) {
  const Extents &x = n.extents(0), &scale = n.extents(1);
  const int64_t axis = axis_of(n.node(), 1, static_cast<int>(x.size())), block = n.node().integer("block_size", 0);
  const bool one = scale.empty() || (scale.size() == 1 && scale[0] == Dim(1));
  if (block < 0) n.fail(fmt::format("block_size is {}", block));
  const ElementType type = n.element(1);
  if (!is_real(type) && type != ElementType::F8E8M0) n.fail(fmt::format("the scale is {}, not a float", name(type)));
  if (n.has(2) && !(element_count(n.extents(2)) == Dim(1)) && n.extents(2) != scale)
    n.fail(fmt::format("the zero point has shape {}, the scale {}", text(n.extents(2)), text(scale)));
  if (one) return;
  if (axis < 0 || axis >= static_cast<int64_t>(x.size())) n.fail(fmt::format("axis {} is out of range for rank {}", axis, x.size()));
  if (block == 0) {
    if (scale.size() != 1)
      n.fail(fmt::format("the scale has rank {}; one value or one for each slice of the axis is needed", scale.size()));
    n.unify(scale[0], x[static_cast<std::size_t>(axis)], "the scale and the axis");
  } else if (scale.size() != x.size()) {
    n.fail(fmt::format("a blocked scale has rank {}, the input {}", scale.size(), x.size()));
  } else {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Dim wanted = static_cast<int64_t>(k) == axis ? ceil_div(x[k], block) : x[k];
      if (scale[k].is_constant() && wanted.is_constant() && scale[k] != wanted)
        n.fail(fmt::format("a scale of shape {} for blocks of {} along axis {} of {}", text(scale), block, axis, text(x)));
      n.unify(wanted, scale[k], "the blocks and the scale");
    }
  }
}

void infer_quantize(Inference& n) {
  check_scale(n);
  const ElementType to = quantised_type(n.graph(), n.node()), given = named_type(n.node(), "output_dtype"),
                    precision = named_type(n.node(), "precision");
  if (!is_quantised(to)) n.fail(fmt::format("{} is not a type to quantise to", name(to)));
  if (given != ElementType::Undefined && given != to) n.fail(fmt::format("output_dtype is {}, the zero point {}", name(given), name(to)));
  if (precision != ElementType::Undefined && !is_real(precision)) n.fail(fmt::format("precision is {}, not a float", name(precision)));
  if (!is_real(n.element(0)) && n.element(0) != ElementType::I32) n.fail(fmt::format("the input is {}", name(n.element(0))));
  n.output(0, quantised_type(n.graph(), n.node()), n.extents(0));
}

ElementType dequantised_type(const Graph& graph, const Node& node) {
  const ElementType given = named_type(node, "output_dtype");
  return given != ElementType::Undefined ? given : graph[node.input(1)].type.element;
}

void infer_dequantize(Inference& n) {
  check_scale(n);
  if (!is_quantised(n.element(0)) && n.element(0) != ElementType::I32)
    n.fail(fmt::format("the input is {}, not quantised", name(n.element(0))));
  if (n.has(2) && n.element(2) != n.element(0))
    n.fail(fmt::format("the zero point is {}, the input {}", name(n.element(2)), name(n.element(0))));
  const ElementType to = dequantised_type(n.graph(), n.node());
  if (!is_real(to)) n.fail(fmt::format("the output would be {}", name(to)), "name a float in output_dtype");
  n.output(0, to, n.extents(0));
}

/// The scale or zero point, reshaped so that it broadcasts to x.
ValueId spread(GraphBuilder& b, const Node& node, ValueId v) {
  const Extents x = b.extents(node.input(0));  // a copy, since the builder moves values when it adds some
  const int64_t rank = static_cast<int64_t>(x.size()), axis = axis_of(node, 1, static_cast<int>(rank)),
                block = node.integer("block_size", 0);
  const Extents own = b.extents(v);
  if (own.empty()) return v;
  if (own.size() == 1 && own[0] == Dim(1)) return b.op("Squeeze", {v, b.integers({0})});
  if (block == 0) {
    std::vector<int64_t> axes;
    for (int64_t k = 1; k < rank - axis; ++k) axes.push_back(k);
    return axes.empty() ? v : b.op("Unsqueeze", {v, b.integers(axes)});
  }
  // Each value applies to `block` neighbours along the axis: it is repeated along a new axis of that extent, which is
  // merged into the old one and cut if the last block is shorter.
  const auto at = static_cast<std::size_t>(axis);
  Extents wide = own, flat = own;
  wide.insert(wide.begin() + axis + 1, block);
  flat[at] *= block;
  const ValueId apart = b.op("Unsqueeze", {v, b.integers({axis + 1})});
  const ValueId repeated = b.op("Reshape", {b.op("Expand", {apart, b.shape(wide)}), b.shape(flat)}, {{"allowzero", int64_t{1}}});
  if (flat[at] == x[at]) return repeated;
  return b.op("Slice", {repeated, b.integers({0}), b.shape({x[at]}), b.integers({axis})});
}

std::optional<std::vector<ValueId>> decompose_quantize(GraphBuilder& b, const Node& node) {
  const ElementType to = quantised_type(b.graph(), node), named = named_type(node, "precision"), scale = b.type(node.input(1)).element;
  const ElementType precision = named != ElementType::Undefined ? named : is_real(scale) ? scale : ElementType::F32;
  const ValueId quotient = b.op("Div", {cast_to(b, node.input(0), precision), cast_to(b, spread(b, node, node.input(1)), precision)});
  const ValueId zero = node.has_input(2) ? spread(b, node, node.input(2)) : kAbsent;
  if (is_integer(to)) return std::vector{round_to_quantised(b, cast_to(b, quotient, ElementType::F32), zero, to)};
  const ValueId y = zero == kAbsent ? quotient : b.op("Add", {cast_to(b, quotient, ElementType::F32), cast_to(b, zero, ElementType::F32)});
  std::map<std::string, Attribute> attributes{{"to", static_cast<int64_t>(to)}};
  if (node.has("saturate")) attributes["saturate"] = node.integer("saturate", 1);
  return std::vector{b.op("Cast", {y}, std::move(attributes))};
}

std::optional<std::vector<ValueId>> decompose_dequantize(GraphBuilder& b, const Node& node) {
  const ElementType out = dequantised_type(b.graph(), node), type = out == ElementType::F64 ? out : ElementType::F32;
  ValueId x = node.input(0);
  if (node.has_input(2)) {
    // Differences of integers are computed exactly.
    const ElementType from = b.type(x).element;
    const ElementType wide = !is_integer(from) || info(from).bits <= 16 ? type : ElementType::I64;
    x = b.op("Sub", {cast_to(b, x, wide), cast_to(b, spread(b, node, node.input(2)), wide)});
  }
  return std::vector{cast_to(b, b.op("Mul", {cast_to(b, x, type), cast_to(b, spread(b, node, node.input(1)), type)}), out)};
}

}  // namespace

extern const Operator op_QuantizeLinear, op_DequantizeLinear;
const Operator op_QuantizeLinear{
    .name = "QuantizeLinear", .min_inputs = 2, .max_inputs = 3, .max_outputs = 1, .infer = infer_quantize, .decompose = decompose_quantize};
const Operator op_DequantizeLinear{.name = "DequantizeLinear",
                                   .min_inputs = 2,
                                   .max_inputs = 3,
                                   .max_outputs = 1,
                                   .infer = infer_dequantize,
                                   .decompose = decompose_dequantize};

std::span<const Operator> table_microsoft_linear() {
  static const Operator list[] = {
      {.name = "QuantizeLinear",
       .domain = "com.microsoft",
       .min_inputs = 2,
       .max_inputs = 3,
       .max_outputs = 1,
       .infer = infer_quantize,
       .decompose = decompose_quantize},
      {.name = "DequantizeLinear",
       .domain = "com.microsoft",
       .min_inputs = 2,
       .max_inputs = 3,
       .max_outputs = 1,
       .infer = infer_dequantize,
       .decompose = decompose_dequantize},
  };
  return list;
}

}  // namespace onnxc
