// Convolutions against a loop in double: strides, pads, dilations, groups, channel and pixel tails, pitches, threads,
// guard values.
#include <onnxc/conv_planar.hpp>
#include <onnxc/conv_stem.hpp>
#include <onnxc/conv_transpose.hpp>
#include <onnxc/conv_windows.hpp>
#include <onnxc/stem_winograd.hpp>

#include "compiler/select/weights/pack.h"
#include "conv_loop.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

template <int MR, int NV, bool kPairs = false>
void check_conv(ConvParams p, int64_t pad_bottom, int64_t pad_right, int threads = 1) {
  constexpr int nr = Tile<MR, NV, kPairs>::NR;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_bottom);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_right);
  if (p.x_pixel == 0) p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin / p.group, .kh = p.kh, .kw = p.kw, .group = p.group, .nr = nr};
  const auto x = image(p), w = numbers(p.cout * shape.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const Aligned packed(kPairs ? pack::pairs(pack::conv(w, shape), nr, Vec::width) : pack::conv(w, shape)),
      packed_bias(pack::conv_bias(bias, shape));
  p.bias = packed_bias;
  const Aligned sums(std::vector<float>(size_t(threads * 3 * MR * nr)));
  for (const int64_t steps : {0, 1, 4, 7, 1100}) {  // in one go, and in slices of k
    check(
        p, threads, x, bias,
        [&](Share share, const float* in, float* y, auto epi, ConvParams q) {
          q.slices = {sums.p + share.index * 3 * MR * nr, steps, 3 * MR};
          conv<MR, NV, kPairs>(share, in, packed.p, y, q, epi);
        },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  }
  if constexpr (!kPairs) {
    const Scratch windows(threads, contract::window_floats(MR, shape.cin * p.kh * p.kw));
    check(
        p, threads, x, bias,
        [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
          conv_windows<MR, NV>(share, in, packed.p, y, windows.of(share.index), q, epi);
        },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  }
}

template <int MR, int NV>
void check_transposed(ConvParams p, int64_t out_pad, int64_t pad_end, int threads = 1) {
  const int nr = NV * Vec::width;
  p.oh = (p.h - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1 - p.pad_top - pad_end + out_pad;
  p.ow = (p.w - 1) * p.stride_x + (p.kw - 1) * p.dilation_x + 1 - p.pad_left - pad_end + out_pad;
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin / p.group, .kh = p.kh, .kw = p.kw, .group = p.group, .nr = nr};
  const auto x = image(p), w = numbers(p.cin * (p.cout / p.group) * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const Aligned packed(pack::conv_transpose(w, shape)), packed_bias(pack::conv_bias(bias, shape));
  p.bias = packed_bias;
  check(
      p, threads, x, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) { conv_transpose<MR, NV>(share, in, packed, y, q, epi); },
      [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact_transposed(x, w, p, n, oy, ox, co); });
}

std::vector<float> to_planar(const std::vector<float>& x, int64_t images, int64_t channels, int64_t pixels) {
  std::vector<float> planar(x.size());
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < pixels; ++i) planar[size_t((n * channels + c) * pixels + i)] = x[size_t((n * pixels + i) * channels + c)];
    }
  }
  return planar;
}

