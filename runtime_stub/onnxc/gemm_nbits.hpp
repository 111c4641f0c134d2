// c[m, n] = epilogue(a[m, k] b[k, n]), where b is constant and stays packed: codes of 2, 4 or 8 bits in blocks along k that share a scale and a
// zero point, b = (code - zero) scale.
//
//   gemm_nbits<4, 4, float, uint8_t>(share, a, w, c, scratch, {.m = 1, .n = 4096, .k = 4096, .block = 32, .lda = 4096, .ldc = 4096}, Epilogue<Keep>{});
//
// Few rows wait for the weights, so these are read once and as they are. A row of a is written, for each block, as whole numbers of 16 bits times
// a step that brings the greatest of them to kMostLong. The sum over a block is then one of integers, which is exact and takes an instruction for
// four products (vec_dot.hpp):
//
//   sum of a (code - zero) scale  =  step scale (sum of numbers * codes - zero * sum of numbers)
//
// Rounding a to 16 bits is the error: at most half a step for each value, 2^-16 of the greatest value of its block. Rows that are not finite have
// no such numbers. They, and rows beyond `most_rows`, take the form of gemm_nbits_exact: some columns of b are expanded to floats in scratch
// memory, and all rows of a block are multiplied by them. Each value of c is then one chain of multiply-adds in the order of k.
//
// b packed: panels of NV vectors, each a stream of blocks (contract/nbits.hpp), zeros beyond n and k. Scales are of type S, zero points of type Z:
// bytes or floats, or NoZeros for the middle of the range. A share computes a range of panels.
#pragma once
#include "contract/nbits.hpp"
#include "tile.hpp"
#include "vec_dot.hpp"

namespace onnxc::inline ONNXC_ISA {

struct NBitsParams {
  int64_t m, n, k, block;         // block: a power of two, 16 to contract::kNBitsMostBlock
  int64_t lda = 0, ldc = 0;       // elements between rows
  int64_t most_rows = INT64_MAX;  // of a product that is computed in integers
};

/// All zero points are the middle of the range.
struct NoZeros {};

namespace detail {

template <class Z>
inline constexpr int64_t kZeroBytes = sizeof(Z);
template <>
inline constexpr int64_t kZeroBytes<NoZeros> = 0;

template <int Bits>
ONNXC_INLINE Vec load_zeros(const NoZeros*, int64_t) {
  return Vec::all(static_cast<float>(1 << (Bits - 1)));
}
template <int Bits>
ONNXC_INLINE Vec load_zeros(const float* p, int64_t j) {
  return Vec::load(p + j);
}
template <int Bits>
ONNXC_INLINE Vec load_zeros(const uint8_t* p, int64_t j) {
  return to_float(load_whole(p + j).lanes);
}

/// A panel of b.
template <int Bits, int NV, class S, class Z>
struct NBitsPanel {
  static constexpr int64_t NR = NV * Vec::width, kPerGroup = 32 / Bits;
  const uint8_t* block_at;
  int64_t block;

