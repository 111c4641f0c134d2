// Convolutions against a loop in double: strides, pads, dilations, groups, channel and pixel tails, pitches, threads, guard values.
#include <onnxc/conv_grouped.hpp>
#include <onnxc/conv_narrow.hpp>
#include <onnxc/conv_planar.hpp>
#include <onnxc/conv_stem.hpp>
#include <onnxc/conv_transpose.hpp>
#include <onnxc/depthwise.hpp>
#include <onnxc/winograd.hpp>
#include <onnxc/winograd_line.hpp>

#include "common.hpp"
#include "compiler/lowering/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

struct Negate {
  template <class L, class X>
  static ONNXC_INLINE X apply(L, X x) {
    return fn::neg(x);
  }
};

int64_t out_size(int64_t in, int64_t k, int64_t stride, int64_t dilation, int64_t pad_both) { return (in + pad_both - (k - 1) * dilation - 1) / stride + 1; }

/// x: [n, h, w] pixels of x_pixel floats. w: OIHW. The exact answer at one output.
double exact(const std::vector<float>& x, const std::vector<float>& w, const ConvParams& p, int64_t n, int64_t oy, int64_t ox, int64_t co) {
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, g = co / cout;
  double sum = 0;
  for (int64_t ky = 0; ky < p.kh; ++ky) {
    for (int64_t kx = 0; kx < p.kw; ++kx) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y, ix = ox * p.stride_x - p.pad_left + kx * p.dilation_x;
      if (iy < 0 || iy >= p.h || ix < 0 || ix >= p.w) continue;
      for (int64_t ci = 0; ci < cin; ++ci)
        sum += double(x[size_t(((n * p.h + iy) * p.w + ix) * p.x_pixel + g * cin + ci)]) * double(w[size_t(((co * cin + ci) * p.kh + ky) * p.kw + kx)]);
    }
  }
  return sum;
}
/// w: [cin, cout / group, kh, kw].
double exact_transposed(const std::vector<float>& x, const std::vector<float>& w, const ConvParams& p, int64_t n, int64_t oy, int64_t ox, int64_t co) {
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, g = co / cout;
  double sum = 0;
  for (int64_t iy = 0; iy < p.h; ++iy) {
    for (int64_t ix = 0; ix < p.w; ++ix) {
      for (int64_t ky = 0; ky < p.kh; ++ky) {
        if (iy * p.stride_y - p.pad_top + ky * p.dilation_y != oy) continue;
        for (int64_t kx = 0; kx < p.kw; ++kx) {
          if (ix * p.stride_x - p.pad_left + kx * p.dilation_x != ox) continue;
          for (int64_t ci = 0; ci < cin; ++ci)
            sum += double(x[size_t(((n * p.h + iy) * p.w + ix) * p.x_pixel + g * cin + ci)]) * double(w[size_t((((g * cin + ci) * cout + co % cout) * p.kh + ky) * p.kw + kx)]);
        }
      }
    }
  }
  return sum;
}

/// run(part, x, y, residual, p) against `answer(x, n, oy, ox, co)` + bias, then residual and relu.
template <class Run, class Answer>
void check(ConvParams p, int parts, const std::vector<float>& x, const std::vector<float>& bias, Run run, Answer answer) {
  INFO("h " << p.h << " w " << p.w << " cin " << p.cin << " oh " << p.oh << " ow " << p.ow << " cout " << p.cout << " k " << p.kh << "x" << p.kw << " stride " << p.stride_y << " "
            << p.stride_x << " dilation " << p.dilation_y << " " << p.dilation_x << " group " << p.group << " parts " << parts);
  const int64_t pixels = p.n * p.oh * p.ow;
  const auto residual = numbers(pixels * p.cout, 9);
  std::vector<float> y(size_t(pixels * p.y_pixel) + 1, kGuard);
  for (int i = 0; i < parts; ++i) run(Part{i, parts}, x.data(), y.data() + 1, Epilogue<AddRelu, Rows<float>>{{residual.data(), p.cout}}, p);
  const double tolerance = sum_tolerance(p.kh * p.kw * p.cin / p.group);
  int64_t wrong = y[0] != kGuard;
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < p.y_pixel; ++c) {
      const float got = y[size_t(i * p.y_pixel + c) + 1];
      if (c >= p.cout) {
        wrong += got != kGuard;
        continue;
      }
      const double sum = answer(i / p.ow / p.oh, i / p.ow % p.oh, i % p.ow, c) + double(bias[size_t(c)]);
      wrong += !(std::fabs(got - std::fmax(sum + double(residual[size_t(i * p.cout + c)]), 0.0)) <= tolerance);
    }
  }
  CHECK(wrong == 0);
}

