// TensorData: the value of a constant, in host memory. Immutable once shared.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/bytes.h"
#include "compiler/ir/element_type.h"
#include "compiler/support/error.h"

namespace onnxc {

struct TensorData {
  ElementType type = ElementType::Undefined;
  std::vector<int64_t> shape;
  Bytes bytes;                       ///< row-major; sub-byte types are packed as in ONNX; empty for strings
  std::vector<std::string> strings;  ///< only for String

  /// Throws SizeOverflow, and Error{Budget} if there cannot be enough memory.
  static TensorData zeros(ElementType type, std::vector<int64_t> shape);

  /// Throws SizeOverflow.
  int64_t count() const;
  template <class T>
  std::span<const T> as() const {
    if (bytes.size() % sizeof(T) != 0) throw Misread("a tensor of " + std::string(name(type)) + " is read as another type");
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  friend bool operator==(const TensorData&, const TensorData&) = default;
};
using Constant = std::shared_ptr<const TensorData>;

/// A tensor of a sub-byte type with a byte for each element, as kernels hold it, and the reverse. Others are not
/// changed.
TensorData unpacked(TensorData tensor);
TensorData packed(TensorData tensor);
/// Zeros as kernels hold them.
TensorData unpacked_zeros(ElementType type, std::vector<int64_t> shape);

/// One-dimensional constants, as shapes and axes are.
Constant make_constant(std::vector<int64_t> values);
template <class T>
Constant make_scalar(ElementType type, T value, std::vector<int64_t> shape = {}) {
  auto t = std::make_shared<TensorData>(TensorData::zeros(type, std::move(shape)));
  ONNXC_CHECK(t->bytes.size() == sizeof(T), "a scalar has one element of its type");
  std::memcpy(t->bytes.data(), &value, sizeof(T));
  return t;
}

/// The bytes that the value takes in memory.
int64_t bytes_held(const TensorData& tensor);

/// The integers of an integer or bool tensor, widened (u64 keeps its bits).
std::vector<int64_t> to_integers(const TensorData& tensor);
/// The numbers of any numeric tensor as doubles (f16, bf16 and smaller floats exactly).
std::vector<double> to_doubles(const TensorData& tensor);

}  // namespace onnxc
