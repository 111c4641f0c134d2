// The micro-kernel under GEMM and convolution: a register tile of MR rows by NV vectors of accumulators, which stay in
// registers while k runs.
//
//   a  MR rows of k floats: evenly spaced (rows of a matrix, neighbours of an image) or anywhere (pixels, some of them a row of zeros)
//   b  one panel [k][NR], NR = NV * Vec::width columns, 64-byte aligned, columns beyond n filled with zeros; of floats, or of a narrower
//      type that is read as floats (stored.hpp); or of pairs of bfloat16, where a's words are such pairs, too (vec_bf16.hpp)
//
// Each step of k loads NV vectors of b and broadcasts MR values of a: MR + NV loads for MR * NV multiply-adds. With one
// vector a row the loads outnumber the multiply-adds and bound the loop; from two on the multiply-adds do. Evenly
// spaced rows are addressed from one pointer for every three of them, so all pointers stay in registers. Pointers to
// rows anywhere are read from memory in each step, which adds MR loads.
//
// kPairs: the last vector holds the columns of half a vector, each in two lanes. One lane sums the even steps of k, the
// other the odd ones, so a and b are read for two steps at a time. With 16 lanes, 24 columns thus take three
// multiply-adds for two steps instead of four. k must be even, and b is packed as pack::pairs does: for two steps,
// NV - 1 vectors of the first, as many of the second, and one of both.
//
// Where a multiply-add can take its factor from a lane (kHasLaneFma), Vec::width steps share one vector of each row:
// MR / Vec::width + NV loads a step.
#pragma once
#include "expr.hpp"
#include "float_tiles.hpp"
#include "prefetcher.hpp"
#include "schedule.hpp"
#include "vec_bf16.hpp"
#include "vec_halves.hpp"
#include "vfn.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Applies an epilogue at (row, col) to vector `acc` and stores the result: whole, or its first n lanes. Returns the
/// result.
template <class Epi>
ONNXC_INLINE Vec finish_vector(const Epi& epi, Vec acc, Index row, Index col, float* c) {
  const Vec result = epi(Lanes{}, acc, [&](const auto& operand) ONNXC_SMALL_LAMBDA {
    if constexpr (std::remove_cvref_t<decltype(operand)>::varies_by_col) return Vec::load(operand.at(row, col));
    else return Vec::all(*operand.at(row, col));
  });
  result.store(c);
  return result;
}
template <class Epi>
ONNXC_INLINE Vec finish_vector(const Epi& epi, Vec acc, Index row, Index col, float* c, Index n) {
  const Vec result = epi(Lanes{}, acc, [&](const auto& operand) ONNXC_SMALL_LAMBDA {
    if constexpr (std::remove_cvref_t<decltype(operand)>::varies_by_col) return Vec::load(operand.at(row, col), n);
    else return Vec::all(*operand.at(row, col));
  });
  result.store(c, n);
  return result;
}
/// The same for the first `left` lanes. `left` may be more than a vector has, or 0 or less, which stores nothing.
template <class Epi>
ONNXC_INLINE void finish_lanes(const Epi& epi, Vec acc, Index row, Index col, float* c, Index left) {
  if (left >= Vec::width) finish_vector(epi, acc, row, col, c);
  else if (Vec::width > 1 && left > 0) finish_vector(epi, acc, row, col, c, left);
}
/// The same for n floats at `acc`, any n.
template <class Epi>
ONNXC_INLINE void finish_row(const Epi& epi, const float* acc, Index row, Index col, float* c, Index n) {
  const auto count = static_cast<std::ptrdiff_t>(n);
  std::ptrdiff_t j = 0;
  for (; j + Vec::width <= count; j += Vec::width) finish_vector(epi, Vec::load(acc + j), row, col + j, c + j);
  if (Vec::width > 1 && j < count) finish_vector(epi, Vec::load(acc + j, n - j), row, col + j, c + j, n - j);
}

/// The bias of a layer that has none, and what a pixel outside of the image points to.
inline constexpr Index kZeroFloats = ONNXC_MICRO ? 64 : 1024;
alignas(ONNXC_MICRO ? 16 : 64) inline constexpr float kZeros[kZeroFloats] = {};

/// What fma takes for a value of a, beside a vector of b.
ONNXC_INLINE auto factor(float x, Vec) { return factor(x); }

/// Rows of k floats, `pitch` floats from one to the next.
struct EvenRows {
  const float* first;
  Extent pitch;
};

/// Rows of an output that follow each other.
struct Consecutive {
  Index first;
  ONNXC_INLINE explicit Consecutive(int64_t row) : first(static_cast<Index>(row)) {}
  ONNXC_INLINE Index operator()(Index i) const { return first + i; }
};

