// The register tile under GEMM and convolution: MR rows times NV vectors of accumulators that stay in registers while k runs.
//
//   a  MR pointers to rows of k floats, anywhere: rows of a matrix, pixels of an image, a row of zeros for a pixel outside
//   b  one panel [k][NR], NR = NV * Vec::width columns, 64-byte aligned, columns beyond n filled with zeros
//
// Each step of k loads NV vectors of b and broadcasts MR values of a: (MR + NV) loads for MR * NV multiply-adds. The row pointers are read
// from memory in each step, which costs as much as nothing from NV = 2 on (14x32: within 2 % of strided rows, Sapphire Rapids, 2026-11)
// and lets one tile serve every addressing.
//
// Where a multiply-add can take its factor from a lane (kHasLaneFma), Vec::width steps share one vector of each row: MR / Vec::width + NV loads a step.
#pragma once
#include "expr.hpp"
#include "vfn.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Applies an epilogue at (row, col) to vector `acc` and stores it: whole, or its first n lanes.
template <class Epi>
ONNXC_INLINE void finish_vector(const Epi& epi, Vec acc, int64_t row, int64_t col, float* c) {
  epi(Lanes{}, acc, [&](const auto& operand) {
    if constexpr (std::remove_cvref_t<decltype(operand)>::varies_by_col) return Vec::load(operand.at(row, col));
    else return Vec::all(*operand.at(row, col));
  }).store(c);
}
template <class Epi>
ONNXC_INLINE void finish_vector(const Epi& epi, Vec acc, int64_t row, int64_t col, float* c, int64_t n) {
  epi(Lanes{}, acc, [&](const auto& operand) {
    if constexpr (std::remove_cvref_t<decltype(operand)>::varies_by_col) return Vec::load(operand.at(row, col), n);
    else return Vec::all(*operand.at(row, col));
  }).store(c, n);
}
/// The same for n floats at `acc`, any n.
template <class Epi>
ONNXC_INLINE void finish_row(const Epi& epi, const float* acc, int64_t row, int64_t col, float* c, int64_t n) {
  int64_t j = 0;
  for (; j + Vec::width <= n; j += Vec::width) finish_vector(epi, Vec::load(acc + j), row, col + j, c + j);
  if (j < n) finish_vector(epi, Vec::load(acc + j, n - j), row, col + j, c + j, n - j);
}

/// Hides where a pointer came from, so that loads through it are not hoisted out of a loop.
template <class T>
ONNXC_INLINE T* opaque(T* p) {
  asm("" : "+r"(p));
  return p;
}

/// The bias of a layer without one, and what a pixel outside of an image points to.
alignas(64) inline constexpr float kZeros[1024] = {};

template <int MR, int NV>
struct Tile {
  static constexpr int NR = NV * Vec::width;
  Vec acc[MR][NV];

  /// bias: NR values; kZeros where there is none.
  ONNXC_INLINE void start(const float* bias) {
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      const Vec first = Vec::load(bias + j * Vec::width);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][j] = first;
    }
  }

  /// acc[i][:] += rows[i][0..k) times b. One line from `next` on is prefetched in each step: the panel that comes after this one.
  /// `stride`: floats between the rows of b, where b is not a panel.
  ONNXC_INLINE void add(const float* const* rows, int64_t k, const float* b, const float* next, int64_t stride = NR) {
    int64_t step = 0;
    if constexpr (kHasLaneFma && Vec::width == 4) {
      for (; step + Vec::width <= k; step += Vec::width) {
        if (MR > 6) rows = opaque(rows);
        Vec a[MR];
        ONNXC_UNROLL for (int i = 0; i < MR; ++i) a[i] = Vec::load(rows[i] + step);
        add_lane<0>(a, b, next);
        add_lane<1>(a, b + stride, next + 16);
        add_lane<2>(a, b + 2 * stride, next + 32);
        add_lane<3>(a, b + 3 * stride, next + 48);
        b += 4 * stride;
        next += 64;
      }
    }
    for (; step < k; ++step) {
      if (MR > 6) rows = opaque(rows);  // more pointers than this do not stay in registers: better loaded than moved about
      Vec w[NV];
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
        w[j] = Vec::load(b + j * Vec::width);
        if (MR < 8 && MR > 1) pin(w[j]);
      }
      __builtin_prefetch(next, 0, 2);
      next += 16;
      b += stride;
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
        Vec a = Vec::all(rows[i][step]);
        if (NV > 2) pin(a);
        ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = fma(a, w[j], acc[i][j]);
      }
    }
  }

  /// acc[i][:] += a[i][lane] * b[0..NR).
  template <int lane>
  ONNXC_INLINE void add_lane(const Vec (&a)[MR], const float* b, const float* next) {
    __builtin_prefetch(next, 0, 2);
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      const Vec w = Vec::load(b + j * Vec::width);
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) acc[i][j] = fma_lane<lane>(a[i], w, acc[i][j]);
    }
  }

  /// Epilogue and store of the first m rows and n columns. Row i of the tile is row `row_of(i)` of the output, which starts at
  /// c + row * ldc + col; nothing else is written.
  template <class RowOf, class Epi>
  ONNXC_INLINE void finish(float* c, int64_t ldc, int64_t col, int64_t m, int64_t n, RowOf row_of, const Epi& epi) {
    if (m >= MR && n >= NR) {
      ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
        const int64_t row = row_of(i);
        ONNXC_UNROLL for (int j = 0; j < NV; ++j) finish_vector(epi, acc[i][j], row, col + j * Vec::width, c + row * ldc + col + j * Vec::width);
      }
      return;
    }
    alignas(64) float memory[MR][NR];  // an index that is not constant would push the accumulators out of their registers
    ONNXC_UNROLL for (int i = 0; i < MR; ++i) {
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[i][j].store(&memory[i][j * Vec::width]);
    }
    const int64_t columns = n < NR ? n : NR;
    for (int i = 0; i < MR && i < m; ++i) finish_row(epi, memory[i], row_of(i), col, c + row_of(i) * ldc + col, columns);
  }
};

}  // namespace onnxc
