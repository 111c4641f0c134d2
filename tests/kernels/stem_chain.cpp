// The first convolution fused with the next step gives bit for bit what the kernels give one after the other.
#include <onnxc/stem_chain.hpp>

#include <cstring>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

constexpr int64_t kFill = 2 * Vec::width;  // columns of a panel

struct Clamp {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::min(fn::max(x, lanes(0.0f)), lanes(6.0f));
  }
};

struct Image {
  int64_t n = 1, h, w, channels = 24, stride = 2, pad = 1;
};

/// A 3x3 stem of planar images of three channels.
struct StemCase {
  ConvParams p;
  std::vector<float> x, w, bias;

  explicit StemCase(const Image& i)
      : p{.n = i.n,
          .h = i.h,
          .w = i.w,
          .cin = 3,
          .oh = (i.h + 2 * i.pad - 3) / i.stride + 1,
          .ow = (i.w + 2 * i.pad - 3) / i.stride + 1,
          .cout = i.channels,
          .kh = 3,
          .kw = 3,
          .stride_y = i.stride,
          .stride_x = i.stride,
          .pad_top = i.pad,
          .pad_left = i.pad},
        x(numbers(i.n * 3 * i.h * i.w, 1)),
        w(pack::conv_stem(numbers(i.channels * 27, 2), {.cout = i.channels, .cin = 3, .kh = 3, .kw = 3, .nr = kFill})),
        bias(pack::padded(numbers(i.channels, 3), kFill)) {
    p.bias = bias.data();
    p.y_pixel = i.channels;
  }
  /// The stem alone.
  template <int SX>
  std::vector<float> wide() const {
    std::vector<float> y(size_t(p.n * p.oh * p.ow * p.cout));
    conv_stem<6, 2, SX>(Share{}, x.data(), w.data(), y.data(), p, Epilogue<Clamp>{});
    return y;
  }
};

struct PoolCase {
  int64_t k = 3, stride = 2, pad = 1, dilation = 1, band = 2;
};

template <int SX>
void check_pool(const Image& image, const PoolCase& c) {
  const StemCase stem(image);
  const int64_t reach = (c.k - 1) * c.dilation + 1;
  PoolParams pool{.n = image.n,
                  .h = stem.p.oh,
                  .w = stem.p.ow,
                  .c = image.channels,
                  .oh = (stem.p.oh + 2 * c.pad - reach) / c.stride + 1,
                  .ow = (stem.p.ow + 2 * c.pad - reach) / c.stride + 1,
                  .kh = c.k,
                  .kw = c.k,
                  .stride_y = c.stride,
                  .stride_x = c.stride,
                  .dilation_y = c.dilation,
                  .dilation_x = c.dilation,
                  .pad_top = c.pad,
                  .pad_left = c.pad,
                  .x_pixel = image.channels,
                  .y_pixel = image.channels + 5};
  const auto operand = numbers(pool.n * pool.oh * pool.ow * pool.c, 4);
  const Epilogue<AddRelu, Rows<float>> add{{operand.data(), pool.c}};
  std::vector<float> wanted(size_t(pool.n * pool.oh * pool.ow * pool.y_pixel), kGuard);
  max_pool(Share{}, stem.wide<SX>().data(), wanted.data(), pool, add);
  for (const int threads : {1, 3}) {
    INFO("h " << image.h << " w " << image.w << " channels " << image.channels << " k " << c.k << " stride " << c.stride << " band "
              << c.band << " threads " << threads);
    const StemPoolParams p{.stem = stem.p, .pool = pool, .band = c.band, .pitch = (image.channels + 15) / 16 * 16};
    const int64_t room = contract::stem_pool_scratch(ring_rows(pool, c.band), stem.p.ow, p.pitch);
    std::vector<float> got(wanted.size(), kGuard);
    const Scratch scratch(threads, room, std::numeric_limits<float>::quiet_NaN());
    for (int i = threads; i-- > 0;)
      stem_pool<6, 2, SX>(Share{i, threads}, stem.x.data(), stem.w.data(), got.data(), scratch.of(i), p, Epilogue<Clamp>{}, add);
    CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
  }
}