/// The input image with a gap after each pixel that holds NaN: reading it would show.
std::vector<float> image(const ConvParams& p) {
  auto x = numbers(p.n * p.h * p.w * p.x_pixel, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (int64_t(i) % p.x_pixel >= p.cin) x[i] = std::numeric_limits<float>::quiet_NaN();
  }
  x.resize(x.size() - size_t(p.x_pixel - p.cin));
  return x;
}

template <int MR, int NV, bool kPairs = false>
void check_conv(ConvParams p, int64_t pad_bottom, int64_t pad_right, int parts = 1) {
  constexpr int nr = Tile<MR, NV, kPairs>::NR;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_bottom);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_right);
  if (p.x_pixel == 0) p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin / p.group, .kh = p.kh, .kw = p.kw, .group = p.group, .nr = nr};
  const auto x = image(p), w = numbers(p.cout * shape.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const Aligned packed(kPairs ? pack::pairs(pack::conv(w, shape), nr, Vec::width) : pack::conv(w, shape)), packed_bias(pack::conv_bias(bias, shape));
  p.bias = packed_bias;
  const Aligned sums(std::vector<float>(size_t(parts * 3 * MR * nr)));
  for (const int64_t steps : {0, 1, 4, 7, 1100}) {  // in one go, and in slices of k
    p.slices = {sums.p, steps, 3 * MR};
    check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { conv<MR, NV, kPairs>(part, in, packed.p, y, q, epi); },
          [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  }
}

template <int MR, int NV>
void check_transposed(ConvParams p, int64_t out_pad, int64_t pad_end, int parts = 1) {
  const int nr = NV * Vec::width;
  p.oh = (p.h - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1 - p.pad_top - pad_end + out_pad;
  p.ow = (p.w - 1) * p.stride_x + (p.kw - 1) * p.dilation_x + 1 - p.pad_left - pad_end + out_pad;
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin / p.group, .kh = p.kh, .kw = p.kw, .group = p.group, .nr = nr};
  const auto x = image(p), w = numbers(p.cin * (p.cout / p.group) * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const Aligned packed(pack::conv_transpose(w, shape)), packed_bias(pack::conv_bias(bias, shape));
  p.bias = packed_bias;
  check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { conv_transpose<MR, NV>(part, in, packed, y, q, epi); },
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

/// The same images planar, for an answer that is planar too; `pooled`: by 2x2. R rows at a time.
template <int MR, int NV, int R, bool pooled = false>
void check_planar(ConvParams p, int64_t pad_end, int parts = 1) {
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  ConvParams last = p;
  last.x_pixel = p.cin;
  const auto x = image(last), w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const std::vector<float> planar = to_planar(x, p.n, p.cin, p.h * p.w);
  const auto packed = pack::conv_stem(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = MR});
  p.bias = bias.data();
  const int64_t side = pooled ? 2 : 1, height = p.oh / side, width = p.ow / side, pixels = height * width, size = conv_planar_scratch<NV>(p);
  const Aligned scratch(std::vector<float>(size_t(parts * size), kGuard));
  std::vector<float> y(size_t(p.n * p.cout * pixels) + 1, kGuard);
  const auto residual = numbers(p.n * p.cout * pixels, 9);
  const Epilogue<AddRelu, Rows<float>> add{{residual.data(), pixels}};
  for (int i = parts; i-- > 0;) {
    if constexpr (pooled) conv_planar_pool<MR, NV>(Part{i, parts}, planar.data(), packed.data(), y.data(), scratch.p, p, Epilogue<Negate>{}, add);
    else conv_planar<MR, NV, R>(Part{i, parts}, planar.data(), packed.data(), y.data(), scratch.p, p, add);
  }
  int64_t wrong = y.back() != kGuard;
  for (int64_t i = 0; i < p.n * p.cout * pixels; ++i) {
    const int64_t n = i / pixels / p.cout, co = i / pixels % p.cout, oy = i % pixels / width, ox = i % width;
    const auto result = [&](int64_t down, int64_t right) { return exact(x, w, last, n, oy * side + down, ox * side + right, co) + double(bias[size_t(co)]); };
    double value = result(0, 0);
    if (pooled) value = -std::fmin(std::fmin(value, result(0, 1)), std::fmin(result(1, 0), result(1, 1)));
    value += double(residual[size_t(i)]);
    wrong += !(std::fabs(y[size_t(i)] - std::fmax(value, 0.0)) <= sum_tolerance(p.kh * p.kw * p.cin));
  }
  CHECK(wrong == 0);
}

template <int MR, int NV, int SX, bool kPairs = false>
void check_stem(ConvParams p, int64_t pad_end, int parts = 1) {
  constexpr int nr = Tile<MR, NV, kPairs>::NR;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.y_pixel = p.cout + 5;
  ConvParams last = p;  // the same image channels-last, for the answer
  last.x_pixel = p.cin;
  const auto x = image(last), w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const std::vector<float> planar = to_planar(x, p.n, p.cin, p.h * p.w);
  const auto panels = pack::conv_stem(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = nr});
  const Aligned packed(kPairs ? pack::pairs(panels, nr, Vec::width, p.kw) : panels), packed_bias(pack::padded(bias, nr));
  p.bias = packed_bias;
  check(p, parts, planar, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { conv_stem<MR, NV, SX, kPairs>(part, in, packed, y, q, epi); },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, last, n, oy, ox, co); });
}

