#include "compiler/frontend/tensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <system_error>

#include "compiler/support/error_codes.h"
#include "compiler/support/mapped_file.h"
#include "onnx/checker.h"
#include "onnx/onnx_pb.h"
#include "runtime_stub/onnxc/base.hpp"

namespace onnxc {
namespace {

[[noreturn]] void invalid(const onnx::TensorProto& proto, const std::string& what, ErrorCode code = ErrorCode::DamagedTensor) {
  throw Error(code, std::vector<Diagnostic>{{proto.name(), "tensor", what}});
}

/// The largest constant that is read: far larger than real tensors.
constexpr int64_t kMostTensorBytes = int64_t{1} << 36;

/// The largest sparse tensor that is made dense, since a few bytes of a file could ask for any size. All of them
/// together may exceed it up to kMostDenseGrowth times their size in the file.
constexpr int64_t kMostDenseBytes = int64_t{1} << 28, kMostDenseGrowth = 64;

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

int64_t parse_number(const onnx::TensorProto& proto, const std::string& key, const std::string& text) {
  if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    invalid(proto, fmt::format("external data has {}='{}', not a number", key, text), ErrorCode::ExternalData);
  return std::stoll(text);
}

/// Smaller tensors are read, and so are those that do not lie where their elements may.
constexpr int64_t kLeastMapped = int64_t{1} << 16;
/// A small file must not become weights of any size.
constexpr int64_t kMostReuse = 16;

bool may_map(ElementType type, int64_t offset, int64_t bytes) {
  return bytes >= kLeastMapped && offset % std::max(1, std::min(8, info(type).bits / 8)) == 0;
}

/// The tensor's `wanted` bytes, mapped or read. Nothing is allocated before the file is known to have them.
Bytes read_external(const onnx::TensorProto& proto, ElementType type, ExternalData& external, int64_t wanted) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parse_number(proto, "offset", entry.value());
    if (entry.key() == "length") length = parse_number(proto, "length", entry.value());
  }
  if (location.find('\0') != location.npos) invalid(proto, "external data location holds a NUL", ErrorCode::ExternalData);
  Descriptor file;
  try {
    // ONNX's own function refuses absolute paths, '..', links that lead out of the folder, and anything but regular
    // files.
    file.fd = static_cast<int>(onnx::checker::open_external_data(external.folder.string(), location, proto.name(), true));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    std::string what = e.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    invalid(proto, "external data: " + what, ErrorCode::ExternalData);
  }
  struct stat status{};
  if (file.fd < 0 || fstat(file.fd, &status) != 0)
    invalid(proto, fmt::format("external data '{}' cannot be read", location), ErrorCode::ExternalData);
  if (length >= 0 && length != wanted)
    invalid(proto, fmt::format("external data holds {} bytes where the shape needs {}", length, wanted), ErrorCode::ExternalDataSize);
  if (offset > status.st_size || status.st_size - offset < wanted)
    invalid(proto, fmt::format("external data '{}' is too short: {} bytes from offset {} of {}", location, wanted, offset, status.st_size),
            ErrorCode::ExternalDataSize);
  const auto path = external.folder / location;
  if (std::find(external.files.begin(), external.files.end(), path) == external.files.end()) external.files.push_back(path);
  if (may_map(type, offset, wanted)) {
    ExternalFile& mapped = external.mapped[location];
    if (mapped.size != status.st_size)
      mapped = {map_file(file.fd, static_cast<std::size_t>(status.st_size), "external data '" + location + "'"), status.st_size};
    mapped.tensor_bytes += wanted;
    if (mapped.tensor_bytes / kMostReuse > mapped.size)
      invalid(proto,
              fmt::format("external data '{}' has {} bytes, and tensors that overlap in it have more than {} times as many", location,
                          mapped.size, kMostReuse),
              ErrorCode::ExternalDataSize);
    if (mapped.bytes != nullptr) return {{mapped.bytes, mapped.bytes.get() + offset}, static_cast<std::size_t>(wanted)};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(wanted));
  for (int64_t done = 0; done < wanted;) {
    const ssize_t n = pread(file.fd, bytes.data() + done, static_cast<std::size_t>(wanted - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const std::string why = n == 0 ? "it has become shorter meanwhile" : std::generic_category().message(errno);
      throw Error(ErrorCode::CannotRead,
                  std::vector<Diagnostic>{{proto.name(), "tensor", fmt::format("external data '{}' cannot be read: {}", location, why)}});
    }
    done += n;
  }
  return bytes;
}

/// Copies a typed field and narrows each element to Target, since ONNX keeps small types in int32_data.
template <class Target, class Field>
void copy_field(const onnx::TensorProto& proto, const Field& field, Bytes& bytes) {
  const std::size_t n = bytes.size() / sizeof(Target);
  if (static_cast<std::size_t>(field.size()) != n)
    invalid(proto, fmt::format("holds {} elements where the shape needs {}", field.size(), n));
  std::byte* const to = bytes.data();
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<Target>(field[static_cast<int>(i)]);
    std::memcpy(to + i * sizeof(Target), &value, sizeof(Target));
  }
}

void read_fields(const onnx::TensorProto& proto, TensorData& t) {
  switch (t.type) {
    case ElementType::F32:
    case ElementType::C64: copy_field<float>(proto, proto.float_data(), t.bytes); break;
    case ElementType::F64:
    case ElementType::C128: copy_field<double>(proto, proto.double_data(), t.bytes); break;
    case ElementType::I64: copy_field<int64_t>(proto, proto.int64_data(), t.bytes); break;
    case ElementType::U64: copy_field<uint64_t>(proto, proto.uint64_data(), t.bytes); break;
    case ElementType::U32: copy_field<uint32_t>(proto, proto.uint64_data(), t.bytes); break;
    case ElementType::I32: copy_field<int32_t>(proto, proto.int32_data(), t.bytes); break;
    case ElementType::I16:
    case ElementType::U16:
    case ElementType::F16:
    case ElementType::BF16: copy_field<uint16_t>(proto, proto.int32_data(), t.bytes); break;
    // One byte, or packed sub-byte elements.
    default: copy_field<uint8_t>(proto, proto.int32_data(), t.bytes); break;
  }
}

}  // namespace

