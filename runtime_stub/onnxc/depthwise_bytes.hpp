// Depthwise convolution of channels-last images of bytes: each channel has its own kernel. Sums of 32 bits are exact.
//
//   depthwise_bytes<2, 3>(share, x, w, y, scratch, {.h = 28, .w = 28, .cin = 192, .oh = 28, .ow = 28, .cout = 192, .kh = 3, .kw = 3, .pad_top = 1,
//                                                .pad_left = 1, .x_pixel = 192, .y_pixel = 192, .start = w_start}, Epilogue<Requantise>{});
//
// `dot` adds four products in each lane (vec_dot.hpp). Here a lane is a channel, and its four bytes are those of four rows of the image, one
// below the other. So bytes of four rows are interleaved first:
//
//   row 0   a0 b0 c0 d0 ...
//   row 1   a1 b1 c1 d1 ...         a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3   ...
//   row 2   a2 b2 c2 d2 ...
//   row 3   a3 b3 c3 d3 ...
//
// A column of three taps fills three bytes of a quad. Moved down by one, it makes the next row of the output from the same quads. R rows are
// computed together: those whose windows fit the quads (contract::depthwise_bytes_rows), or fewer. KW is kw if its taps are to be unrolled, which
// takes one quad of rows, or 0 for any kernel.
//
// Quads of four vectors of channels under up to kDepthwiseBytesColumns columns of the output lie in `scratch`,
// [vector][quad of rows][column]. Pixels outside of the image are `outside` there, so that no step has borders.
//
// w packed: [vector][quad of rows][kx][R][Vec::width] quads (pack::depthwise_quads), start: c values or null.
#pragma once
#include "contract/quads.hpp"
#include "contract/window.hpp"
#include "interleaved_rows.hpp"
#include "quad_tile.hpp"

namespace onnxc::inline ONNXC_ISA {

struct DepthwiseBytesParams {
  int64_t n = 1, h = 1, w = 1, cin = 1;  // input
  int64_t oh = 1, ow = 1, cout = 1;      // output; cout is cin
  int64_t kh = 1, kw = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0;
  int64_t x_pixel = 0, y_pixel = 0;  // elements from one pixel to the next
  const int32_t* start = nullptr;
  int64_t outside = 0;  // the value of pixels outside of the image
};
static_assert(contract::has_usual_window(DepthwiseBytesParams{}));

namespace detail {

/// Four rows of the image, or of what lies outside of it. A pixel is read as four whole vectors of bytes unless it would end beyond `end`.
struct FourLines {
  const uint8_t* line[4];  ///< null: outside
  const uint8_t* end;
  int64_t channels;  ///< of four vectors
  IntVec outside;