template <int T, int R, int MR, int NV, bool plain = false>
void check_winograd(ConvParams p, int64_t pad_end, int64_t block, int parts = 1) {
  const int nr = NV * Vec::width;
  p.kh = p.kw = R;
  p.oh = out_size(p.h, R, 1, 1, p.pad_top + pad_end);
  p.ow = out_size(p.w, R, 1, 1, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = numbers(p.cout * p.cin * R * R, 2), bias = numbers(p.cout, 3);
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin, .kh = R, .kw = R, .nr = nr};
  const Aligned packed(plain ? pack::conv_stem(w, shape) : pack::winograd(w, shape, T));
  const Aligned packed_bias(pack::padded(bias, nr)), scratch(std::vector<float>(size_t(parts * winograd_scratch<T, R, NV, plain>(p.cin, block)), kGuard));
  p.bias = packed_bias;
  check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { winograd<T, R, MR, NV, plain>(part, in, packed.p, y, scratch.p, q, block, epi); },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
}

template <int T, int R, int MR, int NV, bool down = false>
void check_winograd_line(ConvParams p, int64_t pad_end, int64_t lines, int64_t width, int parts = 1, int64_t length = R) {
  const int nr = NV * Vec::width;
  (down ? p.kh : p.kw) = length;
  p.oh = out_size(p.h, p.kh, 1, p.dilation_y, p.pad_top + (down ? pad_end : p.pad_top));
  p.ow = out_size(p.w, p.kw, 1, p.dilation_x, p.pad_left + (down ? p.pad_left : pad_end));
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = numbers(p.cout * p.cin * p.kh * p.kw, 2), bias = numbers(p.cout, 3);
  const Aligned packed(pack::winograd_line(w, {.cout = p.cout, .cin = p.cin, .kh = p.kh, .kw = p.kw, .nr = nr}, T, R, down)), packed_bias(pack::padded(bias, nr));
  const int64_t taps = down ? p.kw : p.kh, dilation = down ? p.dilation_x : p.dilation_y;
  const Aligned scratch(std::vector<float>(size_t(parts * winograd_line_scratch<T, R, NV>(p.cin, taps, dilation, lines, width, length)), kGuard));
  p.bias = packed_bias;
  check(p, parts, x, bias,
        [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { winograd_line<T, R, MR, NV, down>(part, in, packed, y, scratch.p, q, lines, width, epi); },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
}

template <int KH, int KW, int SX>
void check_depthwise(ConvParams p, int64_t pad_end, int parts = 1) {
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
    check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { depthwise<KH, KW, SX>(part, in, packed.data(), y, q, epi); }, answer);
  const Aligned scratch(std::vector<float>(size_t(parts * depthwise_any_scratch(p.kh, p.kw, p.stride_x, p.dilation_y, p.dilation_x)), kGuard));
  check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { depthwise_any(part, in, packed.data(), y, scratch.p, q, epi); }, answer);
}