/// A stem with a kernel of seven rows that computes T rows of outputs at a time. Results do not depend on where a
/// share, or a band of the pool, begins.
template <int T>
void check_winograd_pool(Image image, const PoolCase& c) {
  constexpr int R = 4, P = 3, SX = 2;
  image.pad = 3;
  StemCase stem(image);
  ConvParams& q = stem.p;
  q.kh = q.kw = 7;
  q.oh = (q.h + 6 - 7) / 2 + 1;
  q.ow = (q.w + 6 - 7) / 2 + 1;
  const std::vector<float> panels =
      pack::stem_winograd(numbers(q.cout * 3 * 49, 2), {.cout = q.cout, .cin = 3, .kh = 7, .kw = 7, .nr = Vec::width}, T, R, 2);
  const int64_t reach = (c.k - 1) * c.dilation + 1;
  PoolParams pool{.n = image.n,
                  .h = q.oh,
                  .w = q.ow,
                  .c = image.channels,
                  .oh = (q.oh + 2 * c.pad - reach) / c.stride + 1,
                  .ow = (q.ow + 2 * c.pad - reach) / c.stride + 1,
                  .kh = c.k,
                  .kw = c.k,
                  .stride_y = c.stride,
                  .stride_x = c.stride,
                  .dilation_y = c.dilation,
                  .dilation_x = c.dilation,
                  .pad_top = c.pad,
                  .pad_left = c.pad,
                  .x_pixel = image.channels,
                  .y_pixel = image.channels + 5};
  const Aligned u(panels);
  const Scratch v(1, stem_winograd_scratch<T, R, P>(q));
  std::vector<float> wide(size_t(q.n * q.oh * q.ow * q.cout)), wanted(size_t(pool.n * pool.oh * pool.ow * pool.y_pixel), kGuard);
  stem_winograd<T, R, P, SX>(Share{}, stem.x.data(), u.p, wide.data(), v.of(0), q, Epilogue<Clamp>{});
  max_pool(Share{}, wide.data(), wanted.data(), pool);
  for (const int threads : {1, 2, 3}) {
    INFO("h " << image.h << " w " << image.w << " channels " << image.channels << " k " << c.k << " stride " << c.stride << " band "
              << c.band << " threads " << threads);
    const StemPoolParams p{.stem = q, .pool = pool, .band = c.band, .pitch = (image.channels + 15) / 16 * 16};
    const int64_t room = contract::stem_pool_scratch(ring_rows(pool, c.band, T), q.ow, p.pitch);
    std::vector<float> got(wanted.size(), kGuard);
    const Scratch scratch(threads, room, std::numeric_limits<float>::quiet_NaN());
    for (int i = threads; i-- > 0;)
      stem_winograd_pool<T, R, P, SX>(Share{i, threads}, stem.x.data(), u.p, got.data(), scratch.of(i), v.of(0), p, Epilogue<Clamp>{},
                                      Epilogue<Keep>{});
    CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
  }
}

