// Element types as the Open Inference Protocol names them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace onnxc::serving {

struct DataType {
  std::string_view name;  ///< FP32, BYTES, …
  int32_t onnx;           ///< TensorProto.DataType
  std::size_t bytes;      ///< of an element as the protocol and the unit have it; 0 for strings

  bool is_string() const { return bytes == 0; }
};

/// Null for types that the protocol does not have.
const DataType* find_type(int32_t onnx);
const DataType* find_type(std::string_view name);

}  // namespace onnxc::serving
