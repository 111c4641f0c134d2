// Any bytes as the file of a model. Few of these get beyond protobuf, whose messages are nonetheless the first that a stranger's file meets.
#include "tests/fuzz/compile_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onnxc::fuzz::compile_model_bytes({data, size});
  return 0;
}
