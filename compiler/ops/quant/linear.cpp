#include "compiler/ops/quant/linear.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "compiler/ops/in_float.h"

namespace onnxc {

ValueId to_real(GraphBuilder& b, ValueId q, ValueId scale, ValueId zero) {
  ValueId x = cast_to(b, q, ElementType::F32);
  if (zero != kAbsent) x = b.op("Sub", {x, cast_to(b, zero, ElementType::F32)});
  return b.op("Mul", {x, cast_to(b, scale, ElementType::F32)});
}

ValueId round_to_quantised(GraphBuilder& b, ValueId quotient, ValueId zero, ElementType type) {
  ValueId y = quotient;
  if (is_integer(type)) y = b.op("Round", {y});
  if (zero != kAbsent) y = b.op("Add", {y, cast_to(b, zero, ElementType::F32)});
  if (is_integer(type) && is_sub_byte(type)) {  // Cast keeps the low bits; quantisation saturates
    const int bits = info(type).bits;
    const double low = is_signed(type) ? -(1 << (bits - 1)) : 0, high = is_signed(type) ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    y = b.op("Min", {b.op("Max", {y, b.number(ElementType::F32, low)}), b.number(ElementType::F32, high)});
  }
  return cast_to(b, y, type);
}

ValueId to_quantised(GraphBuilder& b, ValueId real, ValueId scale, ValueId zero, ElementType type) {
  return round_to_quantised(b, b.op("Div", {real, cast_to(b, scale, ElementType::F32)}), zero, type);
}

namespace {

/// v with another shape of as many elements, if it is constant; decompositions look at zero points.
std::optional<ValueId> reshaped_constant(GraphBuilder& b, ValueId v, std::vector<int64_t> shape) {
  const TensorData* const constant = b.graph().constant(v);
  if (constant == nullptr) return std::nullopt;
  TensorData reshaped = *constant;
  reshaped.shape = std::move(shape);
  const std::string name = b.graph()[v].name;
  return b.graph().add_constant(name, std::make_shared<const TensorData>(std::move(reshaped)));
}

}  // namespace

ValueId as_scalar(GraphBuilder& b, ValueId v) {
  if (v == kAbsent || b.rank(v) == 0) return v;
  if (b.graph().constant(v) != nullptr && b.graph().constant(v)->count() == 1) return *reshaped_constant(b, v, {});
  return b.op("Reshape", {v, b.integers({})});
}

ValueId along(GraphBuilder& b, ValueId v, int64_t axis, int64_t rank) {
  if (v == kAbsent || b.rank(v) == 0) return v;
  if (element_count(b.extents(v)) == Dim(1)) return as_scalar(b, v);
  if (b.rank(v) != 1) return v;
  std::vector<int64_t> axes;
  for (int64_t k = 1; k < rank - axis; ++k) axes.push_back(k);
  if (axes.empty()) return v;
  std::vector<int64_t> shape(axes.size() + 1, 1);
  if (const TensorData* const constant = b.graph().constant(v)) shape[0] = constant->count();
  if (const auto column = reshaped_constant(b, v, shape)) return *column;
  return b.op("Unsqueeze", {v, b.integers(axes)});
}

ValueId transposed_bytes(GraphBuilder& b, ValueId matrix) {
  const TensorData& from = *b.graph().constant(matrix);
  const auto rows = static_cast<std::size_t>(from.shape[0]), columns = static_cast<std::size_t>(from.shape[1]);
  const std::vector<int64_t> values = to_integers(from);
  TensorData to = TensorData::zeros(is_signed(from.type) ? ElementType::I8 : ElementType::U8, {from.shape[1], from.shape[0]});
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) to.bytes[j * rows + i] = static_cast<std::byte>(values[i * columns + j]);
  }
  return b.graph().add_constant(b.graph()[matrix].name, std::make_shared<const TensorData>(std::move(to)));
}

std::string no_byte_form(std::string_view op) { return fmt::format("{} has no form on bytes", op); }

ValueId packed_codes(GraphBuilder& b, ValueId bytes, int64_t bits) {
  const int64_t rank = b.rank(bytes);
  const ValueId mask = b.number(ElementType::U8, static_cast<double>((1 << bits) - 1));
  std::vector<ValueId> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const ValueId shifted = shift == 0 ? bytes
                                       : b.op("BitShift", {bytes, b.number(ElementType::U8, static_cast<double>(shift))},
                                              {{"direction", std::string("RIGHT")}});
    parts.push_back(b.op("Unsqueeze", {b.op("BitwiseAnd", {shifted, mask}), b.integers({rank})}));
  }
  return b.op("Concat", std::move(parts), {{"axis", rank}});
}

}  // namespace onnxc
