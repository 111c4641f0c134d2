// Depthwise convolution of channels-last images: each channel has its own kernel, and Vec::width channels are computed
// at a time.
//
//   depthwise<3, 3, 1>(share, x, w, y, {.h = 56, .w = 56, .cin = 144, .oh = 56, .ow = 56, .cout = 144, .pad_top = 1, .pad_left = 1,
//                                       .x_pixel = 144, .y_pixel = 144, .bias = w_bias}, Epilogue<Relu6>{});
//
// w packed: [kh * kw][c] (pack::depthwise), bias: c values or null; the tail of both is read by lanes. Parameters are
// conv's with cout = cin = c; group is not used. KH, KW and the stride along x are template arguments, so a row of taps
// is unrolled: a step computes kPixels neighbours, and each input pixel is loaded once for all of the outputs that it
// reaches. With 32 vector registers the weights of a 3x3 kernel stay in registers along an output row. With 16, each
// step loads them from L1 again, one row of the kernel at a time.
//
// An image that fits L2 is computed in blocks of four vectors of channels, whose rows stay in L1 from one output row to
// the next. A larger image is computed row by row, while the input rows that the next output row adds are prefetched in
// order, because memory is fastest when lines come in sequence.
//
// kSums: p.row_sums receives the sum of each row of y for each channel, for a mean that comes next
// (squeeze-and-excite). So the image need not be read again, and since the sums are of whole rows, they do not depend
// on the number of threads.
//
// `depthwise_any` takes all sizes at run time: kernels of 9x9 and more, and dilated ones. It first copies a vector of
// channels of kAnyColumns columns of each row. In the copy no tap lies outside and pixels are neighbours. In the image,
// many channels a power of two apart would compete for a few sets of L1.
#pragma once
#include "contract/depthwise.hpp"
#include "conv.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Computes `count` neighbours from column ox on, `lanes` channels. lines: the image rows under the kernel, null
/// outside of the image. Edge: some taps lie outside of the image, or count < kPixels. kSums: adds what is stored to
/// `sum`. kPitch: floats between pixels of lines that hold these channels alone; 0: the lines are the image's.
template <int KH, int KW, int SX, int kPixels, bool kSums, bool Edge, bool Whole, int kPitch = 0, class Epi>
ONNXC_INLINE void depthwise_step(const float* const (&lines)[KH], const Vec (&w)[KH][KW], Vec bias, float* y, int64_t row, int64_t ox,
                                 int64_t channel, int64_t count, int64_t lanes, Vec& sum, const ConvParams& p, const Epi& epi) {
  Vec acc[kPixels];
  ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) acc[t] = bias;
  const int64_t left = ox * SX - p.pad_left;
  // With few registers the taps of a kernel row are loaded just before their use, and all pixels are addressed from one
  // register.
  constexpr bool kFew = ONNXC_VECTOR_REGISTERS < 32, kByThrees = kFew && kPitch == 0;
  ONNXC_UNROLL for (int ky = 0; ky < KH; ++ky) {
    if (lines[ky] != nullptr) {
      const int64_t pitch = kPitch > 0 ? kPitch : int64_t{p.x_pixel};
      const float* pixel = lines[ky] + left * pitch + (kPitch > 0 ? 0 : channel);
      Vec taps[KW];
      const Vec* const row_of_w = kFew ? opaque(&w[ky][0]) : &w[ky][0];
      ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
        taps[kx] = row_of_w[kx];
        if (kFew) pin(taps[kx]);
      }
      ONNXC_UNROLL for (int u = 0; u < (kPixels - 1) * SX + KW; ++u) {
        if (kByThrees && u > 0 && u % 3 == 0) pixel = opaque(pixel + 3 * pitch);
        const float* from = pixel + (kByThrees ? u % 3 : u) * pitch;
        if (Edge) from = left + u >= 0 && left + u < p.w ? from : kZeros;
        Vec d;  // from a conditional expression g++ 12 makes a temporary in memory
        if constexpr (Whole) d = Vec::load(from);
        else d = Vec::load(from, lanes);
        pin(d);
        ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
          if ((u - kx) % SX == 0 && u >= kx && (u - kx) / SX < kPixels) acc[(u - kx) / SX] = fma(d, taps[kx], acc[(u - kx) / SX]);
        }
      }
    }
  }
  ONNXC_UNROLL for (int t = 0; t < kPixels; ++t) {
    if (!Edge || t < count) {
      float* const out = y + (row + t) * p.y_pixel + channel;
      const Vec result =
          Whole ? finish_vector(epi, acc[t], row + t, channel, out) : finish_vector(epi, acc[t], row + t, channel, out, lanes);
      if constexpr (kSums) sum = sum + result;
    }
  }
}

