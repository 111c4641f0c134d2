// Two convolutions or pools in turn, by bands of rows, so that what lies between them is a few rows in L2 instead of a wide image in memory.
//
//   rows above        ring of rows        `band` rows
//   x  --- first ---> . . . . . . --- windows of kh rows --->
//
// For each band of the second's output rows the first adds the rows that they read to a ring, where those that the band before read already are. Each row is
// made once, and as by the two kernels alone: the results are the same. Parts take rows of the second's output; each makes the rows above its first one, too.
#pragma once
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Rows of the ring. p: of the second kernel; of its members kh, stride_y and dilation_y are read.
template <class Params>
constexpr int64_t ring_rows(const Params& p, int64_t band) {
  return (band - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1;
}

namespace detail {

/// make(image, row, count, slot): rows `row` to `row + count` of the first kernel's output to `slot` and on of the ring; take(image, top, bottom): these rows of the
/// second's. p: of the second kernel.
template <class Params, class Make, class Take>
ONNXC_INLINE void by_bands(const Part& part, const Params& p, int64_t band, Make make, Take take) {
  const int64_t ring = ring_rows(p, band);
  const auto [first, last] = part.slice(p.n * p.oh);
  int64_t made = 0;  // rows of the image so far
  for (int64_t row = first; row < last;) {
    const int64_t image = row / p.oh, top = row % p.oh, end = last - row < p.oh - top ? last - row + top : p.oh, bottom = top + band < end ? top + band : end;
    const int64_t above = top * p.stride_y - p.pad_top, below = (bottom - 1) * p.stride_y - p.pad_top + (p.kh - 1) * p.dilation_y + 1;
    const int64_t from = above > 0 ? above : 0, to = below < p.h ? below : p.h;
    if (row == first || top == 0 || made < from) made = from;
    while (made < to) {  // up to where the ring begins anew
      const int64_t slot = made % ring, count = ring - slot < to - made ? ring - slot : to - made;
      make(image, made, count, slot);
      made += count;
    }
    take(image, top, bottom);
    row += bottom - top;
  }
}

}  // namespace detail

}  // namespace onnxc
