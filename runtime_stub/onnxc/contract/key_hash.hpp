// Where a key lies in a table of keys: the compiler lays tables out by this, and kernels look keys up by it. Results do not
// depend on the order of bytes of the machine.
#pragma once
#include <cstdint>

#include "../isa.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;

constexpr uint64_t mix_hash(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kHashFactor;
  return hash ^ hash >> 29;
}

/// The number of 1 to 8 bytes, the first of which is the lowest.
template <int bytes>
constexpr uint64_t hash_word(const char* at) {
  uint64_t word = 0;
  for (int i = 0; i < bytes; ++i) word |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return word;
}

/// Of a string. Words overlap at its end.
constexpr uint64_t hash_of(const char* text, uint64_t size) {
  uint64_t hash = size;
  if (size >= 8) {
    for (uint64_t i = 0; i + 8 < size; i += 8) hash = mix_hash(hash, hash_word<8>(text + i));
    hash = mix_hash(hash, hash_word<8>(text + size - 8));
  } else if (size >= 4) {
    hash = mix_hash(hash, hash_word<4>(text) | hash_word<4>(text + size - 4) << 32);
  } else if (size > 0) {
    hash = mix_hash(hash, hash_word<1>(text) | hash_word<1>(text + size / 2) << 8 | hash_word<1>(text + size - 1) << 16);
  }
  return hash * kHashFactor;
}

/// Of the bits of a number.
constexpr uint64_t hash_of(uint64_t bits) { return mix_hash(0, bits) * kHashFactor; }

/// A table of `count` keys has 2^bits buckets, about twice as many as keys. A key's bucket is the upper bits of its hash;
/// within a bucket, keys are sorted, so that a look-up is never slower than a search in all keys.
constexpr int64_t hash_bits(int64_t count) {
  int64_t bits = 1;
  while (bits < 30 && int64_t{1} << bits < 2 * count) ++bits;
  return bits;
}
constexpr uint64_t bucket_of(uint64_t hash, int64_t bits) { return hash >> (64 - bits); }

}  // namespace onnxc::contract
