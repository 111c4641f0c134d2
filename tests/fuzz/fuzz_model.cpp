// Models that parse: mutants of real ones, made by changing nodes, attributes, tensors, types and names (mutate_model.h).
#include <random>
#include <string>

#include "tests/fuzz/compile_input.h"
#include "tests/fuzz/mutate_model.h"

namespace {

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
  if (!model.ParseFromArray(data, static_cast<int>(size))) model = onnxc::fuzz::smallest_model();
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