/// Finds the image rows under the kernel for output row oy. Row iy begins at address(iy).
template <int KH, class Address>
ONNXC_INLINE void depthwise_lines(const float* (&lines)[KH], int64_t oy, const ConvParams& p, Address address) {
  for (int ky = 0; ky < KH; ++ky) {
    const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y;
    lines[ky] = iy >= 0 && iy < p.h ? address(iy) : nullptr;
  }
}

/// Computes row `line` of the output. On the way it prefetches what lies at `ahead`, `lines_ahead` cache lines a step.
template <int KH, int KW, int SX, int kPixels, bool kSums, bool Whole, int kPitch = 0, class Epi>
ONNXC_INLINE void depthwise_row(const float* const (&lines)[KH], const float* w, float* y, int64_t line, int64_t channel, int64_t lanes,
                                const float* ahead, int64_t lines_ahead, const ConvParams& p, const Epi& epi) {
  Vec weights[KH][KW];
  ONNXC_UNROLL for (int ky = 0; ky < KH; ++ky) {
    ONNXC_UNROLL for (int kx = 0; kx < KW; ++kx) {
      const float* const tap = w + (ky * KW + kx) * p.cout + channel;
      weights[ky][kx] = Whole ? Vec::load(tap) : Vec::load(tap, lanes);
    }
  }
  const Vec bias = p.bias == nullptr ? Vec::all(0.0f) : Whole ? Vec::load(p.bias + channel) : Vec::load(p.bias + channel, lanes);
  constexpr int kSpan = (kPixels - 1) * SX + KW;
  const int64_t row = line * p.ow;
  Vec sum = Vec::all(0.0f);
  for (int64_t ox = 0; ox < p.ow; ox += kPixels) {
    const int64_t left = ox * SX - p.pad_left, count = p.ow - ox;
    for (int64_t i = 0; i < lines_ahead; ++i, ahead += 16) __builtin_prefetch(ahead, 0, 2);
    if (left >= 0 && left + kSpan <= p.w && count >= kPixels)
      depthwise_step<KH, KW, SX, kPixels, kSums, false, Whole, kPitch>(lines, weights, bias, y, row + ox, ox, channel, count, lanes, sum, p,
                                                                       epi);
    else
      depthwise_step<KH, KW, SX, kPixels, kSums, true, Whole, kPitch>(lines, weights, bias, y, row + ox, ox, channel, count, lanes, sum, p,
                                                                      epi);
  }
  if constexpr (kSums) {
    float* const to = p.row_sums + line * p.cout + channel;
    if (Whole) sum.store(to);
    else sum.store(to, lanes);
  }
}

inline constexpr int kAnyPixels = contract::kDepthwiseAnyPixels, kAnyColumns = contract::kDepthwiseAnyColumns;