template <int SX, int K, int S, bool kProjects>
void check_depthwise(const Image& image, int64_t band) {
  const StemCase stem(image);
  const int64_t channels = image.channels, cout = kProjects ? 9 : channels, pad = K / 2;
  const auto w = numbers(channels * K * K, 5), bias = numbers(channels, 6), project_bias = pack::padded(numbers(cout, 7), kFill);
  const auto project_w = pack::panels(numbers(channels * cout, 8), {.k = channels, .n = cout, .nr = kFill});
  ConvParams conv{.n = image.n,
                  .h = stem.p.oh,
                  .w = stem.p.ow,
                  .cin = channels,
                  .oh = (stem.p.oh + 2 * pad - K) / S + 1,
                  .ow = (stem.p.ow + 2 * pad - K) / S + 1,
                  .cout = channels,
                  .kh = K,
                  .kw = K,
                  .stride_y = S,
                  .stride_x = S,
                  .pad_top = pad,
                  .pad_left = pad,
                  .x_pixel = channels,
                  .y_pixel = channels,
                  .bias = bias.data()};
  const int64_t pixels = conv.n * conv.oh * conv.ow, y_pixel = cout + 3;
  const Epilogue<Clamp> relu{};
  std::vector<float> convolved(size_t(pixels * channels)), wanted(size_t(pixels * y_pixel), kGuard);
  if (!kProjects) conv.y_pixel = y_pixel;
  std::vector<float> wanted_sums(size_t(conv.n * conv.oh * channels), kGuard);
  conv.row_sums = wanted_sums.data();
  depthwise<K, K, S, 7, !kProjects>(Share{}, stem.wide<SX>().data(), w.data(), kProjects ? convolved.data() : wanted.data(), conv, relu);
  if (kProjects)
    gemm<6, 2>(Share{}, convolved.data(), project_w.data(), wanted.data(),
               {.m = pixels, .n = cout, .k = channels, .lda = channels, .ldc = y_pixel, .bias = project_bias.data()}, relu);
  for (const int threads : {1, 3}) {
    std::vector<float> sums(wanted_sums.size(), kGuard);
    conv.row_sums = sums.data();
    INFO("h " << image.h << " w " << image.w << " channels " << channels << " k " << K << " stride " << S << " band " << band << " threads "
              << threads);
    const StemDepthwiseParams p{.stem = stem.p,
                                .chain = {.conv = conv,
                                          .cin = 3,
                                          .cout = cout,
                                          .y_pixel = y_pixel,
                                          .project_bias = project_bias.data(),
                                          .band = band,
                                          .pitch = (channels + 15) / 16 * 16}};
    std::vector<float> got(wanted.size(), kGuard);
    const Scratch scratch(threads, stem_depthwise_scratch(p, kProjects), std::numeric_limits<float>::quiet_NaN());
    for (int i = threads; i-- > 0;)
      stem_depthwise<6, 2, SX, K, K, S, kProjects ? 6 : 0, 2, false, !kProjects>(
          Share{i, threads}, stem.x.data(), stem.w.data(), w.data(), project_w.data(), got.data(), scratch.of(i), p, relu, relu, relu);
    CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
    CHECK(sums == wanted_sums);
  }
}

}  // namespace

TEST_CASE("stem_pool gives what its two kernels give") {
  check_pool<2>({.h = 33, .w = 40}, {});
  check_pool<2>({.n = 2, .h = 20, .w = 27, .channels = 37}, {.band = 1});
  check_pool<1>({.h = 11, .w = 17, .channels = 16, .stride = 1}, {.k = 2, .pad = 0, .band = 3});
  check_pool<1>({.h = 14, .w = 13, .channels = 20, .stride = 1, .pad = 0}, {.k = 3, .stride = 1, .dilation = 2, .band = 2});
  check_pool<2>({.h = 30, .w = 30, .channels = 9}, {.k = 5, .stride = 3, .pad = 2, .band = 100});
}

TEST_CASE("stem_winograd_pool gives what its two kernels give") {
  check_winograd_pool<5>({.h = 64, .w = 40}, {});
  check_winograd_pool<5>({.n = 2, .h = 51, .w = 27, .channels = 37}, {.band = 1});
  check_winograd_pool<3>({.n = 3, .h = 40, .w = 33, .channels = 16}, {.k = 2, .pad = 0, .band = 3});
  check_winograd_pool<3>({.h = 60, .w = 21, .channels = 20}, {.k = 3, .stride = 1, .pad = 0, .dilation = 2, .band = 4});
  // Some rows are in no window.
  check_winograd_pool<5>({.h = 90, .w = 30, .channels = 9}, {.k = 2, .stride = 5, .pad = 0, .band = 2});
  check_winograd_pool<5>({.h = 30, .w = 30, .channels = 9}, {.k = 5, .stride = 3, .pad = 2, .band = 100});
}

TEST_CASE("stem_depthwise gives what its kernels give") {
  check_depthwise<2, 3, 1, true>({.h = 22, .w = 31}, 2);
  check_depthwise<2, 3, 2, true>({.n = 2, .h = 25, .w = 20, .channels = 37}, 3);
  check_depthwise<1, 5, 1, false>({.h = 12, .w = 15, .channels = 16, .stride = 1}, 1);
  check_depthwise<2, 3, 1, false>({.h = 18, .w = 18, .channels = 70}, 100);
}
