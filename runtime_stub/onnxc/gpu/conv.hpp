// Convolution of channels-last images as a product on tensor cores: rows are output pixels, k runs over taps and channels.
// Nothing is copied beforehand.
//
//   conv<Tile<64, 64, 32, 32, 3>, ThreeTf32>(gpu, y, x, w, {.n = 8, .h = 56, .w = 56, .cin = 64, .oh = 56, .ow = 56, .cout = 64,
//                                            .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 64, .y_pixel = 64},
//                                            Epilogue<AddRelu, PerCol<float>>{{bias}});
//
//   y[n, oy, ox, co] = epilogue(sum over ky, kx, ci of x[n, oy * stride_y - pad_top + ky * dilation_y, ..., ci] *
//                      w[co, ky, kx, ci])
//
// Element types are the kind's (product_kind.hpp). Pixels of x begin at multiples of 16 bytes, x_pixel elements after each
// other, and rows and images follow without gaps. A group has cin / group channels; they begin at a multiple of 16 bytes,
// and what lies between their end and the next such multiple is finite (for `group` > 1 there is nothing). Weights are
// [cout][kh * kw][row_of(cin / group)] (contract/gpu.hpp), with zeros there. y is aligned to its type, and overlaps no
// operand. The epilogue sees the output as a matrix [n * oh * ow, cout]. A one-dimensional convolution has h = kh = 1. An
// image, or as many as have the pixels of a tile, is below 64 GiB.
//
// Pixels outside of the image are zeros. Of bytes they have the value `fill`: with the zero point of x there, sums are those
// of x - zero_point plus zero_point times the sum of a channel's weights, which the epilogue takes away as a constant of
// each channel. Weights have no zero point.
#pragma once
#include "../contract/window.hpp"
#include "index.hpp"
#include "product.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

struct ConvParams {
  int64_t n = 1, h = 1, w = 1, cin = 1;  // input
  int64_t oh = 1, ow = 1, cout = 1;      // output
  int64_t kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0, group = 1;
  int64_t x_pixel = 0, y_pixel = 0;  ///< elements between pixels
  int64_t splits = 1;                ///< blocks that share k of a tile
  int64_t fill = 0;                  ///< what lies outside of an image of bytes
};
static_assert(contract::has_usual_window(ConvParams{}) && ConvParams{}.group == contract::kUsualGroup);

/// Sums of `parts`, and words of Queue::tickets(), that such a convolution needs.
template <class Tile>
constexpr int64_t parts_of(const ConvParams& p) {
  return contract::gpu::parts(contract::gpu::tiles(p.n * p.oh * p.ow, p.cout / p.group, p.group, Tile::kRows, Tile::kCols), Tile::kRows,
                              Tile::kCols, p.splits);
}
template <class Tile>
constexpr int64_t tickets_of(const ConvParams& p) {
  return contract::gpu::tickets(contract::gpu::tiles(p.n * p.oh * p.ow, p.cout / p.group, p.group, Tile::kRows, Tile::kCols), p.splits);
}

namespace detail {

/// Rows of k are the windows of an image. 16 bytes of k lie within one tap.
template <bool kFilled>
struct Windows {
  static constexpr bool kFill = kFilled;
  const uint32_t* data;
  uint32_t pixel, image;  // chunks from one to the next
  int h, w;
  FastDivide channels;  // words of a pixel that are read
  FastDivide out_w, out_pixels, kw;
  int stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
  uint32_t outside;

  struct Origin {
    const uint32_t* image;
    int pixel;
  };
  /// The window's first pixel, which may lie outside of the image. `at` is its chunk, modulo 2^32.
  struct Row {
    uint32_t at;
    int y, x;
  };
  struct Place {
    uint32_t at;
    int y, x;
  };
  ONNXC_DEVICE Windows moved(int64_t chunks) const {
    Windows other = *this;
    other.data += chunks * 4;
    return other;
  }
  ONNXC_DEVICE Origin origin(int64_t row) const {
    const int64_t number = out_pixels(row);
    return {data + number * image * 4, static_cast<int>(row - number * out_pixels.divisor())};
  }
  ONNXC_DEVICE Row row(const Origin& origin, int i) const {
    const int from_first = origin.pixel + i;
    const auto [number, at] = divided(from_first, out_pixels);
    const auto [oy, ox] = divided(at, out_w);
    const int y = oy * stride_y - pad_top, x = ox * stride_x - pad_left;
    return {static_cast<uint32_t>(number) * image + static_cast<uint32_t>(y * w + x) * pixel, y, x};
  }
  ONNXC_DEVICE Place place(int word) const {
    const auto [tap, channel] = divided(word, channels);
    const auto [ky, kx] = divided(tap, kw);
    const int y = ky * dilation_y, x = kx * dilation_x;
    return {static_cast<uint32_t>(y * w + x) * pixel + static_cast<uint32_t>(channel) / 4, y, x};
  }
  ONNXC_DEVICE const uint32_t* chunk(const Origin& origin, const Row& row, const Place& place, bool& valid) const {
    valid = static_cast<unsigned>(row.y + place.y) < static_cast<unsigned>(h) &&
            static_cast<unsigned>(row.x + place.x) < static_cast<unsigned>(w);
    return origin.image + int64_t{4} * static_cast<uint32_t>(row.at + place.at);
  }
  ONNXC_DEVICE uint32_t fill() const { return outside; }