/// Computes kAnyPixels neighbours from column ox on, of which `count` are wanted, by a kernel whose size is known at
/// run time. The output row begins with pixel `row`. line_of(ky): the copied row under kernel row ky, in which column
/// ox is the `at`-th. Neighbouring taps go by fours, so a pixel is loaded once for up to four outputs.
template <bool Whole, class Line, class Epi>
ONNXC_INLINE void depthwise_any_pixels(Line line_of, const float* w, Vec bias, float* y, int64_t row, TapSpan wy, int64_t at, int64_t ox,
                                       int64_t count, int64_t channel, int64_t lanes, const ConvParams& p, const Epi& epi) {
  constexpr int kTaps = 4;
  const int64_t step = p.stride_x * Vec::width, near = p.stride_x == 1 && p.dilation_x == 1 ? p.kw / kTaps * kTaps : 0;
  const auto load = [&](const float* from) ONNXC_SMALL_LAMBDA { return Whole ? Vec::load(from) : Vec::load(from, lanes); };
  Vec acc[kAnyPixels];
  ONNXC_UNROLL for (int t = 0; t < kAnyPixels; ++t) acc[t] = bias;
  for (int64_t ky = wy.first; ky < wy.last; ++ky) {
    const float* line = line_of(ky) + at * step;
    const float* tap = w + ky * p.kw * p.cout + channel;
    int64_t kx = 0;
    for (; kx < near; kx += kTaps, line += kTaps * Vec::width, tap += kTaps * p.cout) {
      Vec taps[kTaps];
      ONNXC_UNROLL for (int k = 0; k < kTaps; ++k) taps[k] = load(tap + k * p.cout);
      ONNXC_UNROLL for (int u = 0; u < kAnyPixels + kTaps - 1; ++u) {
        Vec d = Vec::load(line + u * Vec::width);
        pin(d);
        ONNXC_UNROLL for (int k = 0; k < kTaps; ++k) {
          if (u >= k && u - k < kAnyPixels) acc[u - k] = fma(d, taps[k], acc[u - k]);
        }
      }
    }
    const float* third[(kAnyPixels + 2) / 3];  // so that all pixels are addressed from few registers
    ONNXC_UNROLL for (int g = 0; g < (kAnyPixels + 2) / 3; ++g) third[g] = line + 3 * g * step;
    for (; kx < p.kw; ++kx, tap += p.cout) {
      const Vec weight = load(tap);
      ONNXC_UNROLL for (const float*& pixel : third) pixel = opaque(pixel);
      ONNXC_UNROLL for (int t = 0; t < kAnyPixels; ++t) acc[t] = fma(Vec::load(third[t / 3] + t % 3 * step), weight, acc[t]);
      ONNXC_UNROLL for (const float*& pixel : third) pixel += p.dilation_x * Vec::width;
    }
  }
  ONNXC_UNROLL for (int t = 0; t < kAnyPixels; ++t) {
    if (t < count) finish_lanes(epi, acc[t], row + ox + t, channel, y + (row + ox + t) * p.y_pixel + channel, lanes);
  }
}

/// Computes columns [from, to) of output rows [first, last), `lanes` channels. `rows` keeps the image rows under the
/// kernel, each copied once with zeros on both sides.
template <bool Whole, class Epi>
ONNXC_INLINE void depthwise_any_rows(const float* x, const float* w, float* y, float* rows, int64_t first, int64_t last, int64_t from,
                                     int64_t to, int64_t channel, int64_t lanes, const ConvParams& p, const Epi& epi) {
  const Vec bias = p.bias == nullptr ? Vec::all(0.0f) : Whole ? Vec::load(p.bias + channel) : Vec::load(p.bias + channel, lanes);
  const int64_t span = contract::depthwise_any_span(to - from, p.kw, p.stride_x, p.dilation_x),
                held = contract::depthwise_any_rows(p.kh, p.dilation_y);
  const int64_t left = from * p.stride_x - p.pad_left;  // columns [begin, end) of a row lie in the image
  const int64_t begin = left >= 0      ? 0
                        : -left < span ? -left
                                       : span,
                end = left + span <= p.w   ? span
                      : p.w - left > begin ? p.w - left
                                           : begin;
  int64_t copied = 0;  // the rows of this image before it are copied already, or not needed any more
  for (int64_t line = first; line < last; ++line) {
    const int64_t oy = line % p.oh, top = oy * p.stride_y - p.pad_top, below = top + held < p.h ? top + held : int64_t{p.h};
    if (line == first || oy == 0) copied = 0;
    if (copied < top) copied = top;
    const int64_t place = (top % held + held) % held;  // the slot of row `top`: row iy is in slot iy % held
    const auto slot = [&](int64_t down) ONNXC_SMALL_LAMBDA {
      return rows + (place + down < held ? place + down : place + down - held) * span * Vec::width;
    };
    for (; copied < below; ++copied) {
      const float* const source = x + ((line / p.oh * p.h + copied) * p.w + left) * p.x_pixel + channel;
      float* const padded = slot(copied - top);
      int64_t i = 0;
      for (; i < begin; ++i) Vec::all(0.0f).store(padded + i * Vec::width);
      for (; i < end; ++i)
        (Whole ? Vec::load(source + i * p.x_pixel) : Vec::load(source + i * p.x_pixel, lanes)).store(padded + i * Vec::width);
      for (; i < span; ++i) Vec::all(0.0f).store(padded + i * Vec::width);
    }
    const TapSpan wy(top, p.kh, p.dilation_y, 0, p.h);
    const auto line_of = [&](int64_t ky) ONNXC_SMALL_LAMBDA { return slot(ky * p.dilation_y); };
    for (int64_t ox = from; ox < to; ox += kAnyPixels)
      depthwise_any_pixels<Whole>(line_of, w, bias, y, line * p.ow, wy, ox - from, ox, to - ox, channel, lanes, p, epi);
  }
}

}  // namespace detail

