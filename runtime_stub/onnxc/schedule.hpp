// The schedule of a product c[m, n] = a[m, k] b[k, n], where b is packed into panels: how rows, panels and k are cut.
// What is computed for each piece is the micro-kernel's, on a register tile (tile.hpp). From the outside in:
//
//   thread shares   rows of c or panels of b, a range for each thread           ProductShare
//   cache blocks    rows of a that stay in L2 while the panels run past         block_rows, for_each_block
//   panels          of b, one of which stays in L1 or L2 while the rows of a block run past it
//   slices          of k, where a panel is large against L2                     Slices, for_each_slice
//   register tiles  of MR rows, then of fewer                                   TileOrder, for_each_tile
//
// Each value of c is one chain of multiply-adds in the order of k, whatever the schedule.
#pragma once
#include "base.hpp"
#include "contract/gemm.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

/// How a deep product goes through k: a slice of the panel stays in L1 while all rows of a block run past it. Sums are
/// kept in memory between two slices. Each value is the same chain of multiply-adds as without slices.
struct Slices {
  float* sums = nullptr;  // contract::slices_scratch(rows, NR) floats of this share, 64-byte aligned
  Extent steps = 0;       // of k in a slice; 0: all of them
  Extent rows = 0;        // in a block

  ONNXC_INLINE int64_t depth(int64_t k) const { return steps > 0 ? int64_t{steps} : k; }
  ONNXC_INLINE int64_t block(int64_t others) const { return steps > 0 ? int64_t{rows} : others; }
};

/// Whether a result of so many floats is too large to stay in L2.
constexpr bool is_beyond_l2(int64_t floats) { return floats > int64_t{3} << 16; }

/// The order in which a thread share goes through the tiles of a panel: 0, 1, 2, 3, ..., or 1, 0, 3, 2, ... in swapped
/// pairs.
///
/// A core's prefetcher follows stores at a constant stride and runs several tiles ahead: beyond the share's own rows
/// into those of the next share, and behind the last one into whatever lies there. So cache lines move to a core that
/// does not need them, and each has to be called back when its owner stores to it. Swapped pairs have no constant
/// stride, so the prefetcher stays quiet. A result that does not fit L2 needs the prefetcher, and a share that is alone
/// has no neighbour to disturb; both keep the usual order.
struct TileOrder {
  bool swaps_pairs = false;

  TileOrder() = default;
  /// For a share of a result of `floats` floats.
  constexpr TileOrder(const Share& share, int64_t floats) : swaps_pairs(share.count > 1 && !is_beyond_l2(floats)) {}

  /// The t-th of `tiles` tiles.
  constexpr int64_t operator()(int64_t t, int64_t tiles) const {
    return (t ^ int64_t{swaps_pairs}) < tiles ? t ^ int64_t { swaps_pairs } : t;
  }
};

namespace detail {

/// What a thread computes of a product of m rows by some panels: a range of rows by all panels, or all rows by a range
/// of panels. Rows are better where there are enough of them: a thread then reads the rows that it made itself. But if
/// the weights fit no L2, each thread should read as few of them as it can.
struct ProductShare {
  bool by_rows;
  Share::Range rows, panels;

  /// `tile`: rows of a register tile. Shares of rows are multiples of a lower tile.
  constexpr ProductShare(const Share& share, int64_t m, int64_t n, int64_t k, int64_t tile, int64_t panel_count)
      : by_rows(m >= tile * share.count && (n <= m || n * k < int64_t{1} << 18)),
        rows(by_rows ? share.slice(m, contract::low_tile(tile)) : Share::Range{0, m}),
        panels(by_rows ? Share::Range{0, panel_count} : share.slice(panel_count)) {}
};

using contract::block_rows;

/// Rows of a block if as few blocks as blocks of `block` rows divide `rows` evenly. Even, so that tiles of two heights can cover them.
constexpr int64_t even_block(int64_t rows, int64_t block) {
  const int64_t blocks = (rows + block - 1) / block, share = blocks > 0 ? (rows + blocks - 1) / blocks : block;
  return contract::min(contract::round_up(share, 2), block);
}

/// visit(first, count) for the blocks of at most `block` rows of a range.
template <class Visit>
ONNXC_INLINE void for_each_block(Share::Range rows, int64_t block, const Visit& visit) {
  for (int64_t row = rows.begin; row < rows.end; row += block) visit(row, rows.end - row < block ? rows.end - row : block);
}

/// visit(from, to) for slices [from, to) of k that are `depth` deep; once, with nothing, where k is 0.
template <class Visit>
ONNXC_INLINE void for_each_slice(int64_t k, int64_t depth, const Visit& visit) {
  int64_t from = 0;
  do {
    const int64_t to = from + depth < k ? from + depth : k;
    visit(from, to);
    from = to;
  } while (from < k);
}

/// visit.operator()<R>(i) for register tiles of rows [i, i + R): tiles of MR rows, then lower ones (contract::low_tile), the last of which
/// may have surplus rows. Both are in the given order. Without low tiles: one more of MR rows.
template <int MR, bool kLowTiles = true, class Visit>
ONNXC_INLINE void for_each_tile(int64_t rows, TileOrder order, const Visit& visit) {
  if constexpr (!kLowTiles) {
    const int64_t tiles = rows / MR;
    for (int64_t t = 0; t < tiles; ++t) visit.template operator()<MR>(order(t, tiles) * MR);
    if (tiles * MR < rows) visit.template operator()<MR>(tiles * MR);
  } else {
    constexpr int kLow = static_cast<int>(contract::low_tile(MR));
    const contract::TileHeights tiles(rows, MR);
    for (int64_t t = 0; t < tiles.high; ++t) visit.template operator()<MR>(order(t, tiles.high) * MR);
    for (int64_t t = 0; t < tiles.low; ++t) visit.template operator()<kLow>(tiles.high * MR + order(t, tiles.low) * kLow);
  }
}

}  // namespace detail

}  // namespace onnxc
