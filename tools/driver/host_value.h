// Values of the host: what goes into a model and comes out, and the .pb files that hold them in ONNX's backend tests.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/tensor.h"

namespace onnxc {

enum class ValueKind { Tensor, Sequence, Optional, Map };

struct HostValue {
  ValueKind kind = ValueKind::Tensor;
  std::string name;              ///< as the file says, often the name of the model's input; may be empty
  TensorData tensor;             ///< Tensor
  std::vector<HostValue> items;  ///< Sequence; Optional: none or one
};

/// Parses a TensorProto. Throws Error{Invalid} where the data does not fit the shape.
HostValue parse_tensor(std::string_view proto);
/// Parses the proto of that kind. Maps are not read: throws Error{Unsupported}.
HostValue parse_value(std::string_view proto, ValueKind kind);
/// Reads a .pb file; messages of errors name it.
HostValue read_value(const std::filesystem::path& path, ValueKind kind);

/// A TensorProto with raw data (strings as strings).
std::string serialize_tensor(const TensorData& tensor, std::string_view name);

/// `f32[1, 3, 224, 224]`
std::string describe(const TensorData& tensor);

}  // namespace onnxc