/// See the head of the file. dilation_x is 1. x must not overlap y.
template <int KH, int KW, int SX, int kPixels = 7, bool kSums = false, class Epi = Epilogue<Keep>>
void depthwise(Share share, const float* x, const float* w, float* y, ConvParams p, Epi epi = {}) {
  const auto [first, last] = share.slice(p.n * p.oh);
  const bool large = !ONNXC_MICRO && p.h * p.w * p.x_pixel > int64_t{1} << 18;
  const int64_t block = large ? int64_t{p.cout} : 4 * Vec::width, groups = (p.ow + kPixels - 1) / kPixels, steps = groups * vectors(p.cout);
  const int64_t lines_ahead = large ? (p.stride_y * p.w * p.x_pixel / 16 + steps - 1) / steps : 0;
  for (int64_t from = 0; from < p.cout; from += block) {
    const int64_t to = from + block < p.cout ? from + block : int64_t{p.cout};
    for (int64_t line = first; line < last; ++line) {
      const float* const image = x + line / p.oh * p.h * p.w * p.x_pixel;
      const int64_t oy = line % p.oh;
      const float* lines[KH];
      detail::depthwise_lines<KH>(lines, oy, p, [&](int64_t iy) ONNXC_SMALL_LAMBDA { return image + iy * p.w * p.x_pixel; });
      const float* ahead = image + (oy * p.stride_y - p.pad_top + KH) * p.w * p.x_pixel;
      int64_t channel = from;
      for (; channel + Vec::width <= to; channel += Vec::width, ahead += groups * lines_ahead * 16)
        detail::depthwise_row<KH, KW, SX, kPixels, kSums, true>(lines, w, y, line, channel, Vec::width, ahead, lines_ahead, p, epi);
      if (channel < to)
        detail::depthwise_row<KH, KW, SX, kPixels, kSums, false>(lines, w, y, line, channel, to - channel, ahead, lines_ahead, p, epi);
    }
  }
}

/// Floats of scratch that depthwise_any needs for one share.
constexpr int64_t depthwise_any_scratch(int64_t kh, int64_t kw, int64_t stride_x, int64_t dilation_y, int64_t dilation_x) {
  return contract::depthwise_any_scratch(kh, kw, stride_x, dilation_y, dilation_x, Vec::width);
}

/// Any kernel, stride and dilation. rows: depthwise_any_scratch floats of this share.
template <class Epi = Epilogue<Keep>>
void depthwise_any(Share share, const float* x, const float* w, float* y, float* rows, ConvParams p, Epi epi = {}) {
  const int64_t lines = p.n * p.oh;
  const bool by_lines = lines >= share.count;  // signals have one line: their channels are shared out
  const auto [first, last] = by_lines ? share.slice(lines) : Share::Range{0, lines};
  const auto [first_vector, last_vector] = by_lines ? Share::Range{0, vectors(p.cout)} : share.slice(vectors(p.cout));
  for (int64_t from = 0; from < p.ow; from += detail::kAnyColumns) {
    const int64_t to = from + detail::kAnyColumns < p.ow ? from + detail::kAnyColumns : int64_t{p.ow};
    for (int64_t channel = first_vector * Vec::width; channel < last_vector * Vec::width; channel += Vec::width) {
      const int64_t lanes = p.cout - channel;
      if (lanes >= Vec::width) detail::depthwise_any_rows<true>(x, w, y, rows, first, last, from, to, channel, Vec::width, p, epi);
      else detail::depthwise_any_rows<false>(x, w, y, rows, first, last, from, to, channel, lanes, p, epi);
    }
  }
}

}  // namespace onnxc
