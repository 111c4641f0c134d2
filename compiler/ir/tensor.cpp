#include "compiler/ir/tensor.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/ir/expr.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

TensorData TensorData::zeros(ElementType type, std::vector<int64_t> shape) {
  TensorData t{type, std::move(shape), {}, {}};
  const int64_t bytes = storage_bytes(type, t.count());
  if (bytes > kMostBytes) throw Error(ErrorCode::ConstantTooLarge, fmt::format("a constant would take {} bytes", bytes));
  if (type == ElementType::String) t.strings.resize(static_cast<std::size_t>(t.count()));
  else t.bytes.resize(static_cast<std::size_t>(bytes));
  return t;
}

int64_t TensorData::count() const {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0) throw Error(ErrorKind::Invalid, "a constant has an impossible shape");
    n = checked_mul(n, d);
  }
  return n;
}

int64_t bytes_held(const TensorData& tensor) {
  std::size_t bytes = tensor.bytes.size();
  for (const std::string& s : tensor.strings) bytes += sizeof s + s.size();
  return static_cast<int64_t>(bytes);
}

Constant make_constant(std::vector<int64_t> values) {
  auto t = std::make_shared<TensorData>(TensorData::zeros(ElementType::I64, {static_cast<int64_t>(values.size())}));
  if (!values.empty()) std::memcpy(t->bytes.data(), values.data(), t->bytes.size());
  return t;
}

namespace {

uint64_t element_bits(const TensorData& tensor, int64_t index) {
  const int bits = info(tensor.type).bits;
  if (bits < 8) {
    const int64_t per_byte = 8 / bits;
    const auto byte = std::to_integer<uint64_t>(tensor.bytes[static_cast<std::size_t>(index / per_byte)]);
    return (byte >> (index % per_byte * bits)) & ((uint64_t{1} << bits) - 1);
  }
  uint64_t value = 0;
  const auto width = static_cast<std::size_t>(bits / 8);
  std::memcpy(&value, tensor.bytes.data() + static_cast<std::size_t>(index) * width, width);
  return value;
}

}  // namespace

TensorData unpacked(TensorData tensor) {
  if (!is_sub_byte(tensor.type)) return tensor;
  Bytes made(static_cast<std::size_t>(tensor.count()));
  const std::span<std::byte> bytes(made.data(), made.size());
  const int bits = info(tensor.type).bits;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    uint64_t code = element_bits(tensor, static_cast<int64_t>(i));
    if (is_integer(tensor.type) && is_signed(tensor.type) && (code >> (bits - 1)) != 0) code |= ~uint64_t{0} << bits;
    bytes[i] = static_cast<std::byte>(code);
  }
  tensor.bytes = std::move(made);
  return tensor;
}

TensorData packed(TensorData tensor) {
  if (!is_sub_byte(tensor.type)) return tensor;
  const auto bits = static_cast<std::size_t>(info(tensor.type).bits), per_byte = 8 / bits;
  const std::span<const std::byte> bytes = std::as_const(tensor.bytes);
  Bytes made((bytes.size() + per_byte - 1) / per_byte);
  std::byte* const to = made.data();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    to[i / per_byte] |= (bytes[i] & static_cast<std::byte>((1u << bits) - 1)) << (i % per_byte * bits);
  tensor.bytes = std::move(made);
  return tensor;
}

TensorData unpacked_zeros(ElementType type, std::vector<int64_t> shape) {
  TensorData t = TensorData::zeros(type, std::move(shape));
  if (is_sub_byte(type)) t.bytes.assign(static_cast<std::size_t>(t.count()), std::byte{0});
  return t;
}

std::vector<int64_t> to_integers(const TensorData& tensor) {
  if (!is_integer(tensor.type) && tensor.type != ElementType::Bool)
    throw Misread("a tensor of " + std::string(name(tensor.type)) + " is read as integers");
  std::vector<int64_t> result(static_cast<std::size_t>(tensor.count()));
  const int bits = info(tensor.type).bits;
  for (std::size_t i = 0; i < result.size(); ++i) {
    uint64_t v = element_bits(tensor, static_cast<int64_t>(i));
    if (is_signed(tensor.type) && bits < 64 && (v >> (bits - 1)) != 0) v |= ~uint64_t{0} << bits;
    result[i] = static_cast<int64_t>(v);
  }
  return result;
}

std::vector<double> to_doubles(const TensorData& tensor) {
  std::vector<double> result(static_cast<std::size_t>(tensor.count()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = from_bits(tensor.type, element_bits(tensor, static_cast<int64_t>(i)));
  return result;
}

}  // namespace onnxc
