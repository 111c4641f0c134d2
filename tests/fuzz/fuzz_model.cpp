// Models that parse: mutants of real ones, made by changing nodes, attributes, tensors, types and names (mutate_model.h).
#include <random>
#include <string>

#include "tests/fuzz/compile_input.h"
#include "tests/fuzz/mutate_model.h"

namespace {

/// One input, one node, one output: where no model can be read.
onnx::ModelProto smallest_model() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(21);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  for (auto* value : {graph.add_input(), graph.add_output()}) {
    value->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    value->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
  }
  graph.mutable_input(0)->set_name("x");
  graph.mutable_output(0)->set_name("y");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Relu");
  node.add_input("x");
  node.add_output("y");
  return model;
}

/// The model as bytes in `data`, which has room for `most`; 0 if it does not fit.
size_t write(const onnx::ModelProto& model, uint8_t* data, size_t most) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > most) return 0;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onnxc::fuzz::compile_model_bytes({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) model = smallest_model();
  std::minstd_rand random(seed);
  onnxc::fuzz::mutate(model, random);
  const size_t written = write(model, data, most);
  return written != 0 ? written : size;
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* other, size_t other_size, uint8_t* out,
                                            size_t most, unsigned seed) {
  onnx::ModelProto model, donor;
  if (!model.ParseFromArray(one, static_cast<int>(one_size)) || !donor.ParseFromArray(other, static_cast<int>(other_size))) return 0;
  std::minstd_rand random(seed);
  onnxc::fuzz::cross_over(model, donor, random);
  return write(model, out, most);
}
