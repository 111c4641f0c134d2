// Arithmetic on sizes that comes out exact or ends in an error: a size that wraps is a buffer that is too small.
#pragma once
#include <cstdint>

#include "compiler/support/error.h"

namespace onnxc {

/// No machine addresses so many bytes. What has this size can be neither made nor read, and a few of them can be added.
inline constexpr int64_t kMostBytes = int64_t{1} << 56;

/// A size that 64 bits do not hold. Whoever knows the node or value adds it: see Node::guard.
struct SizeOverflow : Error {
  SizeOverflow() : Error(ErrorKind::Invalid, "an extent does not fit in 64 bits") {}
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
