// Dropout, at inference: the input as it is, and a mask that keeps everything. Training is refused, unless it drops nothing.
#include <fmt/format.h>

#include "compiler/lowering/lowering.h"

namespace onnxc {
namespace {

/// Before opset 12 ratio and mode were attributes; from opset 7 on there was no training. The mask had the type of the data before opset 10.
void resolve_dropout(GraphBuilder&, Node& node) {
  if (node.version >= 12) return;
  if (node.version < 10) node.attributes["typed_mask"] = int64_t{1};
  node.inputs.resize(1);
}

void infer_dropout(Inference& n) {
  if (n.has(2)) {
    const TensorData *training = n.constant(2), *ratio = n.constant(1);
    if (training == nullptr) n.unsupported("training_mode is only known when the model runs", "make it a constant of the model");
    const bool on = training->count() == 1 && training->bytes[0] != std::byte{0};
    const bool drops = !n.has(1) || ratio == nullptr || ratio->count() != 1 || to_doubles(*ratio)[0] != 0;
    if (on && drops) n.unsupported("training_mode is on", "export the model for inference");
  }
  n.output(0, n.type(0));
  n.output(1, n.node().has("typed_mask") ? n.element(0) : ElementType::Bool, n.extents(0));
}

std::optional<std::vector<ValueId>> decompose_dropout(GraphBuilder& b, const Node& node) {
  std::vector<ValueId> results{node.inputs[0]};
  if (node.outputs.size() > 1) {
    results.push_back(kAbsent);
    if (node.has_output(1)) {
      const ElementType type = b.graph()[node.output(1)].type.element;
      auto one = std::make_shared<TensorData>(TensorData::zeros(type, {1}));
      const uint64_t bits = to_bits(type, 1);
      std::memcpy(one->bytes.data(), &bits, one->bytes.size());
      results[1] = b.op("ConstantOfShape", {b.op("Shape", {node.inputs[0]})}, {{"value", Constant(one)}});
    }
  }
  return results;
}

}  // namespace

extern const Operator op_Dropout;
const Operator op_Dropout{.name = "Dropout", .min_inputs = 1, .max_inputs = 3, .max_outputs = 2, .resolve = resolve_dropout, .infer = infer_dropout,
                          .decompose = decompose_dropout};

}  // namespace onnxc