template <int N>
void check_narrow(ConvParams p, int64_t pad_end, int parts = 1) {
  p.cout = N;
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = numbers(N * p.cin * p.kh * p.kw, 2), bias = numbers(N, 3);
  const Aligned packed(pack::narrow(w, {.cout = N, .cin = p.cin, .kh = p.kh, .kw = p.kw}, Vec::width)), spread(pack::narrow(w, {.cout = N, .cin = p.cin, .kh = p.kh, .kw = p.kw}, Vec::width, true));
  p.bias = bias.data();
  check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { conv_narrow<N>(part, in, packed, y, q, epi); },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  p.oh = (p.h - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1 - p.pad_top;
  p.ow = (p.w - 1) * p.stride_x + (p.kw - 1) * p.dilation_x + 1 - p.pad_left;
  check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { conv_transpose_narrow<N>(part, in, spread, y, q, epi); },
        [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact_transposed(x, w, p, n, oy, ox, co); });
}

template <int KW, int SX, int GC, int pixels>
void check_grouped(ConvParams p, int64_t pad_end, int parts = 1) {
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
    check(p, parts, x, bias, [&](Part part, const float* in, float* y, auto epi, const ConvParams& q) { conv_grouped<KW, SX, GC, pixels>(part, in, packed.data(), y, q, epi); },
          [&](int64_t n, int64_t oy, int64_t ox, int64_t co) { return exact(x, w, p, n, oy, ox, co); });
  }
}

