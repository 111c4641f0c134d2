// Sums of unsigned bytes, exact in 32 bits: what averages of quantised values are made of.
//
//   onnxc::gpu::sum_bytes_last(gpu, x, y, {.outer = 64, .r = 49, .x_row = 49}, Epilogue<Requantise>{});
//   onnxc::gpu::sum_bytes_middle(gpu, x, y, {.outer = 1, .r = 49, .inner = 1280, .x_row = 1280, .x_outer = 62720, .y_outer = 1280}, Epilogue<Requantise>{});
//
// Axes and epilogues are those of reduce_last and reduce_middle (reduce.hpp), but an epilogue gets integers and may give any type. r is below
// 2^23, so that no sum overflows. Bytes are read four at a time: those of a row between its first and its last whole word, and of the
// middle axis four columns where these begin at words.
#pragma once
#include "reduce.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// The bytes of a word in two words of 16 bits each: bytes 0 and 2, and bytes 1 and 3. 257 of either can be added up.
struct BytePairs {
  static constexpr int kMost = 257;
  uint32_t even = 0, odd = 0;

  ONNXC_DEVICE void add(uint32_t word) {
    even += word & 0x00ff00ff;
    odd += word >> 8 & 0x00ff00ff;
  }
  ONNXC_DEVICE int32_t total() const { return static_cast<int32_t>((even & 0xffff) + (even >> 16) + (odd & 0xffff) + (odd >> 16)); }
};

/// For reduce_warp and reduce_block.
struct AddedIntegers {
  ONNXC_DEVICE int32_t operator()(int32_t a, int32_t b) const { return a + b; }
};

}  // namespace detail

/// A row is summed by kLanes neighbouring threads: a warp, or a block.
template <int kLanes, class Y, class Epi>
struct SumBytesLast {
  static constexpr int kThreads = 256, kRows = kThreads / kLanes;
  struct Shared {
    int32_t partial[kThreads / 32];
  };
  const uint8_t* x;
  Y* y;
  ReduceParams p;
  Epi epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    // All threads of a block take as many turns, since they wait for each other.
    for (int64_t first = int64_t{block().x} * kRows; first < p.outer; first += int64_t{blocks().x} * kRows) {
      const int64_t row = first + thread() / kLanes;
      int32_t v = row < p.outer ? sum(x + row * p.x_row) : 0;
      if constexpr (kLanes == 32) v = reduce_warp(v, detail::AddedIntegers{});
      else v = reduce_block<kThreads>(v, 0, shared.partial, detail::AddedIntegers{});
      if (thread() % kLanes == 0 && row < p.outer) y[row] = static_cast<Y>(detail::finished(epilogue, v, 0, row));
    }
  }

 private:
  /// This thread's part of a row.
  ONNXC_DEVICE int32_t sum(const uint8_t* row) const {
    const int mine = thread() % kLanes, off = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % 4);
    const int64_t before = min_of((4 - off) % 4, p.r), words = (p.r - before) / 4, after = before + words * 4;
    int32_t all = 0;
    if (mine < before) all += row[mine];
    if (mine < p.r - after) all += row[after + mine];
    const auto* const from = reinterpret_cast<const uint32_t*>(row + before);
    for (int64_t i = mine; i < words;) {
      detail::BytePairs some;
      for (int k = 0; k < detail::BytePairs::kMost && i < words; ++k, i += kLanes) some.add(from[i]);
      all += some.total();
    }
    return all;
  }
};

