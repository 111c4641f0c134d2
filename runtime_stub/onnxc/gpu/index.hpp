// Positions from linear indices, mostly without divisions: a GPU takes some twenty instructions for one of 32 bits, and a
// hundred for one of 64.
#pragma once
#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// n / d for n >= 0 and d > 0: one product where both are below 2^31. Made by the host.
class FastDivide {
 public:
  FastDivide() = default;
  explicit FastDivide(int64_t divisor) noexcept : divisor_(divisor) {
    if (divisor > kMost) return;
    while ((int64_t{1} << shift_) < divisor) ++shift_;
    factor_ = static_cast<uint32_t>(
        (uint64_t{1} << 32) * static_cast<uint64_t>((int64_t{1} << shift_) - divisor) / static_cast<uint64_t>(divisor) + 1);
  }
  ONNXC_BOTH int64_t operator()(int64_t n) const {
    if (n > kMost || divisor_ > kMost) return n / divisor_;
    return quotient(static_cast<uint32_t>(n));
  }
  /// The same in the caller's type for positions. Of 32 bits, the divisor is below 2^31, too.
  template <class Count>
  ONNXC_BOTH Count in(Count n) const {
    if constexpr (sizeof(Count) == 4) return static_cast<Count>(quotient(static_cast<uint32_t>(n)));
    else return (*this)(n);
  }
  ONNXC_BOTH int64_t divisor() const { return divisor_; }

 private:
  static constexpr int64_t kMost = 0x7fffffff;
  ONNXC_BOTH uint32_t quotient(uint32_t n) const { return (n + static_cast<uint32_t>(static_cast<uint64_t>(n) * factor_ >> 32)) >> shift_; }
  int64_t divisor_ = 1;
  uint32_t factor_ = 1, shift_ = 0;
};

/// A box of positions, the last axis innermost.
struct Box {
  int rank = 0;
  FastDivide extents[kMaxRank];

  Box() = default;
  /// The axes [first, last) of `shape`.
  Box(const Shape& shape, int first, int last) noexcept {
    for (int axis = first; axis < last; ++axis) extents[rank++] = FastDivide(max_of(shape[axis], 1));
  }
  /// visit(axis, position) for each axis, from the last one on.
  template <class Visit>
  ONNXC_DEVICE void locate(int64_t index, Visit visit) const {
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t rest = axis == 0 ? 0 : extents[axis](index);
      visit(axis, index - rest * extents[axis].divisor());
      index = rest;
    }
  }
};

/// Blocks of `threads` for `count` items, which the kernel walks in strides of the grid.
inline Index grid_for(int64_t count, int64_t threads) noexcept {
  return {static_cast<int>(min_of(ceil_div(count, threads), most_blocks())), 1, 1};
}

}  // namespace onnxc::gpu