/// The sums of rows against those of what is stored, which is as without them.
template <int K, int SX>
void check_row_sums(ConvParams p, int parts) {
  p.kh = p.kw = K;
  p.stride_x = p.stride_y = SX;
  p.group = p.cout = p.cin;
  p.pad_top = p.pad_left = K / 2;
  p.oh = out_size(p.h, K, SX, 1, K - 1);
  p.ow = out_size(p.w, K, SX, 1, K - 1);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const auto x = image(p), w = pack::depthwise(numbers(p.cout * K * K, 2), p.cin, K, K), bias = numbers(p.cout, 3);
  p.bias = bias.data();
  const int64_t rows = p.n * p.oh;
  std::vector<float> plain(size_t(rows * p.ow * p.y_pixel), kGuard), y = plain, sums(size_t(rows * p.cout) + 1, kGuard);
  depthwise<K, K, SX>(Part{}, x.data(), w.data(), plain.data(), p, Epilogue<Negate>{});
  p.row_sums = sums.data();
  for (int i = parts; i-- > 0;) depthwise<K, K, SX, 7, true>(Part{i, parts}, x.data(), w.data(), y.data(), p, Epilogue<Negate>{});
  CHECK(y == plain);
  int64_t wrong = sums.back() != kGuard;
  for (int64_t i = 0; i < rows * p.cout; ++i) {
    double sum = 0;
    for (int64_t ox = 0; ox < p.ow; ++ox) sum += double(y[size_t((i / p.cout * p.ow + ox) * p.y_pixel + i % p.cout)]);
    wrong += !(std::fabs(sums[size_t(i)] - sum) <= sum_tolerance(p.ow * K * K) / (K * K));  // ow roundings of what is as large as a sum of ow * K * K products
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("conv agrees with the loop") {
  check_conv<14, 2>({.h = 9, .w = 9, .cin = 5, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<14, 2>({.h = 30, .w = 40, .cin = 8, .cout = 32, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 8}, 1, 1, 3);
  check_conv<14, 2>({.n = 2, .h = 7, .w = 7, .cin = 16, .cout = 70, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 1, 2);
  check_conv<14, 2>({.h = 7, .w = 7, .cin = 16, .cout = 20, .stride_y = 2, .stride_x = 2}, 0, 0);
  check_conv<14, 2>({.h = 11, .w = 13, .cin = 3, .cout = 17, .kh = 5, .kw = 3, .stride_y = 1, .stride_x = 3, .dilation_y = 2, .dilation_x = 1, .pad_top = 4, .pad_left = 0}, 2, 1);
  check_conv<14, 2>({.h = 12, .w = 12, .cin = 12, .cout = 18, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .group = 3}, 1, 1, 2);
  check_conv<14, 2>({.h = 6, .w = 6, .cin = 6, .cout = 12, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .group = 6, .x_pixel = 6}, 1, 1);
  check_conv<14, 2>({.w = 50, .cin = 7, .cout = 9, .kw = 5, .dilation_x = 3, .pad_left = 12}, 0, 0);
  check_conv<14, 2>({.h = 2, .w = 2, .cin = 4, .cout = 5, .kh = 3, .kw = 3, .pad_top = 4, .pad_left = 4}, 4, 4);
  check_conv<8, 2, true>({.h = 9, .w = 9, .cin = 6, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<8, 3, true>({.h = 30, .w = 24, .cin = 8, .cout = 40, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 8}, 1, 1, 3);
  check_conv<14, 1, true>({.h = 12, .w = 12, .cin = 12, .cout = 18, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1, .group = 3}, 1, 1, 2);
  check_conv<7, 2, true>({.w = 50, .cin = 14, .cout = 9, .kw = 5, .dilation_x = 3, .pad_left = 12}, 0, 0);
  check_conv<14, 2>({.h = 3, .w = 4, .cin = 2500, .cout = 5, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<6, 2>({.h = 9, .w = 9, .cin = 5, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 1);
  check_conv<6, 4>({.h = 9, .w = 9, .cin = 16, .cout = 64, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .x_pixel = 16}, 1, 1);
  check_conv<8, 3>({.h = 8, .w = 9, .cin = 5, .cout = 37, .kh = 2, .kw = 2}, 1, 1, 5);
  check_conv<3, 2>({.h = 1, .w = 1, .cin = 5, .cout = 100, .kh = 1, .kw = 1}, 0, 0, 2);
}

TEST_CASE("conv_transpose agrees with the loop") {
  check_transposed<14, 2>({.h = 5, .w = 6, .cin = 7, .cout = 19, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2}, 0, 0, 2);
  check_transposed<14, 2>({.n = 2, .h = 5, .w = 6, .cin = 7, .cout = 33, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 1, 3);
  check_transposed<14, 2>({.h = 5, .w = 6, .cin = 6, .cout = 4, .kh = 4, .kw = 3, .stride_y = 3, .stride_x = 2, .dilation_y = 2, .dilation_x = 3, .group = 2}, 1, 0);
  check_transposed<14, 2>({.h = 4, .w = 4, .cin = 3, .cout = 4, .kh = 2, .kw = 2, .stride_y = 4, .stride_x = 4}, 2, 0);
  check_transposed<6, 2>({.w = 9, .cin = 3, .cout = 4, .kw = 5, .pad_left = 2}, 0, 0);
  check_transposed<14, 2>({.h = 4, .w = 4, .cin = 3, .cout = 4, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .dilation_y = 2, .dilation_x = 2, .pad_top = 2, .pad_left = 2}, 1, 2);
  for (int parts : {1, 2, 3}) check_transposed<6, 2>({.n = 2, .h = 8, .w = 72, .cin = 64, .cout = 20, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 1, parts);  // several bands
}

TEST_CASE("conv_stem agrees with the loop") {
  check_stem<14, 2, 2>({.h = 32, .w = 45, .cin = 3, .cout = 64, .kh = 7, .kw = 7, .stride_y = 2, .stride_x = 2, .pad_top = 3, .pad_left = 3}, 3, 2);
  check_stem<14, 2, 2>({.n = 2, .h = 20, .w = 70, .cin = 3, .cout = 35, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1);
  check_stem<14, 2, 1>({.h = 9, .w = 9, .cin = 1, .cout = 16, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_stem<14, 2, 0>({.h = 12, .w = 50, .cin = 4, .cout = 7, .kh = 3, .kw = 3, .dilation_y = 2, .dilation_x = 2}, 0);
  check_stem<6, 2, 1>({.h = 9, .w = 30, .cin = 3, .cout = 20, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_stem<14, 1, 0>({.h = 9, .w = 40, .cin = 1, .cout = 9, .kh = 3, .kw = 5, .stride_x = 5}, 0);
  check_stem<14, 1, 2, true>({.h = 20, .w = 70, .cin = 3, .cout = 8, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1);
  check_stem<8, 2, 1, true>({.n = 2, .h = 9, .w = 41, .cin = 2, .cout = 47, .kh = 3, .kw = 4, .pad_top = 1, .pad_left = 2}, 1, 3);
  check_stem<5, 1, 3, true>({.h = 9, .w = 96, .cin = 1, .cout = 5, .kh = 3, .kw = 9, .stride_x = 3, .pad_top = 1, .pad_left = 3}, 3);
  check_stem<2, 1, 1, true>({.h = 5, .w = 4, .cin = 2, .cout = 3, .kh = 2, .kw = 1}, 0);
  check_stem<14, 2, 2>({.h = 40, .w = 300, .cin = 4, .cout = 40, .kh = 11, .kw = 11, .stride_y = 2, .stride_x = 2, .pad_top = 5, .pad_left = 5}, 5);
  check_stem<6, 4, 4>({.h = 40, .w = 40, .cin = 3, .cout = 64, .kh = 11, .kw = 11, .stride_y = 4, .stride_x = 4, .pad_top = 2, .pad_left = 2}, 2);
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
  check_planar<1, 1, 2, true>({.h = 29, .w = 47, .cin = 2, .cout = 1, .kh = 4, .kw = 3, .stride_y = 2, .dilation_y = 2, .dilation_x = 3}, 0, 2);
  check_planar<2, 3, 2, true>({.h = 9, .w = 130, .cin = 2, .cout = 2, .kh = 3, .kw = 3}, 0);
}

TEST_CASE("winograd agrees with the loop") {
  check_winograd<4, 3, 14, 2>({.h = 16, .w = 16, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 28);
  check_winograd<4, 3, 14, 2>({.n = 2, .h = 13, .w = 7, .cin = 37, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2);
  check_winograd<4, 3, 14, 2>({.h = 33, .w = 50, .cin = 20, .cout = 7, .pad_top = 0, .pad_left = 2}, 0, 21, 3);
  check_winograd<2, 3, 14, 2>({.h = 7, .w = 7, .cin = 40, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
  check_winograd<2, 3, 6, 2>({.h = 9, .w = 8, .cin = 15, .cout = 17}, 0, 7);
  check_winograd<4, 3, 6, 2>({.h = 9, .w = 8, .cin = 15, .cout = 17, .pad_top = 1, .pad_left = 1}, 1, 100);
  check_winograd<2, 5, 14, 2>({.h = 28, .w = 28, .cin = 16, .cout = 32, .pad_top = 2, .pad_left = 2}, 2, 28);
  check_winograd<2, 5, 7, 4>({.n = 2, .h = 13, .w = 7, .cin = 37, .cout = 41, .pad_top = 1, .pad_left = 2}, 1, 10, 2);
  check_winograd<2, 5, 8, 1>({.h = 5, .w = 6, .cin = 9, .cout = 7}, 0, 3);
}

TEST_CASE("winograd with plain weights agrees with the loop") {
  check_winograd<4, 3, 14, 2, true>({.h = 16, .w = 16, .cin = 16, .cout = 32, .pad_top = 1, .pad_left = 1}, 1, 28);
  check_winograd<4, 3, 8, 2, true>({.n = 2, .h = 13, .w = 7, .cin = 137, .cout = 41, .pad_top = 1, .pad_left = 1}, 1, 10, 2);
  check_winograd<2, 3, 8, 2, true>({.h = 7, .w = 7, .cin = 64, .cout = 70, .pad_top = 1, .pad_left = 1}, 1, 16, 2);
  check_winograd<2, 3, 7, 4, true>({.h = 7, .w = 7, .cin = 65, .cout = 130, .pad_top = 1, .pad_left = 1}, 1, 16, 3);
  check_winograd<2, 3, 6, 2, true>({.h = 9, .w = 8, .cin = 15, .cout = 17}, 0, 7);
  check_winograd<2, 5, 7, 4, true>({.h = 14, .w = 9, .cin = 70, .cout = 48, .pad_top = 2, .pad_left = 2}, 2, 14, 2);
}

TEST_CASE("winograd along lines agrees with the loop") {
  check_winograd_line<2, 3, 14, 2>({.h = 7, .w = 7, .cin = 40, .cout = 70, .kh = 3, .pad_top = 1, .pad_left = 1}, 1, 7, 4);
  check_winograd_line<4, 3, 14, 2>({.n = 2, .h = 13, .w = 11, .cin = 37, .cout = 41, .kh = 3, .pad_top = 1, .pad_left = 1}, 1, 4, 3, 2);
  check_winograd_line<4, 3, 7, 4>({.w = 100, .cin = 20, .cout = 7, .kh = 1, .pad_left = 2}, 0, 1, 10, 3);
  check_winograd_line<4, 3, 14, 2>({.n = 2, .w = 61, .cin = 16, .cout = 32, .kh = 1, .dilation_x = 4, .pad_left = 4}, 4, 1, 9);
  check_winograd_line<2, 3, 8, 1>({.h = 12, .w = 20, .cin = 9, .cout = 17, .kh = 5, .dilation_y = 2, .dilation_x = 3, .pad_top = 3, .pad_left = 1}, 2, 2, 3, 2);
  check_winograd_line<4, 3, 6, 2>({.h = 3, .w = 2, .cin = 15, .cout = 17, .kh = 2, .pad_left = 1}, 1, 5, 7);
  check_winograd_line<6, 3, 14, 2>({.n = 2, .w = 61, .cin = 16, .cout = 32, .kh = 1, .dilation_x = 2, .pad_left = 2}, 2, 1, 9);
  check_winograd_line<2, 5, 7, 4>({.h = 9, .w = 17, .cin = 20, .cout = 65, .kh = 5, .pad_top = 2, .pad_left = 2}, 2, 3, 9, 2);
  check_winograd_line<4, 5, 14, 2>({.n = 3, .w = 50, .cin = 16, .cout = 32, .kh = 1, .dilation_x = 3, .pad_left = 6}, 6, 1, 5, 2);
  check_winograd_line<2, 7, 7, 4>({.h = 17, .w = 17, .cin = 40, .cout = 64, .kh = 1, .pad_left = 3}, 3, 6, 9);
  check_winograd_line<2, 7, 7, 4, true>({.h = 17, .w = 11, .cin = 40, .cout = 64, .kw = 1, .pad_top = 3}, 3, 6, 9, 2);
  check_winograd_line<4, 3, 14, 2, true>({.n = 2, .h = 19, .w = 12, .cin = 19, .cout = 33, .kw = 4, .dilation_y = 2, .dilation_x = 2, .pad_top = 1, .pad_left = 3}, 2, 2, 3, 2);
  check_winograd_line<4, 5, 14, 2>({.n = 2, .w = 70, .cin = 20, .cout = 33, .kh = 1, .pad_left = 7}, 7, 1, 6, 2, 15);
  check_winograd_line<6, 3, 7, 4>({.h = 5, .w = 40, .cin = 16, .cout = 64, .kh = 1, .dilation_x = 2, .pad_left = 3}, 4, 2, 8, 1, 8);
  check_winograd_line<4, 5, 7, 4, true>({.h = 31, .w = 6, .cin = 9, .cout = 12, .kw = 1, .pad_top = 5}, 5, 3, 7, 2, 11);
  check_winograd_line<4, 5, 8, 1, true>({.h = 3, .w = 5, .cin = 9, .cout = 7, .kw = 1, .pad_top = 2}, 2, 2, 1);
}

TEST_CASE("convolutions to a few channels agree with the loop") {
  check_narrow<1>({.h = 9, .w = 20, .cin = 40, .kh = 5, .kw = 5, .pad_top = 2, .pad_left = 2}, 2, 2);
  check_narrow<2>({.n = 2, .h = 8, .w = 11, .cin = 16, .kh = 3, .kw = 2, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_narrow<3>({.h = 6, .w = 9, .cin = 7, .kh = 3, .kw = 3, .dilation_y = 2, .dilation_x = 2, .pad_top = 2, .pad_left = 2}, 2);
  check_narrow<4>({.h = 3, .w = 3, .cin = 33, .kh = 3, .kw = 3, .stride_y = 3, .stride_x = 3}, 0, 5);
}

TEST_CASE("small groups agree with the loop") {
  check_grouped<3, 1, 2, 7>({.h = 9, .w = 20, .cin = 34, .kh = 3, .pad_top = 1, .pad_left = 1}, 1, 2);
  check_grouped<3, 1, 4, 14>({.n = 2, .h = 5, .w = 31, .cin = 64, .kh = 3, .dilation_y = 2, .pad_top = 2, .pad_left = 1}, 1);
  check_grouped<3, 2, 4, 7>({.h = 9, .w = 33, .cin = 44, .kh = 3, .stride_y = 2, .pad_top = 1, .pad_left = 1}, 1, 3);
  check_grouped<5, 1, 8, 7>({.h = 7, .w = 18, .cin = 40, .kh = 5, .pad_top = 2, .pad_left = 2}, 2);
  check_grouped<1, 1, 16, 14>({.h = 3, .w = 29, .cin = 48, .kh = 1}, 0);
  check_grouped<3, 1, 16, 14>({.h = 4, .w = 3, .cin = 16, .kh = 3, .pad_top = 1, .pad_left = 1}, 1);
}

TEST_CASE("depthwise agrees with the loop") {
  for (int64_t c : {1, Vec::width, Vec::width + 1}) {
    check_depthwise<9, 9, 1>({.h = 9, .w = 31, .cin = c, .pad_top = 4, .pad_left = 4}, 4, 2);
    check_depthwise<11, 6, 2>({.h = 20, .w = 30, .cin = c, .stride_y = 2, .pad_top = 5, .pad_left = 3}, 2);
    check_depthwise<3, 3, 1>({.h = 9, .w = 13, .cin = c, .dilation_y = 3, .dilation_x = 3, .pad_top = 3, .pad_left = 3}, 3, 2);
    check_depthwise<2, 1, 9>({.n = 2, .h = 3, .w = 1, .cin = c, .stride_y = 4, .pad_top = 3, .pad_left = 71}, 0);  // hardly a window meets the image
  }

  for (int64_t c : {1, Vec::width - 1, Vec::width, Vec::width + 1, 40}) {
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
