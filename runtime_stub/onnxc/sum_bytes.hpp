// Sums of unsigned bytes, exact in 32 bits: what averages of quantised values are made of.
//
//   sum_bytes_last(share, x, y, {.outer = 64, .r = 49, .x_row = 49}, Epilogue<Requantise>{});
//   sum_bytes_middle(share, x, y, {.outer = 1, .r = 49, .inner = 1280, .x_row = 1280, .x_outer = 62720}, Epilogue<Requantise>{});
//
// Axes and epilogues are those of reduce_last and reduce_middle (reduce.hpp), but an epilogue gets integers and may give any type. r is below 2^23, so
// that no sum overflows. Bytes are multiplied by 1 and added up by `dot`: over the last axis four neighbours, down the middle one four interleaved rows.
#pragma once
#include "interleaved_rows.hpp"
#include "passed.hpp"
#include "quad_tile.hpp"
#include "reduce.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// The sum of n bytes.
ONNXC_INLINE int32_t sum_of_bytes(const uint8_t* x, int64_t n) {
  constexpr int64_t kBytes = 4 * Vec::width;
  const IntVec ones = IntVec::all(0x01010101);
  IntVec sums[2] = {IntVec::all(0), IntVec::all(0)};
  int64_t i = 0;
  for (; i + 2 * kBytes <= n; i += 2 * kBytes) {
    ONNXC_UNROLL for (int u = 0; u < 2; ++u) sums[u] = dot(sums[u], load_bytes(x + i + u * kBytes), ones);
  }
  if (i + kBytes <= n) {
    sums[0] = dot(sums[0], load_bytes(x + i), ones);
    i += kBytes;
  }
  int32_t lanes[Vec::width], total = 0;
  onnxc::store(Whole<int32_t>{sums[0] + sums[1]}, lanes);
  for (const int32_t lane : lanes) total += lane;
  for (; i < n; ++i) total += x[i];
  return total;
}

}  // namespace detail

/// y[o] = epilogue(sum of x[o * x_row + i] over i in [0, r)).
template <class Y, class Epi = Epilogue<Keep>>
void sum_bytes_last(Share share, const uint8_t* x, Y* y, Passed<ReduceParams> p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.outer);
  for (int64_t o = first; o < last; ++o)
    detail::finish_sums(epi, IntVec::all(detail::sum_of_bytes(x + o * p.x_row, p.r)), 0, o, y + o, int64_t{1});
}

/// y[o * y_outer + j] = epilogue(sum of x[o * x_outer + i * x_row + j] over i in [0, r)), j in [0, inner).
template <class Y, class Epi = Epilogue<Keep>>
void sum_bytes_middle(Share share, const uint8_t* x, Y* y, Passed<ReduceParams> p, Epi epi = {}) {
  constexpr int64_t kBlock = 4 * Vec::width;
  const IntVec ones = IntVec::all(0x01010101);
  const int64_t blocks = (p.inner + kBlock - 1) / kBlock;
  const uint8_t* const end = x + (p.outer - 1) * p.x_outer + (p.r - 1) * p.x_row + p.inner;  // whole vectors are read up to here
  const auto [first, last] = share.slice(p.outer * blocks);
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t o = unit / blocks, j = unit % blocks * kBlock, columns = p.inner - j < kBlock ? p.inner - j : kBlock;
    const uint8_t* const column = x + o * p.x_outer + j;
    IntVec sums[4];
    ONNXC_UNROLL for (IntVec& s : sums) s = IntVec::all(0);
    const auto add = [&](const IntVec(&rows)[4]) ONNXC_INLINE_LAMBDA {
      detail::interleave_rows(rows, columns <= 2 * Vec::width, [&](int g, IntVec quads) { sums[g] = dot(sums[g], quads, ones); });
    };
    const auto row_at = [&](int64_t i) ONNXC_INLINE_LAMBDA {
      const uint8_t* const row = column + i * p.x_row;
      if (i < p.r && end - row >= kBlock) return detail::load_bytes(row);
      uint8_t some[kBlock] = {};
      for (int64_t c = 0; i < p.r && c < columns; ++c) some[c] = row[c];
      return detail::load_bytes(some);
    };
    const int64_t whole = end - column < kBlock ? 0 : min_of(p.r, p.x_row == 0 ? int64_t{p.r} : (end - column - kBlock) / p.x_row + 1);
    int64_t i = 0;
    for (; i + 4 <= whole; i += 4) {
      const uint8_t* const row = column + i * p.x_row;
      const IntVec rows[4] = {detail::load_bytes(row), detail::load_bytes(row + p.x_row), detail::load_bytes(row + 2 * p.x_row),
                              detail::load_bytes(row + 3 * p.x_row)};
      add(rows);
    }
    for (; i < p.r; i += 4) {
      const IntVec rows[4] = {row_at(i), row_at(i + 1), row_at(i + 2), row_at(i + 3)};
      add(rows);
    }
    Y* const out = y + o * p.y_outer + j;
    ONNXC_UNROLL for (int g = 0; g < 4; ++g) {
      const int64_t left = columns - g * Vec::width;
      if (left >= Vec::width) detail::finish_sums(epi, sums[g], o, j + g * Vec::width, out + g * Vec::width);
      else if (left > 0) detail::finish_sums(epi, sums[g], o, j + g * Vec::width, out + g * Vec::width, left);
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
