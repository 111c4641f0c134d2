// Products of matrices on tensor cores, with any number of them in one step.
//
//   gemm<Tile<64, 64, 32, 32, 3>, ThreeTf32>(gpu, y, a, b, {.m = 197, .n = 768, .k = 768, .a_stride = 768, .b_stride = 768,
//                                                           .y_stride = 768}, Epilogue<AddBias, PerCol<float>>{{bias}});
//
// y[z][row][col] = epilogue(sum over k of a[z][row][k] b[z][col][k]), z = outer * batch + i. The element types of a and b
// are the kind's (product_kind.hpp); y has any type, to which the epilogue's value is converted. The epilogue sees the rows
// of all matrices one after the other: z * m + row.
//
// Rows of a and b begin at multiples of 16 bytes, as do matrices, and end as contract/gpu.hpp says: in zeros. y is aligned to
// its type and overlaps no operand. Sizes may be 0; with k = 0 sums are 0. A run with k of 2^31 or more
// fails. The rows of a tile lie within 64 GiB.
//
// Accuracy: see product_kind.hpp. Results do not depend on time, but on tile and splits.
#pragma once
#include "product.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Strides and steps in elements; a step of 0 repeats a matrix.
struct GemmParams {
  int64_t m, n, k;
  int64_t a_stride, b_stride, y_stride;                      ///< from one row to the next
  int64_t batch = 1, a_batch = 0, b_batch = 0, y_batch = 0;  ///< matrices, and the steps between them
  int64_t outer = 1, a_outer = 0, b_outer = 0, y_outer = 0;  ///< the same around that
  int64_t splits = 1;                                        ///< blocks that share k of a tile
};

/// Sums of `parts`, and words of Queue::tickets(), that such a product needs.
template <class Tile>
constexpr int64_t parts_of(const GemmParams& p) {
  return contract::gpu::parts(contract::gpu::tiles(p.m, p.n, p.batch * p.outer, Tile::kRows, Tile::kCols), Tile::kRows, Tile::kCols,
                              p.splits);
}
template <class Tile>
constexpr int64_t tickets_of(const GemmParams& p) {
  return contract::gpu::tickets(contract::gpu::tiles(p.m, p.n, p.batch * p.outer, Tile::kRows, Tile::kCols), p.splits);
}

namespace detail {

/// Rows of a matrix.
struct MatrixRows {
  static constexpr bool kFill = false;
  using Origin = const uint32_t*;
  using Row = uint32_t;
  using Place = int;
  const uint32_t* data;
  uint32_t stride;  // chunks
  ONNXC_DEVICE MatrixRows moved(int64_t chunks) const { return {data + chunks * 4, stride}; }
  ONNXC_DEVICE Origin origin(int64_t row) const { return data + row * stride * 4; }
  ONNXC_DEVICE Row row(Origin, int i) const { return static_cast<uint32_t>(i) * stride; }
  ONNXC_DEVICE Place place(int word) const { return word; }
  ONNXC_DEVICE const uint32_t* chunk(Origin origin, Row row, Place word, bool&) const { return origin + (int64_t{4} * row + word); }
};

template <class T>
const uint32_t* words_of(const T* p) {
  return reinterpret_cast<const uint32_t*>(p);
}

}  // namespace detail

/// `parts`: parts_of<Tile>(p) sums, where p.splits > 1.
template <class Tile, class Kind, class Y, class Epi = Epilogue<Keep>>
static void gemm(Queue& gpu, Y* y, const typename detail::KindOf<Kind>::Left* a, const typename detail::KindOf<Kind>::Right* b,
                 typename Kind::Sum* parts, const GemmParams& p, Epi epilogue = {}) noexcept {
  constexpr int64_t kChunk = 4 * Kind::kValues;
  if (p.k >= int64_t{1} << 31) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "rows of a product are too long"}; });
  const detail::ProductSizes size{.m = p.m,
                                  .n = p.n,
                                  .words = static_cast<int>(ceil_div(p.k, kChunk) * 4),
                                  .b_stride = static_cast<uint32_t>(p.b_stride / kChunk),
                                  .y_stride = p.y_stride,
                                  .row_step = p.m,
                                  .col_step = 0,
                                  .row_tiles = static_cast<int>(ceil_div(p.m, Tile::kRows)),
                                  .col_tiles = static_cast<int>(ceil_div(p.n, Tile::kCols)),
                                  .splits = static_cast<int>(p.splits)};
  const detail::Batches batches{.inner = static_cast<int>(p.batch),
                                .a_inner = p.a_batch / kChunk,
                                .a_outer = p.a_outer / kChunk,
                                .b_inner = p.b_batch / kChunk,
                                .b_outer = p.b_outer / kChunk,
                                .y_inner = p.y_batch,
                                .y_outer = p.y_outer};
  using Kernel = detail::MatrixProduct<Tile, Kind, detail::MatrixRows, Y, Epi>;
  const detail::MatrixRows left{detail::words_of(a), static_cast<uint32_t>(p.a_stride / kChunk)};
  detail::launch_product(gpu, Kernel{y, left, detail::words_of(b), parts, gpu.tickets(), size, batches, 0, epilogue}, p.batch * p.outer);
}
template <class Tile, class Kind, class Y, class Epi = Epilogue<Keep>>
static void gemm(Queue& gpu, Y* y, const typename detail::KindOf<Kind>::Left* a, const typename detail::KindOf<Kind>::Right* b,
                 const GemmParams& p, Epi epilogue = {}) noexcept {
  gemm<Tile, Kind>(gpu, y, a, b, static_cast<typename Kind::Sum*>(nullptr), p, epilogue);
}

}  // namespace onnxc::gpu
