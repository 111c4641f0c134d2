// Arithmetic on sizes that is exact or throws: a size that wraps around would lead to a buffer that is too small.
#pragma once
#include <cstdint>

#include "compiler/support/error.h"

namespace onnxc {

/// More bytes than any machine addresses. Nothing of this size can be created or read, and the sum of a few such
/// numbers does not overflow.
inline constexpr int64_t kMostBytes = int64_t{1} << 56;

/// A size does not fit in 64 bits. Callers that know the node or value add it: see Node::guard.
struct SizeOverflow : Error {
  SizeOverflow();
};

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw SizeOverflow();
  return r;
}
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw SizeOverflow();
  return r;
}

}  // namespace onnxc
