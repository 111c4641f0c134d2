// The text form of graphs, which tools and tests read.
#include "tests/fuzz/compile_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onnxc::fuzz::compile_graph_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
