// Winograd's convolutions against a loop in double, within the error allowed for any sum of so many products.
#include <onnxc/winograd.hpp>
#include <onnxc/winograd_line.hpp>
#include <onnxc/winograd_stride2.hpp>

#include "compiler/select/weights/pack.h"
#include "conv_loop.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// With stride S.
template <int T, int R, int MR, int NV, bool untransformed = false, int S = 1>
void check_winograd(ConvParams p, int64_t pad_end, int64_t block, int threads = 1, bool spoilt = false) {
  const int nr = NV * Vec::width;
  p.kh = p.kw = R;
  p.stride_y = p.stride_x = S;
  p.oh = out_size(p.h, R, S, 1, p.pad_top + pad_end);
  p.ow = out_size(p.w, R, S, 1, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  auto x = image(p);
  if (spoilt) spoil(x, p);
  const auto w = numbers(p.cout * p.cin * R * R, 2), bias = numbers(p.cout, 3);
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin, .kh = R, .kw = R, .nr = nr};
  const Aligned packed(untransformed ? pack::conv_stem(w, shape)
                       : S == 1      ? pack::winograd(w, shape, T)
                                     : pack::winograd_stride2(w, shape, T));
  const auto room = [&] {
    if constexpr (S == 1) return winograd_scratch<T, R, NV, untransformed>(p.cin, block);
    else return winograd_stride2_scratch<T, NV, untransformed>(p.cin, block);
  };
  const Aligned packed_bias(pack::padded(bias, nr));
  const Scratch scratch(threads, room());
  p.bias = packed_bias;
  const auto run = [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
    if constexpr (S == 1) winograd<T, R, MR, NV, untransformed>(share, in, packed.p, y, scratch.of(share.index), q, block, epi);
    else winograd_stride2<T, MR, NV, untransformed>(share, in, packed.p, y, scratch.of(share.index), q, block, epi);
  };
  if (spoilt) return check_spoilt(p, threads, x, w, bias, run);
  check(p, threads, x, bias, run, [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
}

template <int T, int R, int MR, int NV, bool down = false>
void check_winograd_line(ConvParams p, int64_t pad_end, int64_t lines, int64_t width, int threads = 1, int64_t length = R,
                         bool spoilt = false) {
  const int nr = NV * Vec::width;
  (down ? p.kh : p.kw) = length;
  p.oh = out_size(p.h, p.kh, 1, p.dilation_y, p.pad_top + (down ? pad_end : int64_t{p.pad_top}));
  p.ow = out_size(p.w, p.kw, 1, p.dilation_x, p.pad_left + (down ? int64_t{p.pad_left} : pad_end));
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  auto x = image(p);
  if (spoilt) spoil(x, p);
  const auto w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const Aligned packed(pack::winograd_line(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = nr}, T, R, down)),
      packed_bias(pack::padded(bias, nr));
  const int64_t taps = down ? p.kw : p.kh, dilation = down ? p.dilation_x : p.dilation_y;
  const Scratch scratch(threads, winograd_line_scratch<T, R, NV>(p.cin, taps, dilation, lines, width, length));
  p.bias = packed_bias;
  const auto run = [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
    winograd_line<T, R, MR, NV, down>(share, in, packed, y, scratch.of(share.index), q, lines, width, epi);
  };
  if (spoilt) return check_spoilt(p, threads, x, w, bias, run);
  check(p, threads, x, bias, run, [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
}

template <int T, int MR, int NV, bool untransformed = false>
void check_winograd_stride2(ConvParams p, int64_t pad_end, int64_t block, int threads = 1, bool spoilt = false) {
  check_winograd<T, 3, MR, NV, untransformed, 2>(p, pad_end, block, threads, spoilt);
}

}  // namespace

TEST_CASE("winograd agrees with the loop") {
  check_winograd<4, 3, 14, 2>({.h = 16, .w = 16, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 28);
  check_winograd<4, 3, 14, 2>({.n = 2, .h = 13, .w = 7, .cin = 37, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2);
  check_winograd<4, 3, 14, 2>({.h = 33, .w = 50, .cin = 20, .cout = 7, .pad_top = 0, .pad_left = 2}, 0, 21, 3);
  check_winograd<2, 3, 14, 2>({.h = 7, .w = 7, .cin = 40, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
  check_winograd<2, 3, 6, 2>({.h = 9, .w = 8, .cin = 15, .cout = 17}, 0, 7);
  check_winograd<4, 3, 6, 2>({.h = 9, .w = 8, .cin = 15, .cout = 17, .pad_top = 1, .pad_left = 1}, 1, 100);
  check_winograd<4, 3, 7, 3>({.h = 14, .w = 13, .cin = 48, .cout = 90, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
  check_winograd<4, 3, 6, 3>({.h = 13, .w = 13, .cin = 20, .cout = 48, .pad_top = 1, .pad_left = 1}, 1, 16);
  check_winograd<2, 3, 4, 4>({.h = 7, .w = 7, .cin = 40, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
  check_winograd<3, 4, 8, 1>({.h = 12, .w = 10, .cin = 12, .cout = 16, .pad_top = 1, .pad_left = 1}, 2, 16);
  check_winograd<3, 4, 7, 4>({.n = 2, .h = 13, .w = 7, .cin = 37, .cout = 41, .pad_top = 2, .pad_left = 1}, 1, 10, 2);
}

TEST_CASE("winograd with untransformed weights agrees with the loop") {
  check_winograd<4, 3, 14, 2, true>({.h = 16, .w = 16, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 28);
  check_winograd<4, 3, 8, 2, true>({.n = 2, .h = 13, .w = 7, .cin = 137, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2);
  check_winograd<2, 3, 8, 2, true>({.h = 7, .w = 7, .cin = 64, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
  check_winograd<2, 3, 7, 4, true>({.h = 7, .w = 7, .cin = 65, .cout = 130, .pad_top = 1, .pad_left = 1}, 1, 16, 3);
  check_winograd<2, 3, 6, 2, true>({.h = 9, .w = 8, .cin = 15, .cout = 17}, 0, 7);
  check_winograd<3, 4, 8, 1, true>({.h = 12, .w = 10, .cin = 70, .cout = 16, .pad_top = 1, .pad_left = 1}, 2, 16, 2);
}

TEST_CASE("winograd along lines agrees with the loop") {
  check_winograd_line<4, 3, 14, 2>({.n = 2, .h = 13, .w = 11, .cin = 37, .cout = 41, .kh = 3, .pad_top = 1, .pad_left = 1}, 1, 4, 3, 2);
  check_winograd_line<4, 3, 7, 4>({.w = 100, .cin = 20, .cout = 7, .kh = 1, .pad_left = 2}, 0, 1, 10, 3);
  check_winograd_line<4, 3, 14, 2>({.n = 2, .w = 61, .cin = 16, .cout = 32, .kh = 1, .dilation_x = 4, .pad_left = 4}, 4, 1, 9);
  check_winograd_line<4, 3, 6, 2>({.h = 3, .w = 2, .cin = 15, .cout = 17, .kh = 2, .pad_left = 1}, 1, 5, 7);
  check_winograd_line<4, 3, 8, 1>(
      {.h = 12, .w = 20, .cin = 9, .cout = 17, .kh = 5, .dilation_y = 2, .dilation_x = 3, .pad_top = 3, .pad_left = 1}, 2, 2, 3, 2);
  check_winograd_line<4, 3, 14, 2>({.n = 2, .w = 70, .cin = 20, .cout = 33, .kh = 1, .pad_left = 7}, 7, 1, 6, 2, 15);
  check_winograd_line<4, 3, 7, 4>({.h = 5, .w = 40, .cin = 16, .cout = 64, .kh = 1, .dilation_x = 2, .pad_left = 3}, 4, 2, 8, 1, 8);
  check_winograd_line<4, 3, 7, 4, true>({.h = 31, .w = 6, .cin = 9, .cout = 12, .kw = 1, .pad_top = 5}, 5, 3, 7, 2, 11);
  check_winograd_line<4, 3, 8, 1, true>({.h = 3, .w = 5, .cin = 9, .cout = 7, .kw = 1, .pad_top = 2}, 2, 2, 1, 1, 5);
  check_winograd_line<4, 3, 14, 2, true>(
      {.n = 2, .h = 19, .w = 12, .cin = 19, .cout = 33, .kw = 4, .dilation_y = 2, .dilation_x = 2, .pad_top = 1, .pad_left = 3}, 2, 2, 3,
      2);
}

TEST_CASE("winograd of stride 2 agrees with the loop") {
  check_winograd_stride2<4, 14, 2>({.h = 32, .w = 32, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 16);
  check_winograd_stride2<4, 7, 4>({.n = 2, .h = 25, .w = 13, .cin = 37, .cout = 65, .pad_top = 1, .pad_left = 1}, 1, 10, 2);
  check_winograd_stride2<4, 8, 1>({.h = 17, .w = 30, .cin = 20, .cout = 7, .pad_left = 2}, 0, 5, 3);
  check_winograd_stride2<4, 8, 2>({.h = 8, .w = 5, .cin = 15, .cout = 17}, 1, 100);
  check_winograd_stride2<2, 14, 2>({.h = 28, .w = 28, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 28);
  check_winograd_stride2<2, 7, 4>({.n = 2, .h = 13, .w = 7, .cin = 37, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2);
  check_winograd_stride2<2, 4, 4>({.h = 14, .w = 14, .cin = 40, .cout = 130}, 1, 16, 3);
  check_winograd_stride2<2, 8, 1>({.h = 3, .w = 6, .cin = 9, .cout = 7, .pad_top = 2}, 0, 3);
  check_winograd_stride2<4, 7, 4, true>({.h = 33, .w = 25, .cin = 70, .cout = 48, .pad_top = 1, .pad_left = 1}, 1, 14, 2);
  check_winograd_stride2<2, 8, 2, true>({.h = 14, .w = 14, .cin = 137, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
}

TEST_CASE("winograd leaves infinities, NaN and outliers where they are") {
  check_winograd<4, 3, 14, 2>({.n = 2, .h = 33, .w = 29, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 28, 2, true);
  check_winograd<4, 3, 8, 2, true>({.h = 30, .w = 31, .cin = 37, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2, true);
  check_winograd<4, 3, 6, 2>({.h = 40, .w = 41, .cin = 8, .cout = 17}, 0, 100, 1, true);
  check_winograd<2, 3, 7, 4>({.h = 29, .w = 17, .cin = 40, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 2, true);
  check_winograd<2, 3, 8, 2, true>({.h = 27, .w = 27, .cin = 64, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 1, true);
  check_winograd<3, 4, 8, 1>({.h = 32, .w = 30, .cin = 12, .cout = 16, .pad_top = 1, .pad_left = 1}, 2, 16, 2, true);
  check_winograd<3, 4, 8, 1, true>({.h = 42, .w = 30, .cin = 9, .cout = 16, .pad_top = 2, .pad_left = 1}, 1, 16, 1, true);
  check_winograd_stride2<4, 14, 2>({.h = 52, .w = 52, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 16, 2, true);
  check_winograd_stride2<4, 8, 1, true>({.n = 2, .h = 47, .w = 40, .cin = 20, .cout = 7, .pad_left = 2}, 0, 5, 1, true);
  check_winograd_stride2<2, 7, 4>({.n = 2, .h = 33, .w = 27, .cin = 37, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2, true);
  check_winograd_stride2<2, 8, 2, true>({.h = 34, .w = 34, .cin = 17, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 16, 1, true);
}

TEST_CASE("winograd along lines leaves infinities, NaN and outliers where they are") {
  check_winograd_line<4, 3, 14, 2>({.n = 2, .h = 23, .w = 31, .cin = 37, .cout = 41, .kh = 3, .pad_top = 1, .pad_left = 1}, 1, 4, 3, 2, 3,
                                   true);
  check_winograd_line<4, 3, 14, 2>({.n = 2, .w = 161, .cin = 16, .cout = 32, .kh = 1, .dilation_x = 4, .pad_left = 4}, 4, 1, 9, 1, 3, true);
  check_winograd_line<4, 3, 14, 2>({.n = 2, .w = 170, .cin = 20, .cout = 33, .kh = 1, .pad_left = 7}, 7, 1, 6, 2, 15, true);
  check_winograd_line<4, 3, 7, 4, true>({.h = 37, .w = 21, .cin = 40, .cout = 64, .kw = 1, .pad_top = 3}, 3, 6, 9, 2, 7, true);
  check_winograd_line<4, 3, 7, 4, true>(
      {.n = 2, .h = 29, .w = 22, .cin = 19, .cout = 33, .kw = 4, .dilation_y = 2, .dilation_x = 2, .pad_top = 1, .pad_left = 3}, 2, 2, 3, 2,
      3, true);
}
