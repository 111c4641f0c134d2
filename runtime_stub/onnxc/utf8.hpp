// Code points of UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

/// The code point at `at` < `end`, which moves behind it. A byte that is no part of UTF-8 gives -1 - byte.
inline int32_t next_code(const char*& at, const char* end) {
  const auto byte = [&](std::ptrdiff_t i) { return static_cast<int32_t>(static_cast<unsigned char>(at[i])); };
  const int32_t first = byte(0);
  const int more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
  int32_t code = more <= 0 ? first : first & (0x3f >> more);
  bool valid = more >= 0 && end - at > more;
  for (int i = 1; valid && i <= more; ++i) {
    valid = (byte(i) & 0xc0) == 0x80;
    code = code << 6 | (byte(i) & 0x3f);
  }
  valid =
      valid && !(more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) && !(more == 3 && (code < 0x10000 || code > 0x10ffff));
  if (!valid) {
    ++at;
    return -1 - first;
  }
  at += more + 1;
  return code;
}

/// Writes what next_code has read, and returns where it ends.
inline char* put_code(int32_t code, char* to) {
  if (code < 0x80) {
    *to++ = static_cast<char>(code < 0 ? -1 - code : code);
    return to;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  *to++ = static_cast<char>((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) *to++ = static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  return to;
}

}  // namespace onnxc
