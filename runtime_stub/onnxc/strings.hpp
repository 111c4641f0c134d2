// Strings as kernels see them: their order, and the numbers that they spell. Conversions are those of ONNX Runtime,
// whatever the locale.
#pragma once
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base.hpp"
#include "types.hpp"

namespace onnxc::inline ONNXC_ISA {

/// As memcmp, which a GPU has not.
ONNXC_BOTH int compare_bytes(const char* a, const char* b, std::size_t n) {
#if defined(__CUDA_ARCH__)
  for (std::size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]) ? -1 : 1;
  }
  return 0;
#else
  return n == 0 ? 0 : __builtin_memcmp(a, b, n);
#endif
}

/// Order by bytes.
ONNXC_BOTH bool before(onnxc_string a, onnxc_string b) {
  const std::size_t n = a.size < b.size ? a.size : b.size;
  const int order = compare_bytes(a.data, b.data, n);
  return order != 0 ? order < 0 : a.size < b.size;
}
template <class T>
ONNXC_BOTH bool before(T a, T b) {
  return a < b;
}

/// The first of `count` sorted keys that is equal to `key`, or -1.
template <class T>
int64_t find_sorted(const T* keys, int64_t count, T key) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (before(keys[middle], key)) low = middle + 1;
    else high = middle;
  }
  return low < count && !before(key, keys[low]) ? low : -1;
}

namespace detail {

ONNXC_INLINE bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
ONNXC_INLINE char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Moves behind white space and the sign; `negative` receives the latter.
inline const char* skip_sign(const char* at, const char* end, bool& negative) {
  while (at < end && is_space(*at)) ++at;
  negative = at < end && *at == '-';
  return at < end && (*at == '+' || *at == '-') ? at + 1 : at;
}

}  // namespace detail

/// The number at the start of a string: decimal or (floats) hexadecimal, INF, NAN, in any case. What follows it is
/// ignored. An integer that does not fit its type loses its upper bits. ONNXC_BAD_VALUE where there is no number, or
/// one that 64 bits do not hold.
template <class T>
Status parse_number(onnxc_string text, T& number) {
  bool negative = false;
  const char* const end = text.data + text.size;
  const char* at = text.size == 0 ? text.data : detail::skip_sign(text.data, end, negative);
  if (at == end || *at == '+' || *at == '-') return {ONNXC_BAD_VALUE};
  if constexpr (std::is_integral_v<T>) {
    uint64_t value = 0;
    if (std::from_chars(at, end, value).ec != std::errc{}) return {ONNXC_BAD_VALUE};
    if constexpr (!std::is_same_v<T, uint64_t>) {
      if (value > (uint64_t{1} << 63) - (negative ? 0 : 1)) return {ONNXC_BAD_VALUE};
    }
    number = static_cast<T>(negative ? uint64_t{0} - value : value);
  } else {
    double value = 0;
    const bool hexadecimal = end - at > 2 && at[0] == '0' && detail::lower_ascii(at[1]) == 'x';
    const auto result = hexadecimal ? std::from_chars(at + 2, end, value, std::chars_format::hex) : std::from_chars(at, end, value);
    if (result.ec != std::errc{}) return {ONNXC_BAD_VALUE};
    value = negative ? -value : value;
    if constexpr (std::is_same_v<T, double>) number = value;
    else number = T(static_cast<float>(value));
  }
  return {};
}

/// Characters that any number may take.
constexpr int64_t kNumberCharacters = 32;

/// Writes a number: integers in full, floats with the fewest digits that read back as the same number (as
/// onnx.reference does), without an exponent from 1e-4 up to 1e8 and else with one (as ONNX Runtime does, which writes
/// eight digits at most); NaN, INF, -INF.
template <class T>
onnxc_string format_number(T number, char* to) {
  if constexpr (std::is_same_v<T, bool>) {
    *to = number ? '1' : '0';
    return {to, 1};
  } else if constexpr (std::is_integral_v<T>) {
    return {to, static_cast<std::size_t>(std::to_chars(to, to + kNumberCharacters, number).ptr - to)};
  } else {
    using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const Real value = static_cast<Real>(number);
    if (std::isnan(value) || std::isinf(value)) {
      const char* const word = std::isnan(value) ? "NaN" : value < 0 ? "-INF" : "INF";
      const std::size_t size = value < 0 ? 4 : 3;
      std::memcpy(to, word, size);
      return {to, size};
    }
    const Real size = std::abs(value);
    const bool plain = size == 0 || (size >= Real(1e-4) && size < Real(1e8));
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    return {to, static_cast<std::size_t>(std::to_chars(to, to + kNumberCharacters, value, format).ptr - to)};
  }
}

}  // namespace onnxc
