// Reductions of f32 along the last axis, or along the middle one of [outer, r, inner].
//
//   onnxc::gpu::reduce_last<scalar::Sum, scalar::Square>(gpu, x, y, {.outer = 64, .r = 196, .x_row = 196}, Epilogue<E0>{});
//   onnxc::gpu::reduce_middle<scalar::Sum, scalar::Same>(gpu, x, y, {.outer = 1, .r = 49, .inner = 512, .x_row = 512, .x_outer = ..., .y_outer = 512}, ...);
//
// What is combined, and what is done to each value before, is that of scalar/reduce.hpp, in f32: each thread combines every
// so manieth value in blocks of 64, then the blocks, then threads are combined in pairs. Any r, 0 included. The epilogue
// sees the results as [1, outer], or as [outer, inner].
#pragma once
#include "combine.hpp"
#include "finish.hpp"
#include "index.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Strides in elements. x_row: between rows of the last axis; between the r values of the middle one. x_outer, y_outer:
/// between outer positions; reduce_last writes y without gaps.
struct ReduceParams {
  int64_t outer = 1, r, inner = 1;
  int64_t x_row;
  int64_t x_outer = 0;
  int64_t y_outer = 0;
};

namespace detail {

/// Prologue(x[i * stride]) for i = first, first + step, ... below r, combined.
template <class Combine, class Prologue>
ONNXC_DEVICE float combine_every(const float* x, int64_t first, int64_t step, int64_t r, int64_t stride) {
  constexpr int kBlock = 64;
  float all = Combine::template start<float>;
  for (int64_t i = first; i < r;) {
    float block = Combine::template start<float>;
    for (int k = 0; k < kBlock && i < r; ++k, i += step) block = Combine::combine(block, Prologue::apply(x[i * stride]));
    all = Combine::combine(all, block);
  }
  return all;
}
}  // namespace detail

/// A row is combined by kLanes neighbouring threads: a warp, or a block.
template <class Combine, class Prologue, int kLanes, class Epi>
struct ReduceLast {
  static constexpr int kThreads = 256, kRows = kThreads / kLanes;
  struct Shared {
    float partial[kThreads / 32];
  };
  const float* x;
  float* y;
  ReduceParams p;
  Epi epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const detail::Combined<Combine> combine;
    constexpr float kStart = Combine::template start<float>;
    // All threads of a block take as many turns, since they wait for each other.
    for (int64_t first = int64_t{block().x} * kRows; first < p.outer; first += int64_t{blocks().x} * kRows) {
      const int64_t row = first + thread() / kLanes;
      float v = row < p.outer ? detail::combine_every<Combine, Prologue>(x + row * p.x_row, thread() % kLanes, kLanes, p.r, 1) : kStart;
      if constexpr (kLanes == 32) v = reduce_warp(v, combine);
      else v = reduce_block<kThreads>(v, kStart, shared.partial, combine);
      if (thread() % kLanes == 0 && row < p.outer) y[row] = detail::finished(epilogue, v, 0, row);
    }
  }
};

/// A block has 32 columns, and 8 threads for each, which combine every 8th value.
template <class Combine, class Prologue, class Epi>
struct ReduceMiddle {
  static constexpr int kColumns = 32, kLines = 8, kThreads = kColumns * kLines;
  struct Shared {
    float partial[kLines][kColumns];
  };
  const float* x;
  float* y;
  ReduceParams p;
  Epi epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int64_t groups = ceil_div(p.inner, int64_t{kColumns}), tiles = groups * p.outer;
    for (int64_t tile = block().x; tile < tiles; tile += blocks().x) {
      const int64_t row = tile / groups, column = tile % groups * kColumns + lane();
      shared.partial[warp()][lane()] =
          column < p.inner ? detail::combine_every<Combine, Prologue>(x + row * p.x_outer + column, warp(), kLines, p.r, p.x_row) : 0.0f;
      sync_block();
      for (int half = kLines / 2; half > 0; half /= 2) {
        if (warp() < half)
          shared.partial[warp()][lane()] = Combine::combine(shared.partial[warp()][lane()], shared.partial[warp() + half][lane()]);
        sync_block();
      }
      // The next tile's values may come at once: this line is its own thread's, and all others were read before the last barrier.
      if (warp() == 0 && column < p.inner) y[row * p.y_outer + column] = detail::finished(epilogue, shared.partial[0][lane()], row, column);
    }
  }
};

template <class Combine, class Prologue, class Epi = Epilogue<Keep>>
static void reduce_last(Queue& gpu, const float* x, float* y, ReduceParams p, Epi epilogue = {}) noexcept {
  constexpr int64_t kShort = 1024;
  if (p.outer <= 0) return;
  if (p.r <= kShort) {
    using Kernel = ReduceLast<Combine, Prologue, 32, Epi>;
    launch(gpu, Kernel{x, y, p, epilogue}, grid_for(p.outer, Kernel::kRows));
  } else {
    launch(gpu, ReduceLast<Combine, Prologue, 256, Epi>{x, y, p, epilogue}, grid_for(p.outer, 1));
  }
}
template <class Combine, class Prologue, class Epi = Epilogue<Keep>>
static void reduce_middle(Queue& gpu, const float* x, float* y, ReduceParams p, Epi epilogue = {}) noexcept {
  using Kernel = ReduceMiddle<Combine, Prologue, Epi>;
  const int64_t tiles = p.outer * ceil_div(p.inner, int64_t{Kernel::kColumns});
  if (tiles <= 0) return;
  launch(gpu, Kernel{x, y, p, epilogue}, grid_for(tiles, 1));
}

}  // namespace onnxc::gpu
