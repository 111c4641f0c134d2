// A float as the nearest integer by operations on integers alone: for cores that compute floats in software, where rounding by floats takes
// four calls of the library.
#pragma once
#include <bit>
#include <cstdint>

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Half to even; beyond the range of 32 bits the nearest integer, of NaN 0.
///
/// The fraction, with its leading 1, is f = 2^23 m and x = f 2^(e - 150). Where bits are shifted out, they decide: beyond a half, or at a
/// half of an odd number, one is added.
constexpr int32_t nearest_int(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = bits >> 23 & 0xffu, fraction = (bits & 0x7fffffu) | 0x800000u;
  const bool negative = bits >> 31 != 0;
  if (exponent < 126) return 0;  // less than 1/2
  uint32_t magnitude = 0;
  if (exponent < 150) {
    const uint32_t out = 150 - exponent, rest = fraction << (32 - out);
    magnitude = fraction >> out;
    magnitude += rest > 0x80000000u || (rest == 0x80000000u && (magnitude & 1u) != 0);
  } else if (exponent < 158) {
    magnitude = fraction << (exponent - 150);
  } else {
    if (exponent == 255 && fraction != 0x800000u) return 0;
    return negative ? INT32_MIN : INT32_MAX;
  }
  return negative ? -static_cast<int32_t>(magnitude) : static_cast<int32_t>(magnitude);
}

}  // namespace onnxc::inline ONNXC_ISA
