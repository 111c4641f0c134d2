// An .npy file begins with its magic number, a version, the length of its header, and the header, a Python dictionary:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (200, 1, 28, 28), }
#include "tools/calibration/npy_file.h"
#include "compiler/support/error_codes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tools/calibration/zip_file.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 32, kLongestHeader = 1 << 16;
constexpr int64_t kMostElements = int64_t{1} << 40;

[[noreturn]] void damaged_npy(const std::string& what) {
  throw Error(ErrorCode::DamagedData, "a damaged .npy array: " + what, "write it again with numpy.save");
}

/// What stands behind `'key':` in the header, without blanks before it.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = header.find(quoted);
  if (at == header.npos) damaged_npy(fmt::format("its header has no '{}'", key));
  header.remove_prefix(at + quoted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::vector<int64_t> parse_shape(std::string_view text) {
  if (!text.starts_with('(')) damaged_npy("its shape is no tuple");
  text = text.substr(1, text.find(')') - 1);
  std::vector<int64_t> shape;
  int64_t count = 1;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,L"), text.size()));
    if (text.empty()) return shape;
    int64_t extent = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0 || shape.size() == kMostAxes || (extent > 0 && count > kMostElements / extent))
      damaged_npy("its shape is impossible");
    count *= std::max<int64_t>(extent, 1);
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

struct Description {
  ElementType type;
  std::size_t number_bytes;  ///< of one number: a complex element has two
  bool big_endian;
};

Description parse_description(std::string_view text) {
  static constexpr struct {
    std::string_view name;
    ElementType type;
    std::size_t number_bytes;
  } kTypes[] = {{"b1", ElementType::Bool, 1}, {"i1", ElementType::I8, 1},   {"u1", ElementType::U8, 1},  {"i2", ElementType::I16, 2},
                {"u2", ElementType::U16, 2},  {"i4", ElementType::I32, 4},  {"u4", ElementType::U32, 4}, {"i8", ElementType::I64, 8},
                {"u8", ElementType::U64, 8},  {"f2", ElementType::F16, 2},  {"f4", ElementType::F32, 4}, {"f8", ElementType::F64, 8},
                {"c8", ElementType::C64, 4},  {"c16", ElementType::C128, 8}};
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::DataForm, what, "save arrays of numbers, with .astype(np.float32) for example");
  };
  if (text.empty() || (text.front() != '\'' && text.front() != '"')) refuse("an array of records");
  const std::size_t end = text.find(text.front(), 1);
  if (end == text.npos || end < 3) damaged_npy("its element type is unreadable");
  const std::string_view shown = text.substr(1, end - 1), name = shown.substr(1);
  if (name.starts_with('O')) refuse("an array of Python objects");
  for (const auto& row : kTypes) {
    if (row.name == name) return {row.type, row.number_bytes, shown.front() == '>'};
  }
  refuse(fmt::format("an array of element type '{}'", one_line(std::string(shown))));
  return {};
}

/// The elements of an array whose first axis runs fastest, in the order of one whose last axis does.
std::vector<std::byte> row_major(std::span<const std::byte> bytes, const std::vector<int64_t>& shape, std::size_t width) {
  std::vector<std::byte> ordered(bytes.size());
  std::vector<std::size_t> index(shape.size()), strides(shape.size());
  std::size_t stride = width;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(shape[axis]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < bytes.size(); to += width) {
    std::memcpy(ordered.data() + to, bytes.data() + from, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      from -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return ordered;
}

}  // namespace

TensorData parse_npy(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) throw Error(ErrorCode::DamagedData, "no .npy array", "an .npy file is what numpy.save writes");
  if (bytes.size() < 12) damaged_npy("it ends too early");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
  const std::size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) damaged_npy(fmt::format("version {} does not exist", version));
  const std::size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > kLongestHeader || bytes.size() - start < length) damaged_npy("it ends too early");
  const std::string_view header = bytes.substr(start, length);
  const Description description = parse_description(value_of(header, "descr"));
  TensorData tensor{description.type, parse_shape(value_of(header, "shape")), {}, {}};
  const std::string_view data = bytes.substr(start + length);
  const auto needed = static_cast<std::size_t>(storage_bytes(tensor.type, tensor.count()));
  if (data.size() != needed)
    damaged_npy(fmt::format("it has {} bytes of data where its shape [{}] needs {}", data.size(), fmt::join(tensor.shape, ", "), needed));
  tensor.bytes.resize(needed);
  if (needed > 0) std::memcpy(tensor.bytes.data(), data.data(), needed);
  if (description.big_endian) {
    for (std::byte* at = tensor.bytes.begin(); at != tensor.bytes.end(); at += static_cast<std::ptrdiff_t>(description.number_bytes))
      std::reverse(at, at + static_cast<std::ptrdiff_t>(description.number_bytes));
  }
  if (tensor.type == ElementType::Bool) std::ranges::replace_if(tensor.bytes, [](std::byte b) { return b != std::byte{0}; }, std::byte{1});
  const bool columns = value_of(header, "fortran_order").starts_with("True");
  if (columns && tensor.shape.size() > 1 && needed > 0)
    tensor.bytes = row_major(tensor.bytes, tensor.shape, static_cast<std::size_t>(info(tensor.type).bits) / 8);
  return tensor;
}

std::vector<NamedArray> read_arrays(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  std::string what = path.string();
  std::vector<NamedArray> arrays;
  try {
    if (std::string_view(bytes).starts_with(kMagic)) return {{"", parse_npy(bytes)}};
    if (!std::string_view(bytes).starts_with("PK"))
      throw Error(ErrorCode::DamagedData, "neither an .npy array nor an .npz archive", "write it with numpy.save or numpy.savez");
    for (ZipMember& member : read_zip(bytes)) {
      what = fmt::format("{}: {}", path.string(), member.name);
      std::string name = member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4) : member.name;
      arrays.push_back({std::move(name), parse_npy(member.bytes)});
      std::string().swap(member.bytes);
    }
  } catch (const Error& error) {
    const Diagnostic& first = error.diagnostics().front();
    throw Error(first.code, fmt::format("{}: {}", what, first.found), first.remedy);
  }
  if (arrays.empty()) throw Error(ErrorCode::DataMissing, fmt::format("{}: an archive without arrays", path.string()));
  return arrays;
}

}  // namespace onnxc