Constant import_tensor(onnx::TensorProto& proto, ExternalData& external) {
  const auto type = element_type_numbered(proto.data_type());
  if (!type || *type == ElementType::Undefined) invalid(proto, fmt::format("has the unknown element type {}", proto.data_type()));
  auto t = std::make_shared<TensorData>();
  t->type = *type;
  int64_t count = 1;
  if (proto.dims_size() > kMaxRank) invalid(proto, fmt::format("has rank {}; at most {} is supported", proto.dims_size(), kMaxRank));
  for (int64_t d : proto.dims()) {
    if (d < 0 || __builtin_mul_overflow(count, d, &count) || count > kMostTensorBytes) invalid(proto, "has an impossible shape");
    t->shape.push_back(d);
  }
  if (*type == ElementType::String) {
    if (proto.string_data_size() != count)
      invalid(proto, fmt::format("holds {} strings where the shape needs {}", proto.string_data_size(), count));
    t->strings.assign(proto.string_data().begin(), proto.string_data().end());
    return t;
  }
  // The number of elements in typed fields, as opposed to raw_data.
  const int64_t typed = int64_t{proto.float_data_size()} + proto.double_data_size() + proto.int32_data_size() + proto.int64_data_size() +
                        proto.uint64_data_size();
  if ((proto.has_raw_data() || proto.data_location() == onnx::TensorProto::EXTERNAL) && typed > 0) invalid(proto, "holds its data twice");
  const int64_t size = storage_bytes(*type, count);
  if (size > kMostTensorBytes) invalid(proto, "has an impossible shape");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    t->bytes = read_external(proto, *type, external, size);
  } else if (proto.has_raw_data()) {
    if (static_cast<int64_t>(proto.raw_data().size()) != size)
      invalid(proto, fmt::format("holds {} bytes where the shape needs {}", proto.raw_data().size(), size));
    t->bytes = Bytes::of(std::move(*proto.mutable_raw_data()));
    proto.clear_raw_data();
  } else {
    // Nothing is allocated before the field is known to be as long as the shape requires.
    if (count > 0 && typed == 0) invalid(proto, fmt::format("holds no data where the shape needs {} elements", count));
    if (count > 8 * typed) invalid(proto, fmt::format("holds {} elements where the shape needs {}", typed, count));
    t->bytes.resize(static_cast<std::size_t>(size));
    read_fields(proto, *t);
  }
  // A C++ bool must be 0 or 1.
  if (*type == ElementType::Bool) {
    const std::span<std::byte> bytes(t->bytes.data(), t->bytes.size());
    std::ranges::transform(bytes, bytes.begin(), [](std::byte b) { return b == std::byte{0} ? b : std::byte{1}; });
  }
  return t;
}

Constant import_sparse_tensor(onnx::SparseTensorProto& proto, ExternalData& external) {
  const Constant values = import_tensor(*proto.mutable_values(), external);
  const Constant indices = import_tensor(*proto.mutable_indices(), external);
  const auto& name = proto.values();
  if (values->type == ElementType::String || is_sub_byte(values->type))
    invalid(name, "is a sparse tensor of an element type that is not supported");
  if (indices->type != ElementType::I64) invalid(name, "sparse indices are not int64");
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0 || __builtin_mul_overflow(count, d, &count)) invalid(name, "has an impossible shape");
  }
  const auto refuse = [&](const std::string& found) {
    throw Error(ErrorCode::ConstantTooLarge, std::vector<Diagnostic>{{name.name(), "tensor", found, "see --max-fold-bytes"}});
  };
  if (count > external.most_dense_bytes.value_or(kMostDenseBytes) * 8 / info(values->type).bits)
    refuse(fmt::format("is sparse, and dense it would have {} elements", count));
  external.dense_bytes += storage_bytes(values->type, count);
  external.sparse_bytes += bytes_held(*values) + bytes_held(*indices);
  if (external.dense_bytes > external.most_dense_bytes.value_or(kMostDenseBytes + kMostDenseGrowth * external.sparse_bytes))
    refuse(fmt::format("is sparse, and with those before it would take {} bytes if dense", external.dense_bytes));
  auto t = std::make_shared<TensorData>(TensorData::zeros(values->type, shape));
  const auto width = static_cast<std::size_t>(info(t->type).bits / 8);
  const auto list = indices->as<int64_t>();
  const int64_t n = values->count();
  const bool linear = indices->shape.size() == 1;
  if (indices->count() != (linear ? n : n * static_cast<int64_t>(shape.size()))) invalid(name, "sparse indices do not match the values");
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    if (linear) {
      at = list[static_cast<std::size_t>(i)];
    } else {
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t index = list[static_cast<std::size_t>(i) * shape.size() + axis];
        if (index < 0 || index >= shape[axis]) invalid(name, "a sparse index is out of range");
        at = at * shape[axis] + index;
      }
    }
    if (at < 0 || at >= count) invalid(name, "a sparse index is out of range");
    std::memcpy(t->bytes.data() + static_cast<std::size_t>(at) * width, values->bytes.data() + static_cast<std::size_t>(i) * width, width);
  }
  return t;
}

}  // namespace onnxc
