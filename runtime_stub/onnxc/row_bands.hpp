// Two convolutions or pools in turn, by bands of rows, so that what lies between them is a few rows in L2 instead of a
// wide image in memory.
//
//   rows above        ring of rows        `band` rows
//   x  --- first ---> . . . . . . --- windows of kh rows --->
//
// For each band of the second kernel's output rows, the first kernel adds the rows that they read to a ring; those that
// the band before read are there already. Each row is made once and as by the kernels alone, so the results are the
// same. Threads divide the rows of the second kernel's output, and each share also makes the rows above its first one.
#pragma once
#include "contract/row_bands.hpp"
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Rows of the ring. p: parameters of the second kernel, of which kh, stride_y and dilation_y are read. `rows_at_once`:
/// rows that the first kernel makes at a time.
template <class Params>
constexpr int64_t ring_rows(const Params& p, int64_t band, int64_t rows_at_once = 1) {
  return contract::ring_rows(band, p.stride_y, p.kh, p.dilation_y, rows_at_once);
}

namespace detail {

/// Calls take(image, top, bottom, fresh) for bands of the second kernel's output rows. fresh(make) calls make(row,
/// count, slot) for the input rows that the band adds: rows [row, row + count) of the first kernel's output go to
/// `slot` and on of the ring, at most up to its end. Or it calls make(from, to) once for all of them. p: parameters of
/// the second kernel. Shares begin at rows of an image that `kGrain` divides.
template <int kGrain = 1, class Params, class Take>
ONNXC_INLINE void by_bands(const Share& share, const Params& p, int64_t band, Take take) {
  const int64_t ring = ring_rows(p, band);
  const int64_t grains = (p.oh + kGrain - 1) / kGrain;  // of an image
  const auto row_of = [&](int64_t grain) { return grain / grains * p.oh + grain % grains * kGrain; };
  const auto slice = share.slice(p.n * grains);
  const int64_t first = row_of(slice.begin), last = row_of(slice.end);
  int64_t made = 0;  // rows of the image so far
  for (int64_t row = first; row < last;) {
    const int64_t image = row / p.oh, top = row % p.oh, end = last - row < p.oh - top ? last - row + top : int64_t{p.oh},
                  bottom = top + band < end ? top + band : end;
    const int64_t above = top * p.stride_y - p.pad_top, below = (bottom - 1) * p.stride_y - p.pad_top + (p.kh - 1) * p.dilation_y + 1;
    const int64_t from = above > 0 ? above : 0, to = below < p.h ? below : int64_t{p.h};
    if (row == first || top == 0 || made < from) made = from;
    take(image, top, bottom, [&](auto make) ONNXC_INLINE_LAMBDA {
      if constexpr (requires { make(made, to); }) return make(made, to);
      else
        for (int64_t at = made; at < to;) {
          const int64_t slot = at % ring, count = ring - slot < to - at ? ring - slot : to - at;
          make(at, count, slot);
          at += count;
        }
    });
    if (made < to) made = to;
    row += bottom - top;
  }
}

}  // namespace detail

}  // namespace onnxc