namespace detail {

/// product.operator()<R>(rows of a, i) for each register tile; surplus rows of the last tile repeat the last row. On small cores all
/// tiles are whole and their rows anywhere, so that the code has one loop.
template <int MR, class Product>
ONNXC_INLINE void for_each_tile(const float* a, Index lda, Index rows, TileOrder order, const Product& product) {
  for_each_tile<MR, !ONNXC_MICRO>(rows, order, [&]<int R>(Index i) ONNXC_INLINE_LAMBDA {
    constexpr bool kHigh = R == MR && !ONNXC_MICRO;
    constexpr int kFewPointers = 6;  // which stay in registers, so that a low tile needs no code of its own for even rows
    if constexpr (kHigh || (R > kFewPointers && !ONNXC_MICRO)) {
      if (kHigh || i + R <= rows) return product.template operator()<R>(EvenRows{a + i * lda, lda}, i);
    }
    if constexpr (!kHigh) {
      const float* anywhere[R];
      const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(lda);
      const float *row = a + i * pitch, *const last = a + (rows - 1) * pitch;
      for (int r = 0; r < R; ++r, row += pitch) anywhere[r] = i + r < rows ? row : last;
      product.template operator()<R>(static_cast<const float* const*>(anywhere), i);
    }
  });
}

}  // namespace detail

template <int MR, int NV, bool kPairs = false>
struct Tile {
  static constexpr int kLast = kPairs ? Vec::width / 2 : Vec::width,
                       NR = (NV - 1) * Vec::width + kLast;  // columns of the last vector, and of all
  static_assert(!kPairs || Vec::width >= 2);
  static constexpr bool kInMemory = detail::kFloatTiles && MR == 4 && NV == 4;  // sums are passed in memory, see float_tiles.hpp
  Vec acc[MR][NV];

