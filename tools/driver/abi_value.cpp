#include "tools/driver/abi_value.h"

#include <fmt/format.h>

namespace onnxc {
namespace {

[[noreturn]] void broken(const std::string& what) { throw Error(ErrorKind::Internal, what); }

}  // namespace

std::vector<onnxc_string> to_abi(const std::vector<std::string>& strings) {
  std::vector<onnxc_string> result;
  for (const std::string& text : strings) result.push_back({text.data(), text.size()});
  return result;
}

std::vector<std::string> to_host(const onnxc_string* strings, std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) {
    const onnxc_string& text = strings[i];
    if (text.size >= std::size_t{1} << 40) broken(fmt::format("string {} of {} was not written", i, count));
    if (text.size == 0) result.emplace_back();
    else result.emplace_back(text.data, text.size);
  }
  return result;
}

AbiValue::AbiValue(const HostValue& value) {
  values_.emplace_back(1);
  values_.front()[0] = make(value);
}

onnxc_value AbiValue::make(const HostValue& value) {
  onnxc_value result{};
  result.kind = static_cast<int32_t>(value.kind);
  if (value.kind != ValueKind::Tensor) {
    auto& items = values_.emplace_back();
    for (const HostValue& item : value.items) items.push_back(make(item));
    result.count = static_cast<int64_t>(items.size());
    result.data = items.data();
    return result;
  }
  const TensorData& tensor = tensors_.emplace_back(value.tensor);
  result.elem_type = static_cast<int32_t>(tensor.type);
  result.rank = static_cast<int32_t>(tensor.shape.size());
  if (result.rank > ONNXC_MAX_RANK) throw Error(ErrorKind::Unsupported, fmt::format("a tensor of {} dimensions", result.rank));
  result.count = tensor.count();
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) result.shape[i] = tensor.shape[i];
  if (tensor.type == ElementType::String) {
    result.data = strings_.emplace_back(to_abi(tensor.strings)).data();
  } else {
    if (is_sub_byte(tensor.type)) tensors_.back() = unpacked(tensor);
    result.data = tensor.bytes.data();
  }
  return result;
}

HostValue to_host(const onnxc_value& value) {
  HostValue result;
  if (value.kind < ONNXC_TENSOR || value.kind > ONNXC_MAP) broken(fmt::format("a value of kind {}", value.kind));
  result.kind = static_cast<ValueKind>(value.kind);
  if (value.count < 0 || (value.count > 0 && value.data == nullptr))
    broken(fmt::format("a value with {} items at no address", value.count));
  const auto count = static_cast<std::size_t>(value.count);
  if (result.kind != ValueKind::Tensor) {
    if ((result.kind == ValueKind::Optional && count > 1) || (result.kind == ValueKind::Map && count != 2))
      broken(fmt::format("an optional or a map of {} values", count));
    const auto* const items = static_cast<const onnxc_value*>(value.data);
    for (std::size_t i = 0; i < count; ++i) result.items.push_back(to_host(items[i]));
    return result;
  }
  const auto type = element_type_numbered(value.elem_type);
  if (!type || *type == ElementType::Undefined) broken(fmt::format("a tensor of element type {}", value.elem_type));
  if (value.rank < 0 || value.rank > ONNXC_MAX_RANK) broken(fmt::format("a tensor of {} dimensions", value.rank));
  TensorData& tensor = result.tensor;
  tensor.type = *type;
  tensor.shape.assign(value.shape, value.shape + value.rank);
  if (tensor.count() != value.count) broken(fmt::format("{} with {} elements", describe(tensor), value.count));
  if (*type == ElementType::String) {
    tensor.strings = to_host(static_cast<const onnxc_string*>(value.data), count);
    return result;
  }
  const auto* const bytes = static_cast<const std::byte*>(value.data);
  if (count > 0) tensor.bytes.assign(bytes, bytes + count * static_cast<std::size_t>(held_bits(*type) / 8));
  tensor = packed(std::move(tensor));
  return result;
}

}  // namespace onnxc
