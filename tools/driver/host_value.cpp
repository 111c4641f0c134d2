#include "tools/driver/host_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "tools/driver/files.h"
#include "tools/driver/wire_reader.h"

namespace onnxc {
namespace {

/// Appends the low `count` bytes of `bits`.
void append(std::vector<std::byte>& bytes, uint64_t bits, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
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

/// Elements of a tensor of that shape; throws where that is negative or absurd.
int64_t checked_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && count > std::numeric_limits<int64_t>::max() / 32 / d))
      throw Error(ErrorKind::Invalid, fmt::format("a tensor of shape {}", shape));
    count *= d;
  }
  return count;
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
      if (!type) throw Error(ErrorKind::Invalid, fmt::format("a tensor of element type {}", r.number()));
      tensor.type = *type;
    }
  }
  if (tensor.type == ElementType::Undefined && !proto.empty()) throw Error(ErrorKind::Invalid, "a tensor without element type");
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
        if (r.number() != 0) throw Error(ErrorKind::Unsupported, "a tensor in a file of its own");
        break;
      default: break;
    }
  }
  if (!has_raw) tensor.bytes = std::move(typed);
  const int64_t count = checked_count(tensor.shape);
  const auto held = static_cast<int64_t>(tensor.type == ElementType::String ? tensor.strings.size() : tensor.bytes.size());
  const int64_t needed = tensor.type == ElementType::String ? count : storage_bytes(tensor.type, count);
  if (held != needed)
    throw Error(ErrorKind::Invalid, fmt::format("tensor {} holds {} where {} are needed", describe(tensor), held, needed));
  return value;
}

HostValue parse_value(std::string_view proto, ValueKind kind) {
  HostValue value;
  value.kind = kind;
  switch (kind) {
    case ValueKind::Tensor: return parse_tensor(proto);
    case ValueKind::Sequence:
      for (WireReader r(proto); r.next();) {
        switch (r.field()) {
          case 1: value.name = r.bytes(); break;
          case 3: value.items.push_back(parse_tensor(r.bytes())); break;
          case 5: value.items.push_back(parse_value(r.bytes(), ValueKind::Sequence)); break;
          case 7: value.items.push_back(parse_value(r.bytes(), ValueKind::Optional)); break;
          case 4:
          case 6: throw Error(ErrorKind::Unsupported, "a sequence of maps or sparse tensors");
          default: break;
        }
      }
      return value;
    case ValueKind::Optional:
      for (WireReader r(proto); r.next();) {
        switch (r.field()) {
          case 1: value.name = r.bytes(); break;
          case 3: value.items.push_back(parse_tensor(r.bytes())); break;
          case 5: value.items.push_back(parse_value(r.bytes(), ValueKind::Sequence)); break;
          case 7: value.items.push_back(parse_value(r.bytes(), ValueKind::Optional)); break;
          case 4:
          case 6: throw Error(ErrorKind::Unsupported, "an optional map or sparse tensor");
          default: break;
        }
      }
      return value;
    case ValueKind::Map: break;
  }
  throw Error(ErrorKind::Unsupported, "values that are maps");
}

HostValue read_value(const std::filesystem::path& path, ValueKind kind) {
  const std::string bytes = read_file(path);
  try {
    return parse_value(bytes, kind);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", path.string(), error.what()));
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

std::string describe(const TensorData& tensor) { return fmt::format("{}[{}]", name(tensor.type), fmt::join(tensor.shape, ", ")); }

}  // namespace onnxc