/// The same images planar, for a planar answer; R rows at a time. `pooled`: with a 2x2 pool after the convolution.
template <int MR, int NV, int R, bool pooled = false>
void check_planar(ConvParams p, int64_t pad_end, int threads = 1) {
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  ConvParams last = p;
  last.x_pixel = p.cin;
  const auto x = image(last), w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const std::vector<float> planar = to_planar(x, p.n, p.cin, p.h * p.w);
  const auto packed = pack::conv_stem(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = MR});
  p.bias = bias.data();
  const int64_t side = pooled ? 2 : 1, height = p.oh / side, width = p.ow / side, pixels = height * width;
  const Scratch scratch(threads, conv_planar_scratch<NV>(p));
  std::vector<float> y(size_t(p.n * p.cout * pixels) + 1, kGuard);
  const auto residual = numbers(p.n * p.cout * pixels, 9);
  const Epilogue<AddRelu, Rows<float>> add{{residual.data(), pixels}};
  for (int i = threads; i-- > 0;) {
    if constexpr (pooled)
      conv_planar_pool<MR, NV>(Share{i, threads}, planar.data(), packed.data(), y.data(), scratch.of(i), p, Epilogue<Negate>{}, add);
    else conv_planar<MR, NV, R>(Share{i, threads}, planar.data(), packed.data(), y.data(), scratch.of(i), p, add);
  }
  int64_t wrong = y.back() != kGuard;
  for (int64_t i = 0; i < p.n * p.cout * pixels; ++i) {
    const int64_t n = i / pixels / p.cout, co = i / pixels % p.cout, oy = i % pixels / width, ox = i % width;
    const auto result = [&](int64_t down, int64_t right) {
      return exact(x, w, last, n, oy * side + down, ox * side + right, co) + double(bias[size_t(co)]);
    };
    double value = result(0, 0);
    if (pooled) value = -std::fmin(std::fmin(value, result(0, 1)), std::fmin(result(1, 0), result(1, 1)));
    value += double(residual[size_t(i)]);
    wrong += !(std::fabs(y[size_t(i)] - std::fmax(value, 0.0)) <= sum_tolerance(p.kh * p.kw * p.cin));
  }
  CHECK(wrong == 0);
}

template <int MR, int NV, int SX, bool kPairs = false, bool kResidual = true>
void check_stem(ConvParams p, int64_t pad_end, int threads = 1) {
  constexpr int nr = Tile<MR, NV, kPairs>::NR;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.y_pixel = p.cout + (kResidual ? 5 : 0);
  ConvParams last = p;  // the same image channels-last, for the answer
  last.x_pixel = p.cin;
  const auto x = image(last), w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const std::vector<float> planar = to_planar(x, p.n, p.cin, p.h * p.w);
  const auto panels = pack::conv_stem(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = nr});
  const Aligned packed(kPairs ? pack::pairs(panels, nr, Vec::width, p.kw) : panels), packed_bias(pack::padded(bias, nr));
  p.bias = packed_bias;
  check<kResidual>(
      p, threads, planar, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
        conv_stem<MR, NV, SX, kPairs>(share, in, packed, y, q, epi);
      },
      [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, last, n, oy, ox, co); });
  const Scratch copies(threads, contract::stem_scratch(p.cin, p.kh, contract::inputs_under(MR, p.stride_x, p.kw, p.dilation_x)));
  check<kResidual>(
      p, threads, planar, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
        conv_stem<MR, NV, SX, kPairs>(share, in, packed, y, copies.of(share.index), q, epi);
      },
      [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, last, n, oy, ox, co); });
}

template <int T, int R, int P, int SX, bool kResidual = true>
void check_stem_winograd(ConvParams p, int64_t pad_end, int threads = 1, bool spoilt = false) {
  p.stride_x = SX;
  p.oh = out_size(p.h, p.kh, p.stride_y, 1, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, SX, 1, p.pad_left + pad_end);
  p.y_pixel = p.cout + (kResidual ? 5 : 0);
  ConvParams last = p;  // the same image channels-last, for the answer
  last.x_pixel = p.cin;
  auto x = image(last);
  if (spoilt) spoil(x, last);
  const auto w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const std::vector<float> planar = to_planar(x, p.n, p.cin, p.h * p.w);
  const Aligned packed(pack::stem_winograd(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = Vec::width}, T, R, p.stride_y)),
      packed_bias(pack::padded(bias, Vec::width));
  const Scratch scratch(threads, stem_winograd_scratch<T, R, P>(p));
  p.bias = last.bias = packed_bias;
  const auto run = [&](Share share, const float*, float* y, auto epi, const ConvParams& q) {
    stem_winograd<T, R, P, SX>(share, planar.data(), packed.p, y, scratch.of(share.index), q, epi);
  };
  if (spoilt) return check_spoilt(last, threads, x, w, bias, run);
  check<kResidual>(p, threads, planar, bias, run,
                   [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, last, n, oy, ox, co); });
}

}  // namespace

