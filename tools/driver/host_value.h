// Values of the host: inputs and outputs of a model, and the .pb files that hold them in ONNX's backend tests.
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
  std::string name;   ///< as in the file, often the name of the model's input; may be empty
  TensorData tensor;  ///< Tensor
  /// Sequence: its items. Optional: none or one. Map: the tensor of keys, and the values as a tensor or a sequence.
  std::vector<HostValue> items;

  friend bool operator==(const HostValue&, const HostValue&) = default;
  static HostValue of(TensorData tensor) { return {ValueKind::Tensor, {}, std::move(tensor), {}}; }
};

/// Parses a TensorProto. Throws Error{Invalid} if the data does not fit the shape.
HostValue parse_tensor(std::string_view proto);
/// Parses the proto of that kind. The values of a map become one tensor if they are scalars of one type.
HostValue parse_value(std::string_view proto, ValueKind kind);
/// Reads a .pb file. Error messages name it.
HostValue read_value(const std::filesystem::path& path, ValueKind kind);

/// A TensorProto with raw data (or with strings).
std::string serialize_tensor(const TensorData& tensor, std::string_view name);

/// The proto of the value's kind.
std::string serialize_value(const HostValue& value, std::string_view name);

/// `f32[1, 3, 224, 224]`
std::string describe(const TensorData& tensor);
/// `a sequence of 3: f32[2], f32[4], f32[1]`
std::string describe(const HostValue& value);

}  // namespace onnxc
