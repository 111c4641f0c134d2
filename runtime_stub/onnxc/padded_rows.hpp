// Rows of an image with what lies outside of it, so that no window over them has borders.
//
//   padded_row(to, n, row, w, 3, left, 128)    n pixels of 3 bytes from pixel `left` of a row of w pixels on, 128 where there are none
#pragma once
#include <cstring>

#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Pixels [left, left + n) of a row of w pixels of `pixel` bytes, or of no row: null. They are `step` bytes apart in the image, one behind the other in `to`. Bytes
/// outside of the row are `outside`.
ONNXC_INLINE void padded_row(uint8_t* to, int64_t n, const uint8_t* row, int64_t w, int64_t pixel, int64_t step, int64_t left,
                             uint8_t outside) {
  const int64_t begin = row == nullptr ? n : min_of(max_of(-left, int64_t{0}), n),
                end = row == nullptr ? n : max_of(begin, min_of(w - left, n));
  std::memset(to, outside, static_cast<std::size_t>(begin * pixel));
  if (step == pixel && end > begin) {
    std::memcpy(to + begin * pixel, row + (left + begin) * pixel, static_cast<std::size_t>((end - begin) * pixel));
  } else {
    for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * pixel, row + (left + i) * step, static_cast<std::size_t>(pixel));
  }
  std::memset(to + end * pixel, outside, static_cast<std::size_t>((n - end) * pixel));
}

}  // namespace onnxc::inline ONNXC_ISA