TEST_CASE("conv agrees with the loop") {
  check_conv<14, 2>({.h = 9, .w = 9, .cin = 5, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<14, 2>({.h = 30, .w = 40, .cin = 8, .cout = 32, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 8}, 1, 1, 3);
  check_conv<14, 2>(
      {.n = 2, .h = 7, .w = 7, .cin = 16, .cout = 70, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 1,
      2);
  check_conv<14, 2>({.h = 7, .w = 7, .cin = 16, .cout = 20, .stride_y = 2, .stride_x = 2}, 0, 0);
  check_conv<14, 2>({.h = 11,
                     .w = 13,
                     .cin = 3,
                     .cout = 17,
                     .kh = 5,
                     .kw = 3,
                     .stride_y = 1,
                     .stride_x = 3,
                     .dilation_y = 2,
                     .dilation_x = 1,
                     .pad_top = 4,
                     .pad_left = 0},
                    2, 1);
  check_conv<14, 2>({.h = 12, .w = 12, .cin = 12, .cout = 18, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .group = 3}, 1, 1, 2);
  check_conv<14, 2>({.h = 6, .w = 6, .cin = 6, .cout = 12, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .group = 6, .x_pixel = 6}, 1, 1);
  check_conv<14, 2>({.w = 50, .cin = 7, .cout = 9, .kw = 5, .dilation_x = 3, .pad_left = 12}, 0, 0);
  check_conv<14, 2>({.h = 2, .w = 2, .cin = 4, .cout = 5, .kh = 3, .kw = 3, .pad_top = 4, .pad_left = 4}, 4, 4);
  check_conv<8, 2, kHasPairs>({.h = 9, .w = 9, .cin = 6, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<8, 3, kHasPairs>({.h = 30, .w = 24, .cin = 8, .cout = 40, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 8}, 1, 1,
                              3);
  check_conv<14, 1, kHasPairs>(
      {.h = 12, .w = 12, .cin = 12, .cout = 18, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1, .group = 3}, 1,
      1, 2);
  check_conv<7, 2, kHasPairs>({.w = 50, .cin = 14, .cout = 9, .kw = 5, .dilation_x = 3, .pad_left = 12}, 0, 0);
  check_conv<14, 2>({.h = 3, .w = 4, .cin = 2500, .cout = 5, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<6, 2>({.h = 9, .w = 9, .cin = 5, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<6, 4>({.h = 9, .w = 9, .cin = 16, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 16}, 1, 1);
  check_conv<8, 3>({.h = 8, .w = 9, .cin = 5, .cout = 37, .kh = 2, .kw = 2}, 1, 1, 5);
  check_conv<3, 2>({.h = 1, .w = 1, .cin = 5, .cout = 100, .kh = 1, .kw = 1}, 0, 0, 2);
}

TEST_CASE("conv_transpose agrees with the loop") {
  check_transposed<14, 2>({.h = 5, .w = 6, .cin = 7, .cout = 19, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2}, 0, 0, 2);
  check_transposed<14, 2>(
      {.n = 2, .h = 5, .w = 6, .cin = 7, .cout = 33, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 1, 3);
  check_transposed<14, 2>(
      {.h = 5, .w = 6, .cin = 6, .cout = 4, .kh = 4, .kw = 3, .stride_y = 3, .stride_x = 2, .dilation_y = 2, .dilation_x = 3, .group = 2},
      1, 0);
  check_transposed<14, 2>({.h = 4, .w = 4, .cin = 3, .cout = 4, .kh = 2, .kw = 2, .stride_y = 4, .stride_x = 4}, 2, 0);
  check_transposed<6, 2>({.w = 9, .cin = 3, .cout = 4, .kw = 5, .pad_left = 2}, 0, 0);
  check_transposed<14, 2>({.h = 4,
                           .w = 4,
                           .cin = 3,
                           .cout = 4,
                           .kh = 3,
                           .kw = 3,
                           .stride_y = 2,
                           .stride_x = 2,
                           .dilation_y = 2,
                           .dilation_x = 2,
                           .pad_top = 2,
                           .pad_left = 2},
                          1, 2);
  for (int threads : {1, 2, 3})
    check_transposed<6, 2>(
        {.n = 2, .h = 8, .w = 72, .cin = 64, .cout = 20, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 1,
        threads);  // several bands
}

TEST_CASE("conv_stem agrees with the loop") {
  check_stem<14, 2, 2>(
      {.h = 32, .w = 45, .cin = 3, .cout = 64, .kh = 7, .kw = 7, .stride_y = 2, .stride_x = 2, .pad_top = 3, .pad_left = 3}, 3, 2);
  check_stem<14, 2, 2>(
      {.n = 2, .h = 20, .w = 70, .cin = 3, .cout = 35, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1);
  check_stem<14, 2, 1>({.h = 9, .w = 9, .cin = 1, .cout = 16, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_stem<14, 2, 0>({.h = 12, .w = 50, .cin = 4, .cout = 7, .kh = 3, .kw = 3, .dilation_y = 2, .dilation_x = 2}, 0);
  check_stem<6, 2, 1>({.h = 9, .w = 30, .cin = 3, .cout = 20, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_stem<14, 1, 0>({.h = 9, .w = 40, .cin = 1, .cout = 9, .kh = 3, .kw = 5, .stride_x = 5}, 0);
  check_stem<14, 1, 2, kHasPairs>(
      {.h = 20, .w = 70, .cin = 3, .cout = 8, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1);
  check_stem<8, 2, 1, kHasPairs>({.n = 2, .h = 9, .w = 41, .cin = 2, .cout = 47, .kh = 3, .kw = 4, .pad_top = 1, .pad_left = 2}, 1, 3);
  check_stem<5, 1, 3, kHasPairs>({.h = 9, .w = 96, .cin = 1, .cout = 5, .kh = 3, .kw = 9, .stride_x = 3, .pad_top = 1, .pad_left = 3}, 3);
  for (const int64_t w : {38, 40, 41, 97}) {
    check_stem<14, 1, 2, kHasPairs, false>({.h = 11,
                                            .w = w,
                                            .cin = 2,
                                            .cout = (Vec::width + 1) / 2,
                                            .kh = 3,
                                            .kw = 3,
                                            .stride_y = 2,
                                            .stride_x = 2,
                                            .pad_top = 1,
                                            .pad_left = 1},
                                           1, 2);
    check_stem<5, 1, 1, kHasPairs, false>({.h = 4, .w = w, .cin = 1, .cout = (Vec::width + 1) / 2, .kh = 2, .kw = 4}, 0);
  }
  check_stem<2, 1, 1, kHasPairs>({.h = 5, .w = 4, .cin = 2, .cout = 3, .kh = 2, .kw = 1}, 0);
  check_stem<14, 2, 2>(
      {.h = 40, .w = 300, .cin = 4, .cout = 40, .kh = 11, .kw = 11, .stride_y = 2, .stride_x = 2, .pad_top = 5, .pad_left = 5}, 5);
  check_stem<6, 4, 4>(
      {.h = 40, .w = 40, .cin = 3, .cout = 64, .kh = 11, .kw = 11, .stride_y = 4, .stride_x = 4, .pad_top = 2, .pad_left = 2}, 2);
}

TEST_CASE("stem_winograd agrees with the loop") {
  check_stem_winograd<5, 4, 3, 2>({.h = 32, .w = 45, .cin = 3, .cout = 64, .kh = 7, .kw = 7, .stride_y = 2, .pad_top = 3, .pad_left = 3}, 3,
                                  2);
  check_stem_winograd<3, 4, 5, 2>(
      {.n = 2, .h = 31, .w = 64, .cin = 3, .cout = 35, .kh = 7, .kw = 7, .stride_y = 2, .pad_top = 3, .pad_left = 3}, 2, 3);
  check_stem_winograd<3, 4, 4, 2>({.h = 9, .w = 7, .cin = 2, .cout = 16, .kh = 8, .kw = 3, .stride_y = 2, .pad_top = 1, .pad_left = 1}, 4);
  check_stem_winograd<4, 3, 5, 1>({.n = 2, .h = 14, .w = 33, .cin = 3, .cout = 20, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 2);
  check_stem_winograd<6, 3, 3, 1, false>({.h = 13, .w = 16, .cin = 3, .cout = 32, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1);
  check_stem_winograd<2, 5, 5, 2>({.h = 49, .w = 10, .cin = 1, .cout = 64, .kh = 10, .kw = 4, .stride_y = 2, .pad_top = 4, .pad_left = 1},
                                  1);
  check_stem_winograd<4, 5, 3, 2, false>(
      {.n = 3, .h = 49, .w = 10, .cin = 1, .cout = 48, .kh = 10, .kw = 4, .stride_y = 2, .pad_top = 4, .pad_left = 1}, 1, 2);
  check_stem_winograd<4, 5, 3, 1>({.h = 3, .w = 2, .cin = 1, .cout = 9, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_stem_winograd<4, 5, 3, 1>({.h = 12, .w = 40, .cin = 1, .cout = 17, .kh = 9, .kw = 9, .pad_top = 4, .pad_left = 4}, 4,
                                  2);  // pieces of 5 and 4
  check_stem_winograd<4, 3, 4, 4>({.h = 43, .w = 43, .cin = 3, .cout = 40, .kh = 11, .kw = 11, .stride_y = 4, .pad_top = 2, .pad_left = 2},
                                  2);  // phases of 3, 3, 3 and 2
  check_stem_winograd<2, 5, 4, 3>({.h = 30, .w = 60, .cin = 2, .cout = 33, .kh = 14, .kw = 5, .stride_y = 1, .pad_top = 20, .pad_left = 17},
                                  3);  // pads beyond the kernel
  check_stem_winograd<4, 3, 4, 1>({.h = 5, .w = 31, .cin = 4, .cout = 16, .kh = 3, .kw = 1}, 0);
}

TEST_CASE("stem_winograd leaves infinities, NaN and outliers where they are") {
  check_stem_winograd<5, 4, 3, 2>(
      {.n = 2, .h = 62, .w = 65, .cin = 3, .cout = 64, .kh = 7, .kw = 7, .stride_y = 2, .pad_top = 3, .pad_left = 3}, 3, 2, true);
  check_stem_winograd<4, 3, 5, 1>({.n = 2, .h = 44, .w = 33, .cin = 3, .cout = 20, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 2,
                                  true);
  check_stem_winograd<6, 3, 3, 1>({.h = 43, .w = 56, .cin = 3, .cout = 32, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1, true);
  check_stem_winograd<2, 5, 5, 2>({.h = 89, .w = 30, .cin = 1, .cout = 64, .kh = 10, .kw = 4, .stride_y = 2, .pad_top = 4, .pad_left = 1},
                                  1, 1, true);
  check_stem_winograd<4, 5, 3, 1>({.h = 62, .w = 40, .cin = 1, .cout = 17, .kh = 9, .kw = 9, .pad_top = 4, .pad_left = 4}, 4, 2, true);
  check_stem_winograd<4, 3, 4, 4>({.h = 63, .w = 43, .cin = 3, .cout = 40, .kh = 11, .kw = 11, .stride_y = 4, .pad_top = 2, .pad_left = 2},
                                  2, 1, true);
}

TEST_CASE("conv_planar agrees with the loop") {
  check_planar<6, 2, 1>({.h = 28, .w = 28, .cin = 1, .cout = 6, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_planar<6, 2, 2>({.h = 27, .w = 28, .cin = 1, .cout = 6, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2, 2);
  check_planar<3, 2, 2>({.n = 2, .h = 40, .w = 75, .cin = 3, .cout = 3, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_planar<1, 1, 2>({.h = 9, .w = 10, .cin = 2, .cout = 1, .kh = 4, .kw = 3, .stride_y = 2, .dilation_y = 2, .dilation_x = 3}, 0);
  check_planar<2, 1, 1>({.h = 3, .w = 4, .cin = 2, .cout = 2, .kh = 7, .kw = 19, .pad_top = 5, .pad_left = 17}, 9);
  check_planar<8, 3, 1>({.h = 12, .w = 50, .cin = 8, .cout = 8, .kh = 1, .kw = 7, .pad_left = 6}, 0, 5);
}

TEST_CASE("conv_planar_pool agrees with the loop") {
  check_planar<6, 2, 2, true>({.h = 28, .w = 28, .cin = 1, .cout = 6, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_planar<3, 2, 2, true>({.n = 2, .h = 41, .w = 75, .cin = 3, .cout = 3, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_planar<1, kHasPairs ? 1 : 2, 2, true>(
      {.h = 29, .w = 47, .cin = 2, .cout = 1, .kh = 4, .kw = 3, .stride_y = 2, .dilation_y = 2, .dilation_x = 3}, 0, 2);
  check_planar<2, kHasPairs ? 3 : 4, 2, true>({.h = 9, .w = 130, .cin = 2, .cout = 2, .kh = 3, .kw = 3}, 0);
}
