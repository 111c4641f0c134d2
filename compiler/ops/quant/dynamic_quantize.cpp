// DynamicQuantizeLinear: u8 with the scale and zero point that fit the data, which is assumed to include 0.
//
//   scale = (max(x, 0) - min(x, 0)) / 255     zero = round(clip(-min(x, 0) / scale, 0, 255))     y = saturate(round(x / scale) + zero)
#include <fmt/format.h>

#include "compiler/ops/quant/linear.h"

namespace onnxc {
namespace {

void infer_dynamic_quantize(Inference& n) {
  if (n.element(0) != ElementType::F32) n.fail(fmt::format("the input is {}; f32 is needed", name(n.element(0))));
  n.output(0, ElementType::U8, n.extents(0));
  n.output(1, ElementType::F32, Extents{});
  n.output(2, ElementType::U8, Extents{});
}

std::optional<std::vector<ValueId>> decompose_dynamic_quantize(GraphBuilder& b, const Node& node) {
  const ValueId x = node.input(0), zero = b.number(ElementType::F32, 0), most = b.number(ElementType::F32, 255);
  const std::map<std::string, Attribute> scalar{{"keepdims", int64_t{0}}};
  const ValueId low = b.op("Min", {b.op("ReduceMin", {x}, scalar), zero}), high = b.op("Max", {b.op("ReduceMax", {x}, scalar), zero});
  const ValueId scale = b.op("Div", {b.op("Sub", {high, low}), most});
  const ValueId exact_offset = b.op("Clip", {b.op("Sub", {zero, b.op("Div", {low, scale})}), zero, most});
  const ValueId offset = round_to_quantised(b, exact_offset, kAbsent, ElementType::U8);
  return std::vector{to_quantised(b, x, scale, offset, ElementType::U8), scale, offset};
}

}  // namespace

extern const Operator op_DynamicQuantizeLinear;
const Operator op_DynamicQuantizeLinear{.name = "DynamicQuantizeLinear",
                                        .min_inputs = 1,
                                        .max_inputs = 1,
                                        .min_outputs = 1,
                                        .max_outputs = 3,
                                        .infer = infer_dynamic_quantize,
                                        .decompose = decompose_dynamic_quantize};

}  // namespace onnxc
