// Files beside a model: values in protobuf, arrays of NumPy, zip archives. The first byte says which.
#include <string_view>

#include "tests/fuzz/compile_input.h"
#include "tools/calibration/npy_file.h"
#include "tools/calibration/zip_file.h"
#include "tools/driver/host_value.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  onnxc::fuzz::expect_answer([&] {
    switch (data[0] % 6) {
      case 0: onnxc::parse_tensor(bytes); break;
      case 1: onnxc::parse_value(bytes, onnxc::ValueKind::Sequence); break;
      case 2: onnxc::parse_value(bytes, onnxc::ValueKind::Optional); break;
      case 3: onnxc::parse_value(bytes, onnxc::ValueKind::Map); break;
      case 4: onnxc::parse_npy(bytes); break;
      case 5: onnxc::read_zip(bytes); break;
    }
  });
  return 0;
}