 private:
  struct Divided {
    int quotient, rest;
  };
  static ONNXC_DEVICE Divided divided(int n, const FastDivide& by) {
    const auto quotient = static_cast<int>(by(n));
    return {quotient, n - quotient * static_cast<int>(by.divisor())};
  }
};

}  // namespace detail

/// `parts`: parts_of<Tile>(p) sums, where p.splits > 1.
template <class Tile, class Kind, class Y, class Epi = Epilogue<Keep>>
static void conv(Queue& gpu, Y* y, const typename detail::KindOf<Kind>::Left* x, const typename detail::KindOf<Kind>::Right* w,
                 typename Kind::Sum* parts, const ConvParams& p, Epi epilogue = {}) noexcept {
  constexpr int64_t kChunk = 4 * Kind::kValues;
  constexpr bool kFill = Kind::kValues == 4;
  const int64_t m = p.n * p.oh * p.ow, group_out = p.cout / p.group, chunks = ceil_div(p.cin / p.group, kChunk), row = p.kh * p.kw * chunks;
  if (m <= 0 || p.kw <= 0) return;
  const auto small = [](int64_t v) { return static_cast<int>(v); };
  const detail::Windows<kFill> left{.data = reinterpret_cast<const uint32_t*>(x),
                                    .pixel = static_cast<uint32_t>(p.x_pixel / kChunk),
                                    .image = static_cast<uint32_t>(p.h * p.w * (p.x_pixel / kChunk)),
                                    .h = small(p.h),
                                    .w = small(p.w),
                                    .channels = FastDivide(max_of(chunks, 1) * 4),
                                    .out_w = FastDivide(p.ow),
                                    .out_pixels = FastDivide(p.oh * p.ow),
                                    .kw = FastDivide(p.kw),
                                    .stride_y = small(p.stride_y),
                                    .stride_x = small(p.stride_x),
                                    .dilation_y = small(p.dilation_y),
                                    .dilation_x = small(p.dilation_x),
                                    .pad_top = small(p.pad_top),
                                    .pad_left = small(p.pad_left),
                                    .outside = static_cast<uint32_t>(p.fill & 0xFF) * 0x01010101u};
  const detail::ProductSizes size{.m = m,
                                  .n = group_out,
                                  .words = small(row * 4),
                                  .b_stride = static_cast<uint32_t>(row),
                                  .y_stride = p.y_pixel,
                                  .row_step = 0,
                                  .col_step = group_out,
                                  .row_tiles = small(ceil_div(m, Tile::kRows)),
                                  .col_tiles = small(ceil_div(group_out, Tile::kCols)),
                                  .splits = small(p.splits)};
  const detail::Batches batches{.inner = small(p.group), .a_inner = chunks, .b_inner = group_out * row, .y_inner = group_out};
  using Kernel = detail::MatrixProduct<Tile, Kind, detail::Windows<kFill>, Y, Epi>;
  detail::launch_product(gpu, Kernel{y, left, reinterpret_cast<const uint32_t*>(w), parts, gpu.tickets(), size, batches, 0, epilogue},
                         p.group);
}
template <class Tile, class Kind, class Y, class Epi = Epilogue<Keep>>
static void conv(Queue& gpu, Y* y, const typename detail::KindOf<Kind>::Left* x, const typename detail::KindOf<Kind>::Right* w,
                 const ConvParams& p, Epi epilogue = {}) noexcept {
  conv<Tile, Kind>(gpu, y, x, w, static_cast<typename Kind::Sum*>(nullptr), p, epilogue);
}

}  // namespace onnxc::gpu