  /// bias: NR values; kZeros where there is none.
  ONNXC_INLINE void start(const float* bias) {
    bias = opaque(bias);
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      const Vec first = kPairs && j == NV - 1 ? spread(Vec::load(bias + j * Vec::width, kLast)) : Vec::load(bias + j * Vec::width);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][j] = first;
    }
  }

  /// Loads and stores the accumulators: row i of the tile lies at at(i). Only the first m rows are stored. Not for
  /// pairs.
  template <class At>
  ONNXC_INLINE void load(At at) {
    static_assert(!kPairs);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      const float* const row = at(i);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = Vec::load(row + j * Vec::width);
    }
  }
  template <class At>
  ONNXC_INLINE void store(At at, Index m) const {
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      if (i >= m) break;
      float* const row = at(i);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j].store(row + j * Vec::width);
    }
  }

  /// Adds the row at at(i) to row i of the tile.
  template <class At>
  ONNXC_INLINE void plus(At at) {
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      const float* const row = at(i);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = acc[i][j] + Vec::load(row + j * Vec::width);
    }
  }

  /// start(bias) and add(rows, k, b, ahead).
  template <class Row, class Fetch>
  ONNXC_INLINE void multiply(const float* bias, const float* const* rows, Index k, Row b, Fetch ahead) {
    if constexpr (kInMemory && std::is_same_v<Row, const float*>) {
      if (k > 0) return detail::multiply_4x4(sums(), bias, 0, rows, b, static_cast<int>(k));
    }
    start(bias);
    add(rows, k, b, ahead);
  }

  /// acc[i][:] += rows[i][0..k) times b. `stride`: elements from one row of b to the next, where b is not a panel.
  template <class Row, class Fetch>
  ONNXC_INLINE void add(const float* const* rows, Index k, Row b, Fetch ahead, Index stride = NR) {
    if constexpr (kInMemory && std::is_same_v<Row, const float*>) {
      if (stride == NR && k > 0) return detail::multiply_4x4(sums(), *sums(), NR, rows, b, static_cast<int>(k));
    }
    Index step = 0;
    if constexpr (kPairs) {
      for (; step < k; step += 2, b += 2 * NR) {
        if (MR > 6) rows = opaque(rows);
        multiply_pairs(b, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return rows[i] + step; });
      }
    } else {
      if constexpr (kByLanes) {
        for (; step + Vec::width <= k; step += Vec::width, b += Vec::width * stride, ahead.pass(Vec::width)) {
          if (MR > 6) rows = opaque(rows);  // so many pointers do not fit into registers: reading them is better than spilling
          multiply_lanes(b, stride, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return rows[i] + step; });
        }
      }
      for (Index left = kByLanes ? k % Vec::width : k; left > 0;
           --left, ++step, b += stride, ahead.pass()) {  // counted: GCC 12 warns of `step < k`
        if (MR > 6) rows = opaque(rows);
        multiply(b, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return rows[i][step]; });
      }
    }
  }
  template <class Row, class Fetch>
  ONNXC_INLINE void add(EvenRows rows, Index k, Row b, Fetch ahead, Index stride = NR) {
    if constexpr (kInMemory) {
      const float* anywhere[MR];
      for (int i = 0; i < MR; ++i) anywhere[i] = rows.first + i * rows.pitch;
      return add(static_cast<const float* const*>(anywhere), k, b, ahead, stride);
    }
    const float* third[(MR + 2) / 3];
    ONNXC_UNROLL for (int g = 0; g < (MR + 2) / 3; ++g) third[g] = rows.first + 3 * g * rows.pitch;
    if constexpr (kPairs) {
      for (Index left = k; left > 0; left -= 2, b += 2 * NR) {
        ONNXC_UNROLL for (const float*& row : third) row = opaque(row);
        multiply_pairs(b, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return third[i / 3] + i % 3 * rows.pitch; });
        ONNXC_UNROLL for (const float*& row : third) row += 2;
      }
    } else {
      if constexpr (kByLanes) {
        for (Index step = 0; step + Vec::width <= k; step += Vec::width, b += Vec::width * stride, ahead.pass(Vec::width)) {
          ONNXC_UNROLL for (const float*& row : third) row = opaque(row);
          multiply_lanes(b, stride, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return third[i / 3] + i % 3 * rows.pitch; });
          ONNXC_UNROLL for (const float*& row : third) row += Vec::width;
        }
      }
      Index left = kByLanes ? k % Vec::width : k;
      // With one vector a row, the loop's counter and branch would take as long as its multiply-adds.
      if constexpr (constexpr int kSteps = 4; NV == 1 && MR > 6 && !kByLanes) {
        for (; left >= kSteps; left -= kSteps) {
          ONNXC_UNROLL for (const float*& row : third) row = opaque(row);
          ONNXC_UNROLL for (int s = 0; s < kSteps; ++s, b += stride, ahead.pass())
              multiply(b, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return third[i / 3][i % 3 * rows.pitch + s]; });
          ONNXC_UNROLL for (const float*& row : third) row += kSteps;
        }
      }
      for (; left > 0; --left, b += stride, ahead.pass()) {
        ONNXC_UNROLL for (const float*& row : third) row = opaque(row);
        multiply(b, ahead, [&](int i) ONNXC_SMALL_LAMBDA { return third[i / 3][i % 3 * rows.pitch]; });
        ONNXC_UNROLL for (const float*& row : third)++ row;
      }
    }
  }

  /// Applies the epilogue to the first m rows and n columns and stores them. Row i of the tile is row `row_of(i)` of
  /// the output and begins at c + row * ldc + col. Nothing else is written.
  template <class RowOf, class Epi>
  ONNXC_INLINE void finish(float* c, Index ldc, Index col, Index m, Index n, RowOf row_of, const Epi& epi) {
    if constexpr (kPairs && NV == 1 && std::is_same_v<RowOf, Consecutive> && std::is_empty_v<Epi>) {
      if (m >= MR - 1 && n >= NR && ldc == NR) {  // two rows make one vector of c, and no operand tells them apart
        ONNXC_UNROLL for (int i = 0; i < MR; i += 2) {
          const Vec a = acc[i][0], b = acc[i + 1 < MR ? i + 1 : i][0];
          const Index row = row_of(i), floats = (m - i < MR - i ? m - i : MR - i) * NR;
          finish_lanes(epi, evens(a, b) + odds(a, b), row, col, c + row * ldc + col, floats);
        }
        return;
      }
    }
    if constexpr (kPairs) {
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][NV - 1] = sum_pairs(acc[i][NV - 1]);
    }
    if constexpr (kInMemory) {
      const int rows = m < MR ? static_cast<int>(m) : MR, columns = n < NR ? static_cast<int>(n) : NR;
      for (int i = 0; i < rows; ++i) {
        const Index row = row_of(i);
        float* const to = c + row * ldc + col;
        if (columns == NR && !ONNXC_LEAST_CODE) {
          ONNXC_UNROLL for (int j = 0; j < NV; ++j) finish_vector(epi, acc[i][j], row, col + j, to + j);
        } else {
          for (int j = 0; j < columns; ++j) finish_vector(epi, acc[i][j], row, col + j, to + j);
        }
      }
      return;
    }
    constexpr bool kInLoops = ONNXC_MICRO && ONNXC_LEAST_CODE;  // the epilogue's code once, for whatever there is of the tile
    if (!kInLoops && m >= MR && n >= NR) {
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
        const Index row = row_of(i);
        ONNXC_UNROLL for (int j = 0; j < NV - kPairs; ++j)
            finish_vector(epi, acc[i][j], row, col + j * Vec::width, c + row * ldc + col + j * Vec::width);
        if constexpr (kPairs) finish_vector(epi, acc[i][NV - 1], row, col + NR - kLast, c + row * ldc + col + NR - kLast, kLast);
      }
      return;
    }
    if (!kInLoops && NV <= 2 &&
        m >= MR) {  // layers of few channels often fill their panels in part; wider tiles would gain too little for the code
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
        const Index row = row_of(i);
        ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
          const Index lanes = n - j * Vec::width, most = j < NV - 1 ? Vec::width : kLast;
          if (lanes > 0)
            finish_vector(epi, acc[i][j], row, col + j * Vec::width, c + row * ldc + col + j * Vec::width, lanes < most ? lanes : most);
        }
      }
      return;
    }
    alignas(
        kInLoops
            ? 16
            : 64) float memory[MR][NV * Vec::width];  // an index that is not constant would push the accumulators out of their registers
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) { ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j].store(&memory[i][j * Vec::width]); }
    const Index columns = n < NR ? n : NR;
    for (int i = 0; i < MR && i < m; ++i) finish_row(epi, memory[i], row_of(i), col, c + row_of(i) * ldc + col, columns);
  }

 private:
  ONNXC_INLINE float (*sums())[4] { return reinterpret_cast<float(*)[4]>(acc); }

  static constexpr bool kByLanes = kHasLaneFma && Vec::width == 4;

  /// Four steps of k; the four values of row i lie at a(i).
  template <class Row, class Fetch, class Address>
  ONNXC_INLINE void multiply_lanes(Row b, Index stride, const Fetch& ahead, Address a) {
    Vec rows[MR];
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) rows[i] = Vec::load(a(i));
    multiply_lane<0>(rows, b, ahead);
    multiply_lane<1>(rows, b + stride, ahead);
    multiply_lane<2>(rows, b + 2 * stride, ahead);
    multiply_lane<3>(rows, b + 3 * stride, ahead);
  }
  template <int lane, class Row, class Fetch>
  ONNXC_INLINE void multiply_lane(const Vec (&a)[MR], Row b, const Fetch& ahead) {
    ahead.fetch(lane);
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      const Vec w = onnxc::load(b, j * Vec::width);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][j] = fma_lane<lane>(a[i], w, acc[i][j]);
    }
  }

  /// Two steps of k; the two values of row i lie at a(i).
  template <class Row, class Fetch, class Address>
  ONNXC_INLINE void multiply_pairs(Row b, Fetch& ahead, Address a) {
    constexpr int kWhole = NV - 1;
    ONNXC_UNROLL for (int step = 0; step < 2; ++step) {
      Vec w[NV];
      ONNXC_UNROLL for (int j = 0; j < kWhole; ++j) {
        w[j] = onnxc::load(b, (step * kWhole + j) * Vec::width, j * Vec::width);
        if (MR < 8 && MR > 1) pin(w[j]);
      }
      ahead.fetch();
      ahead.pass();
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
        if (kWhole == 0) continue;
        Vec value = Vec::all(a(i)[step]);
        if (kWhole > 1) pin(value);
        ONNXC_UNROLL for (int j = 0; j < kWhole; ++j) acc[i][j] = fma(value, w[j], acc[i][j]);
      }
    }
    const Vec both = load_pairs(b, 2 * kWhole * Vec::width, kWhole * Vec::width);
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][kWhole] = fma(pairs(a(i)), both, acc[i][kWhole]);
  }

  /// One step of k; a(i) is the value of row i.
  template <class Row, class Fetch, class Value>
  ONNXC_INLINE void multiply(Row b, const Fetch& ahead, Value a) {
    // 7x3 with 32 registers: `hold` wants the row of b in registers at each value of a. Otherwise g++ 12 may spill it
    // to the stack in favour of pointers, which halves the speed. 6x4 would lose by it, and `pin` in its place may
    // store the row each time.
    constexpr bool kHeld = NV == 3 && MR * NV > 16 && MR < 8;
    decltype(onnxc::load(b, 0)) w[NV];
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      w[j] = onnxc::load(b, j * Vec::width);
      if (MR < 8 && MR > 1) pin(w[j]);
    }
    ahead.fetch();
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      auto value = factor(a(i), w[0]);
      if constexpr (NV > 2 && std::is_same_v<decltype(value), Vec>) pin(value);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
        if (kHeld) hold(w[j]);
        acc[i][j] = fma(value, w[j], acc[i][j]);
      }
    }
  }
};

}  // namespace onnxc
