// Convolutions whose lanes hold channels, against a loop in double: depthwise, in small groups, to a few channels.
#include <onnxc/conv_few_outputs.hpp>
#include <onnxc/conv_grouped.hpp>
#include <onnxc/depthwise_taps.hpp>
#include <onnxc/depthwise_winograd.hpp>

#include "compiler/select/weights/pack.h"
#include "conv_loop.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

template <int KH, int KW, int SX>
void check_depthwise(ConvParams p, int64_t pad_end, int threads = 1) {
  p.kh = KH;
  p.kw = KW;
  p.stride_x = SX;
  p.group = p.cout = p.cin;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = numbers(p.cout * KH * KW, 2), bias = numbers(p.cout, 3);
  const auto packed = pack::depthwise(w, p.cin, KH, KW);
  p.bias = bias.data();
  auto answer = [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); };
  if (p.dilation_x == 1)
    check(
        p, threads, x, bias,
        [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
          depthwise<KH, KW, SX>(share, in, packed.data(), y, q, epi);
        },
        answer);
  check(
      p, threads, x, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) { depthwise_taps(share, in, packed.data(), y, q, epi); },
      answer);
  const Scratch scratch(threads, depthwise_any_scratch(p.kh, p.kw, p.stride_x, p.dilation_y, p.dilation_x));
  check(
      p, threads, x, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
        depthwise_any(share, in, packed.data(), y, scratch.of(share.index), q, epi);
      },
      answer);
}

