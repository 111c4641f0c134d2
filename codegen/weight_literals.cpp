#include "codegen/weight_literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace onnxc {
namespace {

constexpr std::size_t kColumns = 120;

/// Appends elements separated by ", " in lines of at most kColumns.
class ArrayLines {
 public:
  explicit ArrayLines(std::string& out) : out_(out) {}
  void add(std::string_view element) {
    if (column_ != 0 && column_ + element.size() + 2 > kColumns) {
      out_ += "\n";
      column_ = 0;
    }
    out_ += column_ == 0 ? "    " : " ";
    out_ += element;
    out_ += ',';
    column_ += element.size() + (column_ == 0 ? 5 : 2);
  }

 private:
  std::string& out_;
  std::size_t column_ = 0;
};

/// A plain decimal if that is exact (multiples of 1/8 below 1024), otherwise a hexadecimal float; a bit pattern for
/// NaN and infinity.
template <class Float, class Bits>
std::string_view float_literal(Float value, std::array<char, 64>& buffer) {
  constexpr bool is_float = sizeof(Float) == 4;
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  char* to = begin;
  if (!std::isfinite(value)) {
    to =
        fmt::format_to(to, "std::bit_cast<{}>({:#x}{})", is_float ? "float" : "double", std::bit_cast<Bits>(value), is_float ? "u" : "ull");
  } else {
    if (std::signbit(value)) *to++ = '-';
    const Float magnitude = std::abs(value);
    if (magnitude < 1024 && magnitude * 8 == std::trunc(magnitude * 8)) {
      char* const digits = to;
      to = std::to_chars(to, end, magnitude, std::chars_format::fixed).ptr;
      if (std::find(digits, to, '.') == to) to = fmt::format_to(to, ".0");
    } else {
      to = fmt::format_to(to, "0x");
      to = std::to_chars(to, end, magnitude, std::chars_format::hex).ptr;
    }
    if (is_float) *to++ = 'f';
  }
  return {begin, static_cast<std::size_t>(to - begin)};
}

template <class Int>
std::string_view int_literal(Int value, std::array<char, 64>& buffer) {
  if constexpr (std::is_same_v<Int, int64_t>) {
    if (value == INT64_MIN) return "-9223372036854775807 - 1";
  }
  char* to = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  if constexpr (std::is_same_v<Int, uint64_t> || std::is_same_v<Int, uint32_t>) *to++ = 'u';
  return {buffer.data(), static_cast<std::size_t>(to - buffer.data())};
}

template <class T, class Literal>
bool append_elements(std::string& out, std::span<const std::byte> bytes, Literal literal) {
  if (bytes.size() % sizeof(T) != 0) return false;
  ArrayLines lines(out);
  std::array<char, 64> buffer;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    lines.add(literal(value, buffer));
  }
  return true;
}

}  // namespace

bool append_literals(std::string& out, std::string_view type, std::span<const std::byte> bytes) {
  if (type.starts_with("std::")) type.remove_prefix(5);
  if (type == "float") return append_elements<float>(out, bytes, float_literal<float, uint32_t>);
  if (type == "double") return append_elements<double>(out, bytes, float_literal<double, uint64_t>);
  if (type == "int8_t") return append_elements<int8_t>(out, bytes, int_literal<int8_t>);
  if (type == "uint8_t") return append_elements<uint8_t>(out, bytes, int_literal<uint8_t>);
  if (type == "int16_t") return append_elements<int16_t>(out, bytes, int_literal<int16_t>);
  if (type == "uint16_t") return append_elements<uint16_t>(out, bytes, int_literal<uint16_t>);
  if (type == "int32_t") return append_elements<int32_t>(out, bytes, int_literal<int32_t>);
  if (type == "uint32_t") return append_elements<uint32_t>(out, bytes, int_literal<uint32_t>);
  if (type == "int64_t") return append_elements<int64_t>(out, bytes, int_literal<int64_t>);
  if (type == "uint64_t") return append_elements<uint64_t>(out, bytes, int_literal<uint64_t>);
  const auto is_bool = [](std::byte b) { return b == std::byte{0} || b == std::byte{1}; };
  if (type == "bool" && std::ranges::all_of(bytes, is_bool)) {
    return append_elements<uint8_t>(out, bytes, [](uint8_t value, auto&) -> std::string_view { return value != 0 ? "true" : "false"; });
  }
  return false;
}

}  // namespace onnxc
