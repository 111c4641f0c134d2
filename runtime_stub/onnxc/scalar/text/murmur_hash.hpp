// MurmurHash3, the form of 32 bits for x86, by Austin Appleby, who put it into the public domain. https://github.com/aappleby/smhasher
//
// Words of 4 bytes, the first byte lowest, are mixed one after the other into the hash. The bytes that are left form a
// word with zeros above them. The number of bytes and a last mixing end it.
#pragma once
#include <cstring>
#include <type_traits>

#include "../../heap.hpp"
#include "../../strided.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

namespace detail {

constexpr uint32_t rotated(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

/// h with a word mixed in.
constexpr uint32_t hashed_in(uint32_t h, uint32_t word) { return h ^ rotated(word * 0xcc9e2d51u, 15) * 0x1b873593u; }

inline uint32_t murmur_hash(const unsigned char* bytes, std::size_t size, uint32_t seed) {
  uint32_t h = seed, word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    word |= static_cast<uint32_t>(bytes[i]) << i % 4 * 8;
    if (i % 4 != 3) continue;
    h = rotated(hashed_in(h, word), 13) * 5 + 0xe6546b64u;
    word = 0;
  }
  h = hashed_in(h, word) ^ static_cast<uint32_t>(size);  // a word of zeros changes nothing
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

}  // namespace detail

/// y[i] = the hash of x[i]: of a string's bytes, or of a number's own. The result has the bits of Y, of 4 bytes.
template <class Y, class T>
void murmur_hash(Y* y, Tensor<const T> x, uint32_t seed) {
  for (int64_t i = 0; i < x.count(); ++i) {
    if constexpr (std::is_same_v<T, onnxc_string>) {
      y[i] = static_cast<Y>(detail::murmur_hash(reinterpret_cast<const unsigned char*>(x.data[i].data), x.data[i].size, seed));
    } else {
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, x.data + i, sizeof(T));
      y[i] = static_cast<Y>(detail::murmur_hash(bytes, sizeof(T), seed));
    }
  }
}

}  // namespace onnxc::scalar
