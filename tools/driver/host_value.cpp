#include "tools/driver/host_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/support/error_codes.h"
#include "tools/driver/files.h"
#include "tools/driver/wire_reader.h"

namespace onnxc {
namespace {

/// Appends the low `count` bytes of `bits`, at most all eight.
void append(std::vector<std::byte>& bytes, uint64_t bits, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, sizeof bits); ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  put_varint(out, field << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

/// The elements of a tensor of that shape. Throws if the shape is negative or absurd.
int64_t checked_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && count > kMostBytes / d)) throw Error(ErrorCode::DamagedData, fmt::format("a tensor of shape {}", shape));
    count *= d;
  }
  return count;
}

/// A sequence of scalars of one type as one tensor; any other sequence unchanged.
HostValue joined(HostValue sequence) {
  if (sequence.items.empty()) return sequence;
  const ElementType type = sequence.items[0].tensor.type;
  TensorData all{type, {static_cast<int64_t>(sequence.items.size())}, {}, {}};
  for (const HostValue& item : sequence.items) {
    if (item.kind != ValueKind::Tensor || item.tensor.type != type || is_sub_byte(type) || item.tensor.count() != 1) return sequence;
    all.bytes.append(item.tensor.bytes.begin(), item.tensor.bytes.end());
    all.strings.insert(all.strings.end(), item.tensor.strings.begin(), item.tensor.strings.end());
  }
  return HostValue::of(std::move(all));
}

}  // namespace

HostValue parse_tensor(std::string_view proto) {
  HostValue value;
  TensorData& tensor = value.tensor;
  std::vector<std::byte> typed;  // from the typed fields
  bool has_raw = false;
  for (WireReader r(proto); r.next();) {
    if (r.field() == 2) {
      const auto type = element_type_numbered(static_cast<int32_t>(r.number()));
      if (!type) throw Error(ErrorCode::DamagedData, fmt::format("a tensor of element type {}", r.number()));
      tensor.type = *type;
    }
  }
  if (tensor.type == ElementType::Undefined && !proto.empty()) throw Error(ErrorCode::DamagedData, "a tensor without element type");
  const int bits = info(tensor.type).bits;
  const std::size_t element_bytes = bits < 8 ? 1 : static_cast<std::size_t>(bits) / 8;
  for (WireReader r(proto); r.next();) {
    switch (r.field()) {
      case 1: r.for_each_number(0, [&](uint64_t d) { tensor.shape.push_back(static_cast<int64_t>(d)); }); break;
      case 4: r.for_each_number(4, [&](uint64_t v) { append(typed, v, 4); }); break;  // float_data, complex64
      case 5:
        r.for_each_number(0, [&](uint64_t v) { append(typed, v, element_bytes); });
        break;  // int32_data: anything of 32 bits or fewer
      case 6: tensor.strings.emplace_back(r.bytes()); break;
      case 7: r.for_each_number(0, [&](uint64_t v) { append(typed, v, 8); }); break;  // int64_data
      case 8: value.name = r.bytes(); break;
      case 9:
        has_raw = true;
        tensor.bytes.resize(r.bytes().size());
        if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), r.bytes().data(), tensor.bytes.size());
        break;
      case 10: r.for_each_number(8, [&](uint64_t v) { append(typed, v, 8); }); break;              // double_data, complex128
      case 11: r.for_each_number(0, [&](uint64_t v) { append(typed, v, element_bytes); }); break;  // uint64_data: u64, u32
      case 14:
        if (r.number() != 0) throw Error(ErrorCode::DataForm, "a tensor in a file of its own");
        break;
      default: break;
    }
  }
  if (!has_raw) tensor.bytes = std::move(typed);
  const int64_t count = checked_count(tensor.shape);
  const auto held = static_cast<int64_t>(tensor.type == ElementType::String ? tensor.strings.size() : tensor.bytes.size());
  const int64_t needed = tensor.type == ElementType::String ? count : storage_bytes(tensor.type, count);
  if (held != needed)
    throw Error(ErrorCode::DamagedData, fmt::format("tensor {} holds {} where {} are needed", describe(tensor), held, needed));
  return value;
}