  ONNXC_INLINE int64_t stride() const { return contract::nbits_block_bytes(block, NR, Bits, sizeof(S), kZeroBytes<Z>); }
  ONNXC_INLINE int64_t groups() const { return block / kPerGroup; }
  ONNXC_INLINE IntVec codes(int64_t group, int64_t column) const {
    return load_whole(reinterpret_cast<const int32_t*>(block_at) + group * NR + column).lanes;
  }
  ONNXC_INLINE const uint8_t* end_of_codes() const { return block_at + contract::nbits_codes(block, NR, Bits); }
  ONNXC_INLINE Vec scales(int64_t column) const { return load(reinterpret_cast<const S*>(end_of_codes()), column); }
  ONNXC_INLINE Vec zeros(int64_t column) const {
    return load_zeros<Bits>(reinterpret_cast<const Z*>(end_of_codes() + NR * int64_t{sizeof(S)}), column);
  }
};

/// Codes 4 s to 4 s + 3 of a group, one in each byte.
template <int Bits>
ONNXC_INLINE IntVec quad_of_codes(IntVec group, int s) {
  if constexpr (Bits == 8) return group;
  else return (group >> (Bits * s)) & IntVec::all(0x01010101 * ((1 << Bits) - 1));
}

/// Where a row of a lies once it is quantised.
struct QuantisedRows {
  uint8_t* first;
  int64_t pitch, padded, blocks;
  ONNXC_INLINE QuantisedRows(void* memory, int64_t k, int64_t block)
      : first(static_cast<uint8_t*>(memory)),
        pitch(contract::nbits_row(k, block)),
        padded(contract::round_up(k, block)),
        blocks(padded / block) {}
  ONNXC_INLINE uint8_t* numbers(int64_t row) const { return first + row * pitch; }
  ONNXC_INLINE float* steps(int64_t row) const { return reinterpret_cast<float*>(numbers(row) + 2 * padded); }
  ONNXC_INLINE float* sums(int64_t row) const { return steps(row) + blocks; }
};

/// Quantises a row of k values. Returns false if one of them is not finite.
inline bool quantise_row(const float* x, int64_t k, int64_t block, const QuantisedRows& to, int64_t row) {
  uint8_t* numbers = to.numbers(row);
  float *const steps = to.steps(row), *const sums = to.sums(row);
  for (int64_t b = 0; b < to.blocks; ++b, x += block, k -= block, numbers += 2 * block) {
    const auto values = [&](int64_t i) ONNXC_INLINE_LAMBDA {
      return i + Vec::width <= k ? Vec::load(x + i) : i < k ? Vec::load(x + i, k - i) : Vec::all(0.0f);
    };
    Vec most = Vec::all(0.0f);
    for (int64_t i = 0; i < block; i += Vec::width) most = max_or_nan(abs(values(i)), most);
    const float greatest = across(most, [](Vec x0, Vec x1) { return max_or_nan(x0, x1); });
    if (!(greatest <= 0x1.fffffep127f)) return false;
    const float least_step = 0x1p-126f, exact = greatest * (1.0f / kMostLong), step = exact < least_step ? least_step : exact;
    const Vec per_step = Vec::all(1.0f / step);
    Vec sum = Vec::all(0.0f);
    for (int64_t i = 0; i < block; i += Vec::width) {
      const IntVec whole = to_int(values(i) * per_step);
      sum = sum + to_float(whole);
      store_longs(whole, numbers + 2 * i);
    }
    steps[b] = step;
    sums[b] = onnxc::sum(sum);
  }
  return true;
}

/// Prefetches what lies 4 KiB ahead of `bytes` bytes at p: hardware does not follow a stream into the next page.
template <int64_t bytes>
ONNXC_INLINE void prefetch_ahead(const void* p) {
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(p) + 4096;  // as an integer: past the end there is no pointer to form
  ONNXC_UNROLL for (int64_t line = 0; line < bytes; line += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(ahead + static_cast<std::uintptr_t>(line)), 0, 3);
}

/// R quantised rows, `row` and on, times columns [column, column + V vectors) of a panel. Rows from `last` on are row `last`.
template <int R, int V, int Bits, int NV, class S, class Z>
ONNXC_INLINE void multiply_nbits(Tile<R, V>& tile, NBitsPanel<Bits, NV, S, Z> panel, int64_t column, const QuantisedRows& a, int64_t row,
                                 int64_t last) {
  constexpr int kQuads = 8 / Bits;
  const uint8_t* numbers[R];
  const float* steps[R];
  ONNXC_UNROLL for (int r = 0; r < R; ++r) {
    const int64_t i = row + r < last ? row + r : last;
    numbers[r] = a.numbers(i);
    steps[r] = a.steps(i);
    ONNXC_UNROLL for (int j = 0; j < V; ++j) tile.acc[r][j] = Vec::all(0.0f);
  }
  const int64_t groups = panel.groups(), stride = panel.stride();
  const bool is_first = row == 0 && column == 0;  // the panel comes from beyond L2
  for (int64_t b = 0; b < a.blocks; ++b, panel.block_at += stride) {
    LongSums sums[R][V];
    for (int64_t g = 0; g < groups; ++g) {
      if (is_first) prefetch_ahead<4 * panel.NR>(reinterpret_cast<const int32_t*>(panel.block_at) + g * panel.NR);
      if constexpr (R == 1) {  // a vector of codes at a time: few of them are in registers at once
        Longs factors[kQuads];
        ONNXC_UNROLL for (int s = 0; s < kQuads; ++s) factors[s] = repeat_longs(numbers[0] + 8 * s);
        ONNXC_UNROLL for (int j = 0; j < V; ++j) {
          const IntVec codes = panel.codes(g, column + j * Vec::width);
          ONNXC_UNROLL for (int s = 0; s < kQuads; ++s) dot_longs(sums[0][j], quad_of_codes<Bits>(codes, s), factors[s]);
        }
      } else {
        IntVec codes[V];
        ONNXC_UNROLL for (int j = 0; j < V; ++j) codes[j] = panel.codes(g, column + j * Vec::width);
        ONNXC_UNROLL for (int s = 0; s < kQuads; ++s) {
          IntVec quads[V];
          ONNXC_UNROLL for (int j = 0; j < V; ++j) quads[j] = quad_of_codes<Bits>(codes[j], s);
          ONNXC_UNROLL for (int r = 0; r < R; ++r) {
            const Longs factors = repeat_longs(numbers[r] + 8 * s);
            ONNXC_UNROLL for (int j = 0; j < V; ++j) dot_longs(sums[r][j], quads[j], factors);
          }
        }
      }
      ONNXC_UNROLL for (int r = 0; r < R; ++r) numbers[r] += 8 * kQuads;
    }
    if (is_first) prefetch_ahead<panel.NR*(int64_t{sizeof(S)} + kZeroBytes<Z>)>(panel.end_of_codes());
    ONNXC_UNROLL for (int j = 0; j < V; ++j) {
      const Vec scale = panel.scales(column + j * Vec::width), zero = panel.zeros(column + j * Vec::width);
      ONNXC_UNROLL for (int r = 0; r < R; ++r) {
        const Vec whole = fnma(zero, Vec::all(steps[r][b + a.blocks]), total(sums[r][j]));
        tile.acc[r][j] = fma(whole, scale * Vec::all(steps[r][b]), tile.acc[r][j]);
      }
    }
  }
}

/// Writes rows [from, to) of V vectors of columns of a panel as floats, [to - from][V vectors]; up to a whole block more.
template <int V, int Bits, int NV, class S, class Z>
ONNXC_INLINE void expand_nbits(float* y, NBitsPanel<Bits, NV, S, Z> panel, int64_t column, int64_t from, int64_t to) {
  const int64_t groups = panel.groups(), stride = panel.stride();
  panel.block_at += from / panel.block * stride;
  for (int64_t step = from; step < to; step += panel.block, panel.block_at += stride) {
    Vec scale[V], zero[V];
    ONNXC_UNROLL for (int j = 0; j < V; ++j) {
      scale[j] = panel.scales(column + j * Vec::width);
      zero[j] = panel.zeros(column + j * Vec::width);
    }
    for (int64_t g = 0; g < groups; ++g, y += panel.kPerGroup * V * Vec::width) {
      ONNXC_UNROLL for (int j = 0; j < V; ++j) {
        const IntVec codes = panel.codes(g, column + j * Vec::width);
        ONNXC_UNROLL for (int i = 0; i < panel.kPerGroup; ++i) {
          // Bits are moved to the lowest by way of the sign's end, since shifts to the right bring in copies of the sign.
          const IntVec code = (codes >> (Bits * (i / 4) + 8 * (i % 4))) & IntVec::all((1 << Bits) - 1);
          ((to_float(code) - zero[j]) * scale[j]).store(y + (i * V + j) * Vec::width);
        }
      }
    }
  }
}

/// Rows of a tile of expanded weights: as many as keep their sums in registers.
inline constexpr int kNBitsTile = kHasLaneFma ? 8 : ONNXC_VECTOR_REGISTERS == 32 ? 14 : 6;

/// Rows [row, row + rows) of c by panels, with expanded weights.
template <int Bits, int NV, class S, class Z, class Epi>
inline void nbits_exact_block(int64_t row, int64_t rows, Share::Range panels, const float* a, const uint8_t* b, float* c, float* scratch,
                              const NBitsParams& p, TileOrder order, const Epi& epi) {
  using Panel = NBitsPanel<Bits, NV, S, Z>;
  constexpr int V = NV % 2 == 0 ? 2 : 1, kColumns = V * Vec::width;
  const int64_t bytes = Panel{b, p.block}.stride() * ((p.k + p.block - 1) / p.block);
  float *const sums = scratch, *const expanded = scratch + contract::kNBitsExactRows * kColumns;
  for (int64_t part = panels.begin * (NV / V); part < panels.end * (NV / V); ++part) {
    const Panel panel{b + part / (NV / V) * bytes, p.block};
    const int64_t col = part * kColumns;
    if (col >= p.n) break;
    for_each_slice(p.k, contract::kNBitsSteps, [&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
      expand_nbits<V>(expanded, panel, part % (NV / V) * kColumns, from, to);
      const auto product = [&]<int R>(const auto& rows_of_a, int64_t i) ONNXC_INLINE_LAMBDA {
        Tile<R, V> tile;
        const auto at = [&](int64_t r) { return sums + (i + r < rows ? i + r : rows - 1) * kColumns; };
        if (from == 0) tile.start(kZeros);
        else tile.load(at);
        tile.add(rows_of_a, to - from, static_cast<const float*>(expanded), Prefetcher(expanded));
        if (to < p.k) tile.store(at, rows - i);
        else tile.finish(c, p.ldc, col, rows - i, p.n - col, Consecutive{row + i}, epi);
      };
      for_each_tile<kNBitsTile>(a + row * p.lda + from, p.lda, rows, order, product);
    });
  }
}

/// The same in integers, for quantised rows.
template <int R, int V, int Bits, int NV, class S, class Z, class Epi>
ONNXC_INLINE void nbits_tile(const NBitsPanel<Bits, NV, S, Z>& panel, int64_t col, int64_t part, const QuantisedRows& a, int64_t i,
                             int64_t rows, int64_t row, float* c, const NBitsParams& p, const Epi& epi) {
  Tile<R, V> tile;
  multiply_nbits(tile, panel, part, a, i, rows - 1);
  tile.finish(c, p.ldc, col + part, rows - i, p.n - col - part, Consecutive{row + i}, epi);
}
template <int Bits, int NV, class S, class Z, class Epi>
inline void nbits_block(int64_t row, int64_t rows, Share::Range panels, const QuantisedRows& a, const uint8_t* b, float* c,
                        const NBitsParams& p, const Epi& epi) {
  using Panel = NBitsPanel<Bits, NV, S, Z>;
  constexpr int V = NV % 2 == 0 ? 2 : 1, kRows = 4;
  const int64_t bytes = Panel{b, p.block}.stride() * a.blocks;
  for (int64_t at = panels.begin; at < panels.end; ++at) {
    const Panel panel{b + at * bytes, p.block};
    const int64_t col = at * Panel::NR;
    if (rows == 1) {
      nbits_tile<1, NV>(panel, col, 0, a, 0, rows, row, c, p, epi);
      continue;
    }
    for (int64_t i = 0; i < rows; i += kRows) {
      for (int64_t part = 0; part < Panel::NR && col + part < p.n; part += V * Vec::width) {
        if (rows - i <= kRows / 2) nbits_tile<kRows / 2, V>(panel, col, part, a, i, rows, row, c, p, epi);
        else nbits_tile<kRows, V>(panel, col, part, a, i, rows, row, c, p, epi);
      }
    }
  }
}

}  // namespace detail

/// See the head of the file. a must not overlap c; operands of the epilogue may be c itself. scratch:
/// contract::nbits_scratch bytes of this share, 64-byte aligned.
template <int Bits, int NV, class S, class Z, class Epi = Epilogue<Keep>>
void gemm_nbits(Share share, const float* a, const uint8_t* b, float* c, uint8_t* scratch, NBitsParams p, Epi epi = {}) {
  constexpr int64_t NR = NV * Vec::width;
  const Share::Range panels = share.slice((p.n + NR - 1) / NR);
  const detail::QuantisedRows quantised(scratch, p.k, p.block);
  const int64_t most = p.m < contract::kNBitsRows ? p.m : contract::kNBitsRows;
  auto* const expanded = reinterpret_cast<float*>(scratch + contract::round_up(most * quantised.pitch, 64));
  const bool exact = p.m > p.most_rows;
  detail::for_each_block({0, p.m}, exact ? contract::kNBitsExactRows : contract::kNBitsRows, [&](int64_t row, int64_t rows) {
    bool finite = !exact;
    for (int64_t i = 0; i < rows && finite; ++i) finite = detail::quantise_row(a + (row + i) * p.lda, p.k, p.block, quantised, i);
    if (finite) detail::nbits_block<Bits, NV, S, Z>(row, rows, panels, quantised, b, c, p, epi);
    else detail::nbits_exact_block<Bits, NV, S, Z>(row, rows, panels, a, b, c, expanded, p, TileOrder{}, epi);
  });
}

/// The same without rounding a, whatever the number of rows.
template <int Bits, int NV, class S, class Z, class Epi = Epilogue<Keep>>
void gemm_nbits_exact(Share share, const float* a, const uint8_t* b, float* c, float* scratch, NBitsParams p, Epi epi = {}) {
  constexpr int64_t NR = NV * Vec::width;
  const Share::Range panels = share.slice((p.n + NR - 1) / NR);
  detail::for_each_block({0, p.m}, contract::kNBitsExactRows, [&](int64_t row, int64_t rows) {
    detail::nbits_exact_block<Bits, NV, S, Z>(row, rows, panels, a, b, c, scratch, p, TileOrder{}, epi);
  });
}

}  // namespace onnxc::inline ONNXC_ISA
