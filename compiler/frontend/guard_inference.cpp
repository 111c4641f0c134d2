#include "compiler/frontend/guard_inference.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "onnx/defs/schema.h"

namespace onnxc {
namespace {

/// The context of a node, in which each input that its operator does not call optional has a type.
class TypedContext final : public onnx::InferenceContext {
 public:
  TypedContext(onnx::InferenceContext& inner, const std::vector<bool>& optional) : inner_(inner), optional_(optional) {}

  const onnx::TypeProto* getInputType(std::size_t index) const override {
    const onnx::TypeProto* type = inner_.getInputType(index);
    return type != nullptr || (is_optional(index) && !inner_.hasInput(index)) ? type : &onnx::TypeProto::default_instance();
  }
  bool hasInput(std::size_t index) const override { return inner_.hasInput(index); }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return inner_.getAttribute(name); }
  std::size_t getNumInputs() const override { return inner_.getNumInputs(); }
  const onnx::TensorProto* getInputData(std::size_t index) const override { return inner_.getInputData(index); }
  std::size_t getNumOutputs() const override { return inner_.getNumOutputs(); }
  onnx::TypeProto* getOutputType(std::size_t index) override { return inner_.getOutputType(index); }
  bool hasOutput(std::size_t index) override { return inner_.hasOutput(index); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override { return inner_.getGraphAttributeInferencer(name); }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t index) const override { return inner_.getInputSparseData(index); }
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t index) const override { return inner_.getSymbolicInput(index); }
  std::string getDisplayName() const override { return inner_.getDisplayName(); }

 private:
  bool is_optional(std::size_t index) const { return index < optional_.size() && optional_[index]; }

  onnx::InferenceContext& inner_;
  const std::vector<bool>& optional_;
};

void guard(onnx::OpSchema& schema) {
  if (!schema.has_type_and_shape_inference_function()) return;
  std::vector<bool> optional;
  for (const auto& input : schema.inputs()) optional.push_back(input.GetOption() == onnx::OpSchema::Optional);
  schema.TypeAndShapeInferenceFunction(
      [infer = schema.GetTypeAndShapeInferenceFunction(), optional = std::move(optional)](onnx::InferenceContext& context) {
        TypedContext typed(context, optional);
        infer(typed);
      });
}

}  // namespace

void guard_inference() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const onnx::OpSchema& copy : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
      // The registry gives out pointers to what it holds, and no way to change it; what it holds is not const.
      if (const auto* schema = onnx::OpSchemaRegistry::Schema(copy.Name(), copy.SinceVersion(), copy.domain()))
        guard(const_cast<onnx::OpSchema&>(*schema));
    }
  });
}

}  // namespace onnxc