HostValue parse_value(std::string_view proto, ValueKind kind) {
  HostValue value;
  value.kind = kind;
  switch (kind) {
    case ValueKind::Tensor: return parse_tensor(proto);
    case ValueKind::Sequence:
    case ValueKind::Optional:  // their fields have the same numbers
      for (WireReader r(proto); r.next();) {
        switch (r.field()) {
          case 1: value.name = r.bytes(); break;
          case 3: value.items.push_back(parse_tensor(r.bytes())); break;
          case 4: throw Error(ErrorCode::DataForm, "a sparse tensor in a sequence or an optional");
          case 5: value.items.push_back(parse_value(r.bytes(), ValueKind::Sequence)); break;
          case 6: value.items.push_back(parse_value(r.bytes(), ValueKind::Map)); break;
          case 7: value.items.push_back(parse_value(r.bytes(), ValueKind::Optional)); break;
          default: break;
        }
      }
      if (kind == ValueKind::Optional && value.items.size() > 1) throw Error(ErrorCode::DamagedData, "an optional with several values");
      return value;
    case ValueKind::Map: break;
  }
  ElementType key_type = ElementType::Undefined;
  std::vector<int64_t> numbers;
  std::vector<std::string> strings;
  HostValue values;
  for (WireReader r(proto); r.next();) {
    switch (r.field()) {
      case 1: value.name = r.bytes(); break;
      case 2: key_type = element_type_numbered(static_cast<int32_t>(r.number())).value_or(ElementType::Undefined); break;
      case 3: r.for_each_number(0, [&](uint64_t v) { numbers.push_back(static_cast<int64_t>(v)); }); break;
      case 4: strings.emplace_back(r.bytes()); break;
      case 5: values = parse_value(r.bytes(), ValueKind::Sequence); break;
      default: break;
    }
  }
  if (key_type != ElementType::String && (!is_integer(key_type) || is_sub_byte(key_type)))
    throw Error(ErrorCode::DamagedData, "a map without a type of keys");
  const std::size_t count = key_type == ElementType::String ? strings.size() : numbers.size();
  TensorData keys = TensorData::zeros(key_type, {static_cast<int64_t>(count)});
  const auto width = static_cast<std::size_t>(info(key_type).bits) / 8;
  if (key_type == ElementType::String) keys.strings = std::move(strings);
  else
    for (std::size_t i = 0; i < count; ++i) std::memcpy(keys.bytes.data() + i * width, &numbers[i], width);
  if (values.items.size() != count)
    throw Error(ErrorCode::DamagedData, fmt::format("a map of {} keys and {} values", count, values.items.size()));
  value.items = {HostValue::of(std::move(keys)), joined(std::move(values))};
  return value;
}

HostValue read_value(const std::filesystem::path& path, ValueKind kind) {
  const std::string bytes = read_file(path);
  try {
    return parse_value(bytes, kind);
  } catch (const Error& error) {
    throw Error(error.diagnostics().front().code, fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::string serialize_tensor(const TensorData& tensor, std::string_view name) {
  std::string out;
  for (int64_t d : tensor.shape) {
    put_varint(out, 1 << 3);
    put_varint(out, static_cast<uint64_t>(d));
  }
  put_varint(out, 2 << 3);
  put_varint(out, static_cast<uint64_t>(tensor.type));
  for (const std::string& text : tensor.strings) put_bytes(out, 6, text);
  put_bytes(out, 8, name);
  if (tensor.type != ElementType::String) put_bytes(out, 9, {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
  return out;
}

std::string serialize_value(const HostValue& value, std::string_view name) {
  constexpr uint32_t kKindNumbers[] = {1, 3, 5, 4};  // in SequenceProto.DataType and OptionalProto.DataType, by ValueKind
  constexpr uint32_t kFields[] = {3, 5, 7, 6};
  std::string out;
  switch (value.kind) {
    case ValueKind::Tensor: return serialize_tensor(value.tensor, name);
    case ValueKind::Sequence:
    case ValueKind::Optional:
      put_bytes(out, 1, name);
      put_varint(out, 2 << 3);
      put_varint(out, value.items.empty() ? 0 : kKindNumbers[static_cast<std::size_t>(value.items[0].kind)]);
      for (const HostValue& item : value.items) put_bytes(out, kFields[static_cast<std::size_t>(item.kind)], serialize_value(item, ""));
      return out;
    case ValueKind::Map: break;
  }
  const TensorData& keys = value.items.at(0).tensor;
  put_bytes(out, 1, name);
  put_varint(out, 2 << 3);
  put_varint(out, static_cast<uint64_t>(keys.type));
  for (const std::string& key : keys.strings) put_bytes(out, 4, key);
  if (keys.type != ElementType::String) {
    for (int64_t key : to_integers(keys)) {
      put_varint(out, 3 << 3);
      put_varint(out, static_cast<uint64_t>(key));
    }
  }
  HostValue values = value.items.at(1);
  if (values.kind == ValueKind::Tensor) {  // one scalar for each key
    const TensorData all = std::move(values.tensor);
    values = {ValueKind::Sequence, {}, {}, {}};
    const auto width = static_cast<std::size_t>(info(all.type).bits) / 8;
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.count()); ++i) {
      TensorData one = TensorData::zeros(all.type, {});
      if (all.type == ElementType::String) one.strings[0] = all.strings[i];
      else std::memcpy(one.bytes.data(), all.bytes.data() + i * width, width);
      values.items.push_back(HostValue::of(std::move(one)));
    }
  }
  put_bytes(out, 5, serialize_value(values, ""));
  return out;
}

std::string describe(const HostValue& value) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < value.items.size() && i < 4; ++i) items.push_back(describe(value.items[i]));
  if (value.items.size() > 4) items.emplace_back("...");
  switch (value.kind) {
    case ValueKind::Tensor: return describe(value.tensor);
    case ValueKind::Sequence:
      return fmt::format("a sequence of {}{}{}", value.items.size(), items.empty() ? "" : ": ", fmt::join(items, ", "));
    case ValueKind::Optional: return items.empty() ? "an empty optional" : "an optional " + items[0];
    case ValueKind::Map: break;
  }
  return fmt::format("a map of {}", fmt::join(items, " to "));
}

std::string describe(const TensorData& tensor) { return fmt::format("{}[{}]", name(tensor.type), fmt::join(tensor.shape, ", ")); }

}  // namespace onnxc