void check_depthwise_winograd(ConvParams p, int64_t pad_end, int threads = 1) {
  p.kh = p.kw = 3;
  p.group = p.cout = p.cin;
  p.oh = out_size(p.h, 3, 1, 1, p.pad_top + pad_end);
  p.ow = out_size(p.w, 3, 1, 1, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = numbers(p.cout * 9, 2), bias = numbers(p.cout, 3);
  const auto packed = pack::depthwise_winograd(w, p.cin);
  p.bias = bias.data();
  check(
      p, threads, x, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
        depthwise_winograd(share, in, packed.data(), y, q, epi);
      },
      [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
}

/// NaN and infinities at each pixel in turn: outputs whose windows hold one are those of the plain kernel, and all others keep their bound.
void check_special_pixels(int64_t pad) {
  ConvParams p{.h = 4, .w = 5, .cin = Vec::width + 1, .pad_top = pad, .pad_left = pad};
  p.kh = p.kw = 3;
  p.group = p.cout = p.cin;
  p.oh = out_size(p.h, 3, 1, 1, 2 * pad);
  p.ow = out_size(p.w, 3, 1, 1, 2 * pad);
  p.x_pixel = p.y_pixel = p.cin;
  const auto w = numbers(p.cout * 9, 2), bias = numbers(p.cout, 3);
  const auto packed = pack::depthwise_winograd(w, p.cin), plain = pack::depthwise(w, p.cin, 3, 3);
  p.bias = bias.data();
  for (const float special :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    for (int64_t pixel = 0; pixel < p.h * p.w; ++pixel) {
      auto x = image(p);
      for (int64_t c = 0; c < p.cin; ++c) x[static_cast<size_t>(pixel * p.cin + c)] = special;
      std::vector<float> got(static_cast<size_t>(p.oh * p.ow * p.cout)), wanted = got;
      depthwise_winograd({}, x.data(), packed.data(), got.data(), p, Epilogue<Keep>{});
      depthwise<3, 3, 1>({}, x.data(), plain.data(), wanted.data(), p, Epilogue<Keep>{});
      int64_t wrong = 0;
      for (size_t i = 0; i < got.size(); ++i) {
        const bool alike = std::isfinite(wanted[i]) ? std::fabs(got[i] - wanted[i]) <= 1e-5f
                           : std::isnan(wanted[i])  ? std::isnan(got[i])
                                                    : got[i] == wanted[i];
        wrong += !alike;
      }
      INFO(special << " at pixel " << pixel << ", padding " << pad);
      CHECK(wrong == 0);
    }
  }
}

template <int N>
void check_few_outputs(ConvParams p, int64_t pad_end, int threads = 1) {
  p.cout = N;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = numbers(N * p.cin * p.kh * p.kw, 2), bias = numbers(N, 3);
  const Aligned packed(pack::few_outputs(w, {.cout = N, .cin = p.cin, .kh = p.kh, .kw = p.kw}, Vec::width)),
      spread(pack::few_outputs(w, {.cout = N, .cin = p.cin, .kh = p.kh, .kw = p.kw}, Vec::width, true));
  p.bias = bias.data();
  check(
      p, threads, x, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) { conv_few_outputs<N>(share, in, packed, y, q, epi); },
      [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  p.oh = (p.h - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1 - p.pad_top;
  p.ow = (p.w - 1) * p.stride_x + (p.kw - 1) * p.dilation_x + 1 - p.pad_left;
  check(
      p, threads, x, bias,
      [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
        conv_transpose_few_outputs<N>(share, in, spread, y, q, epi);
      },
      [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact_transposed(x, w, p, n, oy, ox, co); });
}

template <int KW, int SX, int GC, int pixels>
void check_grouped(ConvParams p, int64_t pad_end, int threads = 1) {
  if constexpr (Vec::width % GC == 0) {
    p.kw = KW;
    p.stride_x = SX;
    p.cout = p.cin;
    p.group = p.cin / GC;
    p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
    p.ow = out_size(p.w, p.kw, p.stride_x, 1, p.pad_left + pad_end);
    p.x_pixel = p.cin + 3;
    p.y_pixel = p.cout + 5;
    const auto x = image(p), w = numbers(p.cout * GC * p.kh * KW, 2), bias = numbers(p.cout, 3);
    const auto packed = pack::grouped(w, {.cout = p.cout, .cin = GC, .kh = p.kh, .kw = KW}, Vec::width);
    p.bias = bias.data();
    check(
        p, threads, x, bias,
        [&](Share share, const float* in, float* y, auto epi, const ConvParams& q) {
          conv_grouped<KW, SX, GC, pixels>(share, in, packed.data(), y, q, epi);
        },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  }
}

/// Compares the sums of rows with sums of the stored outputs. The outputs are the same as without sums.
template <int K, int SX, bool kWinograd = false>
void check_row_sums(ConvParams p, int threads) {
  p.kh = p.kw = K;
  p.stride_x = p.stride_y = SX;
  p.group = p.cout = p.cin;
  p.pad_top = p.pad_left = K / 2;
  p.oh = out_size(p.h, K, SX, 1, K - 1);
  p.ow = out_size(p.w, K, SX, 1, K - 1);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), taps = numbers(p.cout * K * K, 2),
             w = kWinograd ? pack::depthwise_winograd(taps, p.cin) : pack::depthwise(taps, p.cin, K, K), bias = numbers(p.cout, 3);
  p.bias = bias.data();
  const int64_t rows = p.n * p.oh;
  std::vector<float> plain(size_t(rows * p.ow * p.y_pixel), kGuard), y = plain, sums(size_t(rows * p.cout) + 1, kGuard);
  const auto run = [&]<bool kSums>(Share share, std::vector<float>& to) {
    if constexpr (kWinograd) depthwise_winograd<kSums>(share, x.data(), w.data(), to.data(), p, Epilogue<Negate>{});
    else depthwise<K, K, SX, 7, kSums>(share, x.data(), w.data(), to.data(), p, Epilogue<Negate>{});
  };
  run.template operator()<false>(Share{}, plain);
  p.row_sums = sums.data();
  for (int i = threads; i-- > 0;) run.template operator()<true>(Share{i, threads}, y);
  CHECK(y == plain);
  int64_t wrong = sums.back() != kGuard;
  for (int64_t i = 0; i < rows * p.cout; ++i) {
    double sum = 0;
    for (int64_t ox = 0; ox < p.ow; ++ox) sum += double(y[size_t((i / p.cout * p.ow + ox) * p.y_pixel + i % p.cout)]);
    wrong += !(std::fabs(sums[size_t(i)] - sum) <=
               // ow roundings of a value as large as a sum of ow * K * K products.
               sum_tolerance(p.ow * K * K) / (K * K));
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("depthwise winograd leaves what is not finite where it is") {
  check_special_pixels(0);
  check_special_pixels(1);
}

TEST_CASE("convolutions to a few channels agree with the loop") {
  check_few_outputs<1>({.h = 9, .w = 20, .cin = 40, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2, 2);
  check_few_outputs<2>({.n = 2, .h = 8, .w = 11, .cin = 16, .kh = 3, .kw = 2, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1,
                       3);
  check_few_outputs<3>({.h = 6, .w = 9, .cin = 7, .kh = 3, .kw = 3, .dilation_y = 2, .dilation_x = 2, .pad_top = 2, .pad_left = 2}, 2);
  check_few_outputs<4>({.h = 3, .w = 3, .cin = 33, .kh = 3, .kw = 3, .stride_y = 3, .stride_x = 3}, 0, 5);
}

TEST_CASE("small groups agree with the loop") {
  check_grouped<3, 1, 2, 7>({.h = 9, .w = 20, .cin = 34, .kh = 3, .pad_top = 1, .pad_left = 1}, 1, 2);
  check_grouped<3, 1, 4, 14>({.n = 2, .h = 5, .w = 31, .cin = 64, .kh = 3, .dilation_y = 2, .pad_top = 2, .pad_left = 1}, 1);
  check_grouped<3, 2, 4, 7>({.h = 9, .w = 33, .cin = 44, .kh = 3, .stride_y = 2, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_grouped<5, 1, 8, 7>({.h = 7, .w = 18, .cin = 40, .kh = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_grouped<1, 1, 16, 14>({.h = 3, .w = 29, .cin = 48, .kh = 1}, 0);
  check_grouped<3, 1, 16, 14>({.h = 4, .w = 3, .cin = 16, .kh = 3, .pad_top = 1, .pad_left = 1}, 1);
}

TEST_CASE("depthwise by Winograd agrees with the loop") {
  for (int64_t c : {1, kPartLanes, Vec::width, Vec::width + 1, 70}) {
    check_depthwise_winograd({.h = 9, .w = 20, .cin = c, .pad_top = 1, .pad_left = 1}, 1, 2);
    check_depthwise_winograd({.n = 2, .h = 5, .w = 7, .cin = c, .pad_top = 1, .pad_left = 1}, 1, 3);
    check_depthwise_winograd({.h = 6, .w = 5, .cin = c}, 0, 2);
    check_depthwise_winograd({.h = 6, .w = 5, .cin = c, .pad_top = 0, .pad_left = 2}, 1);
    check_depthwise_winograd({.h = 4, .w = 4, .cin = c, .pad_top = 3, .pad_left = 4}, 4);
    check_depthwise_winograd({.h = 1, .w = 1, .cin = c, .pad_top = 1, .pad_left = 1}, 1);
    check_depthwise_winograd({.h = 3, .w = 1, .cin = c, .pad_top = 1, .pad_left = 1}, 1, 5);
    check_row_sums<3, 1, true>({.n = 2, .h = 9, .w = 20, .cin = c}, 3);
  }
}

TEST_CASE("depthwise by Winograd of an image without columns writes what lies beside it alone") {
  constexpr int64_t c = Vec::width + 1, rows = 3;
  const std::vector<float> x(c), w(12 * c, 1.0f), bias = numbers(c, 3);
  for (const int64_t ow : {0, 2}) {
    std::vector<float> y(size_t(rows * ow * c + 2), kGuard), sums(size_t(rows * c), kGuard);
    depthwise_winograd<true>(Share{}, x.data(), w.data(), y.data() + 1,
                             {.h = rows,
                              .w = 0,
                              .cin = c,
                              .oh = rows,
                              .ow = ow,
                              .cout = c,
                              .pad_top = 1,
                              .pad_left = 1 + ow / 2,
                              .x_pixel = c,
                              .y_pixel = c,
                              .bias = bias.data(),
                              .row_sums = sums.data()});
    int64_t wrong = (y.front() != kGuard) + (y.back() != kGuard);
    for (size_t i = 1; i + 1 < y.size(); ++i) wrong += y[i] != bias[(i - 1) % size_t(c)];
    for (size_t i = 0; i < sums.size(); ++i) wrong += sums[i] != float(ow) * bias[i % size_t(c)];
    CHECK(wrong == 0);
  }
}

TEST_CASE("depthwise agrees with the loop") {
  for (int64_t c : {1, Vec::width, Vec::width + 1}) {
    check_depthwise<9, 9, 1>({.h = 9, .w = 31, .cin = c, .pad_top = 4, .pad_left = 4}, 4, 2);
    check_depthwise<11, 6, 2>({.h = 20, .w = 30, .cin = c, .stride_y = 2, .pad_top = 5, .pad_left = 3}, 2);
    check_depthwise<3, 3, 1>({.h = 9, .w = 13, .cin = c, .dilation_y = 3, .dilation_x = 3, .pad_top = 3, .pad_left = 3}, 3, 2);
    check_depthwise<2, 1, 9>({.n = 2, .h = 3, .w = 1, .cin = c, .stride_y = 4, .pad_top = 3, .pad_left = 71},
                             0);  // hardly a window meets the image
  }

  for (int64_t c : {1, kPartLanes, Vec::width, Vec::width + 1, 40}) {
    check_depthwise<3, 3, 1>({.h = 9, .w = 20, .cin = c, .pad_top = 1, .pad_left = 1}, 1, 2);
    check_depthwise<3, 3, 2>({.n = 2, .h = 9, .w = 20, .cin = c, .stride_y = 2, .pad_top = 1, .pad_left = 1}, 1, 3);
    check_depthwise<5, 5, 1>({.h = 7, .w = 7, .cin = c, .pad_top = 2, .pad_left = 2}, 2);
    check_depthwise<5, 5, 2>({.h = 14, .w = 30, .cin = c, .stride_y = 2, .pad_top = 1, .pad_left = 1}, 2);
    check_depthwise<3, 3, 1>({.h = 9, .w = 30, .cin = c, .dilation_y = 2, .dilation_x = 2, .pad_top = 2, .pad_left = 2}, 2);
    check_depthwise<3, 3, 1>({.h = 1, .w = 1, .cin = c, .pad_top = 1, .pad_left = 1}, 1);
    check_depthwise<1, 9, 1>({.h = 1, .w = 40, .cin = c}, 0);
    check_row_sums<3, 1>({.n = 2, .h = 9, .w = 20, .cin = c}, 3);
    check_row_sums<5, 2>({.h = 14, .w = 31, .cin = c}, 1);
  }
}
