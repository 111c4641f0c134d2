// Elements of 4 or 2 bits where ONNX packs them, in inputs, outputs and weights: two or four a byte, the first in the
// lowest bits. Everywhere else such an element has a byte of its own.
#pragma once
#include "base.hpp"
#include "types.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

template <class T>
inline constexpr int kPackedBits = 4;
template <small_integer T>
inline constexpr int kPackedBits<T> = T::kIntegerBits;

}  // namespace detail

/// y[i] = element i of x, for i in [0, n). x: ceil(n * bits / 8) bytes.
template <class T>
ONNXC_ANYWHERE void unpack(Share share, T* y, const uint8_t* x, int64_t n) {
  constexpr int kBits = detail::kPackedBits<T>, kPerByte = 8 / kBits;
  constexpr unsigned kMask = (1u << kBits) - 1;
  const auto [first, last] = share.slice(n, kPerByte);
  for (int64_t i = first; i < last; ++i) {
    const unsigned byte = x[i / kPerByte];
    y[i] = T::from_bits(static_cast<uint8_t>((byte >> (i % kPerByte * kBits)) & kMask));
  }
}

/// The inverse. Bits of the last byte behind element n - 1 are 0.
template <class T>
ONNXC_ANYWHERE void pack(Share share, uint8_t* y, const T* x, int64_t n) {
  constexpr int kBits = detail::kPackedBits<T>, kPerByte = 8 / kBits;
  constexpr unsigned kMask = (1u << kBits) - 1;
  const auto [first, last] = share.slice((n + kPerByte - 1) / kPerByte);
  for (int64_t i = first; i < last; ++i) {
    unsigned byte = 0;
    for (int64_t k = 0; k < kPerByte && i * kPerByte + k < n; ++k)
      byte |= (static_cast<unsigned>(static_cast<uint8_t>(x[i * kPerByte + k].bits)) & kMask) << (k * kBits);
    y[i] = static_cast<uint8_t>(byte);
  }
}

}  // namespace onnxc
