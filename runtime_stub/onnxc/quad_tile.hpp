// The micro-kernel under products of bytes: a register tile of MR rows by NV vectors of 32-bit sums. It is Tile (tile.hpp) with a quad of bytes,
// four steps of k, in the place of a float:
//
//   a  MR rows of k quads of unsigned bytes, evenly spaced or anywhere
//   b  one panel [k][NR] of quads of signed bytes, 64-byte aligned, zeros beyond n
//
// Sums begin at `start`, where what zero points add is folded in, and wrap if they exceed 32 bits, which planners exclude. Epilogues see
// them as integers, and give elements of the type of c.
#pragma once
#include "finish_sums.hpp"
#include "schedule.hpp"
#include "vec_dot.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Rows of k quads, `pitch` bytes from one to the next.
struct EvenQuads {
  const Quad* first;
  int64_t pitch;

  ONNXC_INLINE const Quad* from(const Quad* row, int64_t rows) const {
    return reinterpret_cast<const Quad*>(reinterpret_cast<const uint8_t*>(row) + rows * pitch);
  }
};

/// How far ahead weights are prefetched: the panels of deep layers, which take half of the time of f32 ones for as many bytes.
inline constexpr std::uintptr_t kQuadsAhead = 256 << 10;

/// The weights in use lie in a cache, and those after them come later.
struct NothingAhead {
  ONNXC_INLINE void fetch(int64_t = 0) const {}
  ONNXC_INLINE void pass(int64_t = 1) const {}
};

template <int MR, int NV>
struct QuadTile {
  static constexpr int NR = NV * Vec::width;
  IntVec acc[MR][NV];
  [[no_unique_address]] DotOffsets<NV> offsets;  ///< of the sums in each vector of columns

  /// start: n values, of which the tile takes up to NR; or null, for zeros.
  ONNXC_INLINE void start(const int32_t* start, int64_t n) {
    const bool whole = start != nullptr && n >= NR;
    start = opaque(start);
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      const int64_t left = start == nullptr ? 0 : min_of(max_of(n - j * Vec::width, int64_t{0}), int64_t{Vec::width});
      const IntVec first = whole      ? load_whole(start + j * Vec::width).lanes
                           : left > 0 ? load_whole(start + j * Vec::width, left).lanes
                                      : IntVec::all(0);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][j] = first;
    }
  }

  /// acc[i][:] += rows[i][0..k) times b. ahead: a Prefetcher, for weights that come from beyond L2.
  template <class Ahead = NothingAhead>
  ONNXC_INLINE void add(const Quad* const* rows, int64_t k, const Quad* b, Ahead&& ahead = {}) {
    for (int64_t step = 0; step < k; ++step, b += NR) {
      ahead.fetch(step);
      multiply(b, [&](int i) { return repeat(rows[i] + step); });
    }
    ahead.pass(k);
  }
  template <class Ahead = NothingAhead>
  ONNXC_INLINE void add(EvenQuads rows, int64_t k, const Quad* b, Ahead&& ahead = {}) {
    const Quad* third[(MR + 2) / 3];
    ONNXC_UNROLL for (int g = 0; g < (MR + 2) / 3; ++g) third[g] = rows.from(rows.first, 3 * g);
    for (; k > 0; --k, b += NR) {
      ahead.fetch();
      ahead.pass();
      ONNXC_UNROLL for (const Quad*& row : third) row = opaque(row);
      multiply(b, [&](int i) { return repeat(rows.from(third[i / 3], i % 3)); });
      ONNXC_UNROLL for (const Quad*& row : third)++ row;
    }
  }
  /// One step, of which rows have the first n bytes.
  template <class RowAt>
  ONNXC_INLINE void add_part(RowAt row_at, int64_t n, const Quad* b) {
    multiply(b, [&](int i) { return repeat(row_at(i), n); });
  }

  /// Applies the epilogue to the first m rows and n columns and stores them. Row i of the tile is row `row_of(i)` of the output and begins
  /// at c + row * ldc + col. Nothing else is written.
  template <class Y, class RowOf, class Epi>
  ONNXC_INLINE void finish(Y* c, int64_t ldc, int64_t col, int64_t m, int64_t n, RowOf row_of, const Epi& epi) {
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) { ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = offsets.without(j, acc[i][j]); }
    if (m >= MR && n >= NR) {
      using Result = decltype(detail::finished(epi, acc[0][0], 0, 0));
      constexpr int kFours = kStoresFour<Result> ? MR * NV / 4 * 4 : 0;
      if constexpr (kFours > 0) {
        ONNXC_UNROLL for (int v = 0; v < kFours; v += 4) {
          Result results[4];
          Y* to[4];
          ONNXC_UNROLL for (int u = v; u < v + 4; ++u) {
            const int64_t row = row_of(u / NV), at = col + u % NV * Vec::width;
            results[u - v] = detail::finished(epi, acc[u / NV][u % NV], row, at);
            to[u - v] = c + row * ldc + at;
          }
          store_four<NV % 4 == 0 ? 4 : NV % 2 == 0 ? 2 : 1>(results, to);
        }
      }
      ONNXC_UNROLL for (int v = kFours; v < MR * NV; ++v) {
        const int64_t row = row_of(v / NV), at = col + v % NV * Vec::width;
        detail::finish_sums(epi, acc[v / NV][v % NV], row, at, c + row * ldc + at);
      }
      return;
    }
    alignas(64) int32_t memory[MR][NR];  // an index that is not constant would push the sums out of their registers
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) onnxc::store(Whole<int32_t>{acc[i][j]}, &memory[i][j * Vec::width]);
    }
    const int64_t columns = n < NR ? n : NR;
    for (int i = 0; i < MR && i < m; ++i) {
      Y* const to = c + row_of(i) * ldc + col;
      for (int64_t j = 0; j < columns; j += Vec::width) {
        const IntVec sums = load_whole(memory[i] + j).lanes;
        if (j + Vec::width <= columns) detail::finish_sums(epi, sums, row_of(i), col + j, to + j);
        else detail::finish_sums(epi, sums, row_of(i), col + j, to + j, columns - j);
      }
    }
  }

 private:
  template <class Value>
  ONNXC_INLINE void multiply(const Quad* b, Value a) {
    IntVec w[NV];
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) w[j] = load_whole(reinterpret_cast<const int32_t*>(b) + j * Vec::width).lanes;
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) offsets.add(j, w[j]);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      const IntVec value = offset(a(i));
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = dot_offset(acc[i][j], value, w[j]);
    }
  }
};

}  // namespace onnxc::inline ONNXC_ISA
