// Upsample, removed in opset 10: a Resize with asymmetric coordinates that, for the nearest pixel, are rounded down.
// Its scales were two attributes in opset 1, one in opset 7 and an input in opset 9.
#include <fmt/format.h>

#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

void resolve_upsample(GraphBuilder& b, Node& node) {
  if (node.version < 9) {
    std::vector<float> scales{1, 1, node.number("height_scale", 1), node.number("width_scale", 1)};
    if (const auto it = node.attributes.find("scales");
        it != node.attributes.end() && std::holds_alternative<std::vector<float>>(it->second))
      scales = std::get<std::vector<float>>(it->second);
    auto t = std::make_shared<TensorData>(TensorData::zeros(ElementType::F32, {static_cast<int64_t>(scales.size())}));
    std::memcpy(t->bytes.data(), scales.data(), t->bytes.size());
    node.inputs = {node.inputs[0], b.graph().add_constant(node.name, std::move(t))};
  }
  if (node.inputs.size() != 2) node.fail(ErrorKind::Invalid, fmt::format("has {} inputs, not 2", node.inputs.size()));
  std::string mode = node.string("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  if (mode != "nearest" && mode != "linear")
    node.fail(ErrorKind::Invalid, fmt::format("mode is '{}'; nearest and linear are allowed", mode));
  node.op = "Resize";
  node.inputs = {node.inputs[0], kAbsent, node.inputs[1]};
  node.attributes = {{"mode", mode}, {"coordinate_transformation_mode", std::string("asymmetric")}, {"nearest_mode", std::string("floor")}};
}

void infer_upsample(Inference& n) { n.unsupported("this form is not supported"); }

}  // namespace

extern const Operator op_Upsample;
const Operator op_Upsample{
    .name = "Upsample", .min_inputs = 1, .max_inputs = 2, .max_outputs = 1, .resolve = resolve_upsample, .infer = infer_upsample};

}  // namespace onnxc
