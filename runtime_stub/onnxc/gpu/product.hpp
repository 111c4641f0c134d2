// The product of matrices as a kernel: y[z][row][col] = epilogue(sum over k of a[z][row][k] b[z][col][k]).
//
// `Left` is where rows of the left side come from, a chunk of 16 bytes (4 words) at a time: those of a matrix (gemm.hpp), or
// windows of an image (conv.hpp):
//
//   Left moved(chunks)               the same, `chunks` further on
//   Origin origin(row)               what rows from `row` on have in common; row is 64-bit
//   Row row(origin, i)               row `origin` + i, which may be one that does not exist
//   Place place(word)                of k
//   chunk(origin, row, place, valid) where 4 words lie. `valid` becomes false where nothing does: fill() then stands for each
//                                    of the words if kFill, else zero
//
// Within a tile, places are 32-bit numbers of chunks, since registers are what bounds the size of tiles.
//
// Where f32 is made of tf32, what is not finite is computed anew by multiply-adds: parts of 11 bits know no infinity, since
// the lower one has none and times 0 gives NaN, and numbers near the largest may become one.
//
// Blocks may share k. Each writes its sums to `parts`, and the last to come adds all of them in order.
#pragma once
#include <cmath>

#include "../contract/gpu.hpp"
#include "../expr.hpp"
#include "product_tile.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// Matrices of a product lie at z = outer * inner + i, where each moves by its own steps: chunks for operands, elements for y.
struct Batches {
  int inner = 1;
  int64_t a_inner = 0, a_outer = 0, b_inner = 0, b_outer = 0, y_inner = 0, y_outer = 0;
};

/// Sizes of a product as its kernel needs them.
struct ProductSizes {
  int64_t m, n;
  int words;          ///< of k
  uint32_t b_stride;  ///< chunks
  int64_t y_stride;
  int64_t row_step, col_step;  ///< for the epilogue, from one matrix to the next
  int row_tiles, col_tiles, splits;
};

template <class Tile, class Kind, class Left, class Y, class Epilogue>
struct MatrixProduct {
  static constexpr int kThreads = Tile::kThreads, kM = Tile::kM, kN = Tile::kN;
  using Sum = typename Kind::Sum;
  using Sums = Sum[kM][kN][4];
  struct Shared {
    Stages<Tile> stages;
    unsigned ticket;
  };

  Y* y;
  Left a;
  const uint32_t* b;
  Sum* parts;         // for each split and tile kRows * kCols
  unsigned* tickets;  // one for each tile
  ProductSizes size;
  Batches batches;
  int64_t first_z;
  Epilogue epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int plane = size.row_tiles * size.col_tiles, in_grid = block().x / plane, tile = block().x - in_grid * plane;
    const int64_t z = first_z + in_grid, outer = z / batches.inner, inner = z - outer * batches.inner;
    const Index at = place_of(tile);
    const int64_t first_row = static_cast<int64_t>(at.y) * Tile::kRows, first_col = static_cast<int64_t>(at.x) * Tile::kCols;
    const int rows = static_cast<int>(min_of(size.m - first_row, Tile::kRows)),
              cols = static_cast<int>(min_of(size.n - first_col, Tile::kCols));
    const Left left = a.moved(inner * batches.a_inner + outer * batches.a_outer);
    const typename Left::Origin origin = left.origin(first_row);
    const uint32_t* const right = b + (inner * batches.b_inner + outer * batches.b_outer + first_col * size.b_stride) * 4;

    const int stages = (size.words + Tile::kWords - 1) / Tile::kWords, split = block().y;
    const int first = static_cast<int>(static_cast<int64_t>(stages) * split / size.splits);
    const int last = static_cast<int>(static_cast<int64_t>(stages) * (split + 1) / size.splits);
    Sums c = {};
    multiply(c, shared, left, origin, right, rows, cols, first, last);
    if (size.splits > 1 && !add_up(c, shared, z * plane + tile)) return;

