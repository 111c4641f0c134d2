// HannWindow, HammingWindow, BlackmanWindow: a0 - a1 cos(t) + a2 cos(2 t) with t = 2 pi n / size, or 2 pi n / (size -
// 1) if the window is not periodic. Computed in f64 for a result of f64, else in f32, as in the schemas' function
// bodies.
#include <numbers>

#include "compiler/ops/contrib/composition.h"

namespace onnxc {
namespace {

Results cosine_window(GraphBuilder& b, const Node& node, double a0, double a1, double a2) {
  Composition c(b, node);
  if (!is_integer(c.result) || !(element_count(c.extents(c.raw(0))) == Dim(1)))
    c.fail(fmt::format("the size is {}, not one integer", b.type(c.raw(0)).text()));
  const int64_t number = c.integer("output_datatype", 1);
  const auto result = element_type_numbered(static_cast<int32_t>(number));
  if (!result || !(is_float(*result) || is_integer(*result)))
    c.fail(fmt::format("output_datatype is {}, which is no numeric type", number));
  c.type = *result == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const ValueId size = c.op("Reshape", {cast_to(b, c.raw(0), ElementType::I64), b.integers({})}), one = b.number(ElementType::I64, 1);
  const ValueId positions = cast_to(b, c.count(c.extents(b.op("ConstantOfShape", {b.op("Reshape", {size, b.integers({1})})}))[0]), c.type);
  const ValueId period = cast_to(b, c.integer("periodic", 1) != 0 ? size : c.sub(size, one), c.type);
  const ValueId angle = c.op("Div", {c.mul(positions, c.constant(2 * std::numbers::pi)), period});
  ValueId y = c.sub(c.constant(a0), c.mul(c.constant(a1), c.op("Cos", {angle})));
  if (a2 != 0) y = c.add(y, c.mul(c.constant(a2), c.op("Cos", {c.mul(angle, c.constant(2))})));
  return {{cast_to(b, y, *result)}};
}

Results hann(GraphBuilder& b, const Node& node) { return cosine_window(b, node, 0.5, 0.5, 0); }
Results hamming(GraphBuilder& b, const Node& node) { return cosine_window(b, node, 25.0 / 46, 21.0 / 46, 0); }
Results blackman(GraphBuilder& b, const Node& node) { return cosine_window(b, node, 0.42, 0.5, 0.08); }

}  // namespace

std::span<const Operator> table_windows() {
  static const Operator rows[] = {
      {.name = "HannWindow", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .decompose = hann},
      {.name = "HammingWindow", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .decompose = hamming},
      {.name = "BlackmanWindow", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .decompose = blackman},
  };
  return rows;
}

}  // namespace onnxc