  /// Writes the quads of columns [first, first + count) to `to`, from one vector of which to the next there are `pitch` vectors.
  ONNXC_INLINE void write(int64_t first, int64_t count, int64_t w, int64_t x_pixel, int32_t* to, int64_t pitch) const {
    const int64_t begin = first < 0 ? min_of(-first, count) : 0, last = max_of(begin, min_of(w - first, count));
    const auto put = [&](int64_t i, const IntVec(&rows)[4]) ONNXC_INLINE_LAMBDA {
      interleave_rows(rows, channels <= 2 * Vec::width,
                      [&](int g, IntVec quads) { onnxc::store(Whole<int32_t>{quads}, to + (g * pitch + i) * Vec::width); });
    };
    const IntVec none[4] = {outside, outside, outside, outside};
    for (int64_t i = 0; i < begin; ++i) put(i, none);
    for (int64_t i = last; i < count; ++i) put(i, none);
    if (begin == last) return;

    uint8_t constant[4 * Vec::width];
    onnxc::store(Whole<int32_t>{outside}, reinterpret_cast<int32_t*>(constant));
    const uint8_t* from[4];
    int64_t step[4], whole = last;
    for (int r = 0; r < 4; ++r) {
      from[r] = line[r] != nullptr ? line[r] + (first + begin) * x_pixel : constant;
      step[r] = line[r] != nullptr ? x_pixel : 0;
      if (line[r] != nullptr) whole = min_of(whole, max_of(begin, begin + floor_div(end - from[r] - 4 * Vec::width, x_pixel) + 1));
    }
    int64_t i = begin;
    for (; i < whole; ++i) {
      const IntVec rows[4] = {load_bytes(from[0]), load_bytes(from[1]), load_bytes(from[2]), load_bytes(from[3])};
      ONNXC_UNROLL for (int r = 0; r < 4; ++r) from[r] += step[r];
      put(i, rows);
    }
    for (; i < last; ++i) {
      IntVec rows[4];
      for (int r = 0; r < 4; ++r) {
        uint8_t some[4 * Vec::width] = {};
        for (int64_t c = 0; c < channels; ++c) some[c] = from[r][c];
        rows[r] = load_bytes(some);
        from[r] += step[r];
      }
      put(i, rows);
    }
  }
};

/// Computes kPixels neighbours of R rows, `count` and `rows` of which are wanted; the first is pixel `row` of y.
template <int R, int KW, int kPixels, class Y, class Epi, class... N>
ONNXC_INLINE void depthwise_bytes_step(const int32_t* quads, const int32_t* w, const IntVec& start, int64_t span, Y* y, int64_t row,
                                       int64_t channel, int64_t rows, int64_t count, const DepthwiseBytesParams& p, const Epi& epi,
                                       N... n) {
  IntVec acc[R][kPixels];
  DotOffsets<R> offsets;
  ONNXC_UNROLL for (int r = 0; r < R; ++r) { ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) acc[r][t] = start; }
  const int64_t step = p.stride_x * Vec::width, across = p.dilation_x * Vec::width;
  const auto add = [&](const int32_t* column, const int32_t* tap) ONNXC_INLINE_LAMBDA {
    IntVec taps[R];
    ONNXC_UNROLL for (int r = 0; r < R; ++r) taps[r] = load_whole(tap + r * Vec::width).lanes;
    if constexpr (DotOffsets<R>::kAny) {
      ONNXC_UNROLL for (int r = 0; r < R; ++r) offsets.add(r, taps[r]);
    }
    ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) {
      const IntVec bytes = offset(load_whole(column + t * step).lanes);
      ONNXC_UNROLL for (int r = 0; r < R; ++r) acc[r][t] = dot_offset(acc[r][t], bytes, taps[r]);
    }
  };
  if constexpr (KW > 0 && ONNXC_VECTOR_REGISTERS >= 32) {  // with fewer registers, unrolled taps would push the sums out
    ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) add(quads + kx * across, w + kx * R * Vec::width);
  } else {
    for (int64_t quad = 0; quad < contract::quads(p.kh); ++quad, quads += span * Vec::width) {
      const int32_t* column = quads;
      for (int64_t kx = 0; kx < p.kw; ++kx, column += across, w += R * Vec::width) add(column, w);
    }
  }
  ONNXC_UNROLL for (int r = 0; r < R; ++r) {
    ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) {
      const int64_t pixel = row + r * p.ow + t;
      if (r < rows && t < count) finish_sums(epi, offsets.without(r, acc[r][t]), pixel, channel, y + pixel * p.y_pixel + channel, n...);
    }
  }
}

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself. scratch: contract::depthwise_bytes_scratch bytes of
/// this share, 64-byte aligned.
template <int R, int KW, class Y, class Epi = Epilogue<Keep>>
void depthwise_bytes(Share share, const uint8_t* x, const int8_t* w, Y* y, uint8_t* scratch, DepthwiseBytesParams p, Epi epi = {}) {
  constexpr int kPixels = ONNXC_VECTOR_REGISTERS >= 32 ? 4 : R == 1 ? 4 : 2, kBlock = 4 * Vec::width;
  static_assert(contract::kDepthwiseBytesColumns % kPixels == 0);
  const int64_t quads = contract::quads(p.kh), span = contract::depthwise_bytes_span(p.kw, p.stride_x, p.dilation_x);
  const int64_t under_rows = (R - 1) * p.stride_y + p.kh;  // R is 1 if rows are dilated
  const int64_t bands = (p.oh + R - 1) / R, blocks = (p.cout + kBlock - 1) / kBlock, weights = quads * p.kw * R * Vec::width;
  const int64_t pieces = (p.ow + contract::kDepthwiseBytesColumns - 1) / contract::kDepthwiseBytesColumns,
                piece = contract::round_up((p.ow + max_of(pieces, 1) - 1) / max_of(pieces, 1), kPixels);
  auto* const columns = reinterpret_cast<int32_t*>(scratch);
  const auto [begin, end] = share.slice(p.n * bands * blocks);
  for (int64_t work = begin; work < end; ++work) {
    const int64_t block = work % blocks, band = work / blocks % bands, image = work / blocks / bands, first_channel = block * kBlock;
    const int64_t channels = min_of(p.cout - first_channel, kBlock), oy = band * R, rows = min_of(p.oh - oy, R);
    const uint8_t* const from = x + image * p.h * p.w * p.x_pixel + first_channel;
    detail::FourLines lines{.line = {},
                            .end = x + (p.n * p.h * p.w - 1) * p.x_pixel + p.cout,
                            .channels = channels,
                            .outside = IntVec::all(static_cast<int32_t>(static_cast<uint32_t>(p.outside) * 0x01010101u))};
    for (int64_t ox = 0; ox < p.ow; ox += piece) {
      const int64_t some = min_of(p.ow - ox, piece), under = contract::inputs_under(some, p.stride_x, p.kw, p.dilation_x);
      for (int64_t quad = 0; quad < quads; ++quad) {
        for (int64_t r = 0; r < 4; ++r) {
          const int64_t down = min_of(4 * quad + r, under_rows - 1);  // what no tap reaches costs no memory access
          const int64_t iy = oy * p.stride_y - p.pad_top + down * p.dilation_y;
          lines.line[r] = iy >= 0 && iy < p.h ? from + iy * p.w * p.x_pixel : nullptr;
        }
        lines.write(ox * p.stride_x - p.pad_left, under, p.w, p.x_pixel, columns + quad * span * Vec::width, quads * span);
      }
      for (int64_t c = 0; c < channels; c += Vec::width) {
        const int64_t channel = first_channel + c, lanes = channels - c, vector = channel / Vec::width;
        const auto* const taps = reinterpret_cast<const int32_t*>(w) + vector * weights;
        const int32_t* const under_vector = columns + c / Vec::width * quads * span * Vec::width;
        const IntVec start = p.start == nullptr   ? IntVec::all(0)
                             : lanes < Vec::width ? load_whole(p.start + channel, lanes).lanes
                                                  : load_whole(p.start + channel).lanes;
        const int64_t row = (image * p.oh + oy) * p.ow + ox;
        for (int64_t t = 0; t < some; t += kPixels) {
          const int32_t* const here = under_vector + t * p.stride_x * Vec::width;
          if (lanes < Vec::width)
            detail::depthwise_bytes_step<R, KW, kPixels>(here, taps, start, span, y, row + t, channel, rows, some - t, p, epi, lanes);
          else detail::depthwise_bytes_step<R, KW, kPixels>(here, taps, start, span, y, row + t, channel, rows, some - t, p, epi);
        }
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