    Y* const to = y + inner * batches.y_inner + outer * batches.y_outer + first_row * size.y_stride + first_col;
    const int64_t epilogue_row = z * size.row_step + first_row, epilogue_col = z * size.col_step + first_col;
    const auto result = [&](const Sum& sum, int row, int col) {
      Sum v = sum;
      if constexpr (kIsFloat32<Kind>) {
        if (!(v - v == 0)) v = anew(left, origin, right, row, col);
      }
      return static_cast<Y>(epilogue(Scalar{}, v, [&](const auto& form) { return *form.at(epilogue_row + row, epilogue_col + col); }));
    };
    // Neighbours are stored at once, so that four lanes write 32 bytes of f32.
    const bool paired =
        (reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(size.y_stride) * sizeof(Y)) % sizeof(Pair<Y>) == 0;
    const Places<Tile> places;
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < kM; ++i) {
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kN; ++j) {
        ONNXC_UNROLL_DEVICE
        for (int r = 0; r < 4; r += 2) {
          const int row = places.row(i, r), col = places.col(j, r);
          if (row >= rows || col >= cols) continue;
          Y* const place = to + row * size.y_stride + col;
          const Y first_of_two = result(c[i][j][r], row, col);
          if (col + 1 == cols) {
            *place = first_of_two;
            continue;
          }
          const Pair<Y> both{{first_of_two, result(c[i][j][r + 1], row, col + 1)}};
          if (paired) {
            store(place, both);
          } else {
            place[0] = both.at[0];
            place[1] = both.at[1];
          }
        }
      }
    }
  }

 private:
  /// Column and row of a tile. Those of 8 rows of tiles follow each other column by column, so that blocks that run at the
  /// same time share rows as well as columns.
  ONNXC_DEVICE Index place_of(int tile) const {
    constexpr int kBand = 8;
    const int band = tile / (kBand * size.col_tiles), first = band * kBand, rest = tile - first * size.col_tiles;
    const int rows = size.row_tiles - first < kBand ? size.row_tiles - first : kBand;
    return {rest / rows, first + rest % rows, 0};
  }

  template <class Visit>
  static ONNXC_DEVICE void each(Sums& c, Visit visit) {
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < kM; ++i) {
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kN; ++j) {
        ONNXC_UNROLL_DEVICE
        for (int r = 0; r < 4; ++r) visit(i, j, r, c[i][j][r]);
      }
    }
  }

  ONNXC_DEVICE void multiply(Sums& c, Shared& shared, const Left& left, const typename Left::Origin& origin, const uint32_t* right,
                             int rows, int cols, int first, int last) const {
    const int chunk = thread() % Tile::kChunks, own = thread() / Tile::kChunks;
    const int swapped = (chunk ^ (own & 1) * 4) * 4;         // kRowsAtOnce is even
    const int own_rows = rows - own, own_cols = cols - own;  // those that exist, in steps of kRowsAtOnce
    typename Left::Row from_rows[Tile::kOwnRows];
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < Tile::kOwnRows; ++i) from_rows[i] = left.row(origin, own + i * Tile::kRowsAtOnce);
    multiply_tile<Kind, Tile>(c, shared.stages, first, last, [&](int stage, int to) {
      const int word = stage * Tile::kWords + chunk * 4;
      const bool inside = word < size.words;
      const typename Left::Place place = left.place(word);
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < Tile::kOwnRows; ++i) {
        bool valid = inside && i * Tile::kRowsAtOnce < own_rows;
        uint32_t* const target = &shared.stages.left[to][own + i * Tile::kRowsAtOnce][swapped];
        bool there = true;
        const uint32_t* const from = left.chunk(origin, from_rows[i], place, there);
        if constexpr (Left::kFill) {
          if (valid && !there) {
            const uint32_t fill = left.fill();
            store(target, Pack<uint32_t>{{fill, fill, fill, fill}});
            continue;
          }
        }
        copy_async(target, from, valid && there);
      }
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < Tile::kOwnCols; ++i) {
        const uint32_t at = static_cast<uint32_t>(own + i * Tile::kRowsAtOnce) * size.b_stride;
        copy_async(&shared.stages.right[to][own + i * Tile::kRowsAtOnce][swapped], right + (int64_t{4} * at + word),
                   inside && i * Tile::kRowsAtOnce < own_cols);
      }
    });
  }

  ONNXC_DEVICE float anew(const Left& left, const typename Left::Origin& origin, const uint32_t* right, int row, int col) const {
    const typename Left::Row from = left.row(origin, row);
    const uint32_t* const column = right + int64_t{4} * size.b_stride * col;
    float sum = 0;
    ONNXC_KEEP_LOOP
    for (int word = 0; word < size.words; word += 4) {
      bool there = true;
      const uint32_t* const chunk = left.chunk(origin, from, left.place(word), there);
      if (!there) continue;
      ONNXC_KEEP_LOOP
      for (int i = 0; i < 4; ++i) sum = fmaf(as_float(chunk[i]), as_float(column[word + i]), sum);
    }
    return sum;
  }

  /// False in all blocks of a tile but the last to come, which then has the sums of all.
  ONNXC_DEVICE bool add_up(Sums& c, Shared& shared, int64_t tile) const {
    constexpr int kPart = Tile::kRows * Tile::kCols;
    Sum* const all = parts + tile * size.splits * kPart + thread();
    Sum* const own = all + static_cast<int64_t>(block().y) * kPart;
    const auto offset = [](int i, int j, int r) { return ((i * kN + j) * 4 + r) * kThreads; };
    each(c, [&](int i, int j, int r, Sum& v) { own[offset(i, j, r)] = v; });
    fence();
    sync_block();
    if (thread() == 0) shared.ticket = fetch_add(tickets + tile, 1);
    sync_block();
    if (shared.ticket != static_cast<unsigned>(size.splits - 1)) return false;
    fence();
    if (thread() == 0) tickets[tile] = 0;
    each(c, [&](int i, int j, int r, Sum& v) { v = all[offset(i, j, r)]; });
    ONNXC_KEEP_LOOP
    for (int s = 1; s < size.splits; ++s) {
      const Sum* const part = all + static_cast<int64_t>(s) * kPart;
      each(c, [&](int i, int j, int r, Sum& v) { v = add(v, part[offset(i, j, r)]); });
    }
    return true;
  }
  static ONNXC_DEVICE float add(float a, float b) { return a + b; }
  static ONNXC_DEVICE int32_t add(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};

/// Enqueues `batch` * `outer` products, as many at once as a grid has room for.
template <class Kernel>
static void launch_product(Queue& gpu, Kernel kernel, int64_t count) noexcept {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const int64_t plane = static_cast<int64_t>(kernel.size.row_tiles) * kernel.size.col_tiles;
  if (plane == 0 || count <= 0) return;
  if (plane > kMost) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "a product of too many tiles"}; });
  for (kernel.first_z = 0; kernel.first_z < count; kernel.first_z += kMost / plane) {
    const int64_t now = min_of(count - kernel.first_z, kMost / plane);
    launch(gpu, kernel, Index{static_cast<int>(now * plane), kernel.size.splits, 1});
  }
}

}  // namespace detail
}  // namespace onnxc::gpu