/// A block has 32 groups of kBytes columns, and 8 threads for each, which add up every 8th row.
template <int kBytes, class Y, class Epi>
struct SumBytesMiddle {
  static_assert(kBytes == 1 || kBytes == 4);
  static constexpr int kLines = 8, kThreads = 32 * kLines, kColumns = 32 * kBytes;
  struct Shared {
    int32_t partial[kLines][kBytes][32];
  };
  const uint8_t* x;
  Y* y;
  ReduceParams p;
  int64_t tiles;
  FastDivide groups;
  Epi epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    for (int64_t tile = block().x; tile < tiles; tile += blocks().x) {
      const int64_t row = groups(tile), first = (tile - row * groups.divisor()) * kColumns;
      add_lines(x + row * p.x_outer, first + lane() * kBytes, shared);
      sync_block();
      const int64_t column = first + thread();
      if (thread() < kColumns && column < p.inner) {
        int32_t v = 0;
        ONNXC_UNROLL_DEVICE
        for (int line = 0; line < kLines; ++line) v += shared.partial[line][thread() % kBytes][thread() / kBytes];
        y[row * p.y_outer + column] = static_cast<Y>(detail::finished(epilogue, v, row, column));
      }
      sync_block();  // before the next tile's sums lie there
    }
  }

 private:
  ONNXC_DEVICE void add_lines(const uint8_t* values, int64_t column, Shared& shared) const {
    int32_t sums[kBytes] = {};
    const int valid = static_cast<int>(max_of(min_of(p.inner - column, kBytes), 0));
    const uint8_t* at = values + warp() * p.x_row + column;
    const int64_t step = kLines * p.x_row;
    if (kBytes == 4 && valid == 4) {
      for (int64_t i = warp(); i < p.r;) {
        detail::BytePairs some;
        for (int k = 0; k < detail::BytePairs::kMost && i < p.r; ++k, i += kLines, at += step)
          some.add(*reinterpret_cast<const uint32_t*>(at));
        ONNXC_UNROLL_DEVICE
        for (int c = 0; c < kBytes; ++c) sums[c] += static_cast<int32_t>((c % 2 == 0 ? some.even : some.odd) >> c / 2 * 16 & 0xffff);
      }
    } else {
      for (int64_t i = warp(); i < p.r; i += kLines, at += step) {
        ONNXC_UNROLL_DEVICE
        for (int c = 0; c < kBytes; ++c) {
          if (c < valid) sums[c] += at[c];
        }
      }
    }
    ONNXC_UNROLL_DEVICE
    for (int c = 0; c < kBytes; ++c) shared.partial[warp()][c][lane()] = sums[c];
  }
};

/// y[o] = epilogue(sum of x[o * x_row + i] over i in [0, r)).
template <class Y, class Epi = Epilogue<Keep>>
static void sum_bytes_last(Queue& gpu, const uint8_t* x, Y* y, ReduceParams p, Epi epilogue = {}) noexcept {
  constexpr int64_t kShort = 4096;
  if (p.outer <= 0) return;
  if (p.r <= kShort) {
    using Kernel = SumBytesLast<32, Y, Epi>;
    launch(gpu, Kernel{x, y, p, epilogue}, grid_for(p.outer, Kernel::kRows));
  } else {
    launch(gpu, SumBytesLast<256, Y, Epi>{x, y, p, epilogue}, grid_for(p.outer, 1));
  }
}

namespace detail {

template <int kBytes, class Y, class Epi>
static void sum_columns(Queue& gpu, const uint8_t* x, Y* y, const ReduceParams& p, const Epi& epilogue) noexcept {
  using Kernel = SumBytesMiddle<kBytes, Y, Epi>;
  const int64_t groups = ceil_div(p.inner, int64_t{Kernel::kColumns}), tiles = p.outer * groups;
  if (tiles <= 0) return;
  launch(gpu, Kernel{x, y, p, tiles, FastDivide(groups), epilogue}, grid_for(tiles, 1));
}

}  // namespace detail

/// y[o * y_outer + j] = epilogue(sum of x[o * x_outer + i * x_row + j] over i in [0, r)), j in [0, inner).
template <class Y, class Epi = Epilogue<Keep>>
static void sum_bytes_middle(Queue& gpu, const uint8_t* x, Y* y, ReduceParams p, Epi epilogue = {}) noexcept {
  const bool by_words = reinterpret_cast<std::uintptr_t>(x) % 4 == 0 && p.x_row % 4 == 0 && p.x_outer % 4 == 0;
  by_words ? detail::sum_columns<4>(gpu, x, y, p, epilogue) : detail::sum_columns<1>(gpu, x, y, p, epilogue);
}

}  // namespace onnxc::gpu
