// The chain of 1x1, depthwise and 1x1 convolutions gives bit for bit what the three kernels give one after the other.
#include <onnxc/depthwise_chain.hpp>

#include <cstring>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

struct Clamp {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::min(fn::max(x, lanes(0.0f)), lanes(6.0f));
  }
};

struct Sizes {
  int64_t n = 1, h, w, cin, middle, cout, pad = 1, band = 2;
};

template <bool kExpands, bool kProjects, int K, int SX, bool kPairs = false, bool kWinograd = false>
void check_chain(Sizes s, int threads = 1) {
  INFO("h " << s.h << " w " << s.w << " channels " << s.cin << " " << s.middle << " " << s.cout << " k " << K << " stride " << SX
            << " band " << s.band << " threads " << threads);
  constexpr int NR = 2 * Vec::width, kProjectNR = kPairs ? NR - Vec::width / 2 : NR;
  const int64_t cin = kExpands ? s.cin : s.middle, cout = kProjects ? s.cout : s.middle;
  ConvParams conv{.n = s.n,
                  .h = s.h,
                  .w = s.w,
                  .cin = s.middle,
                  .oh = (s.h + 2 * s.pad - K) / SX + 1,
                  .ow = (s.w + 2 * s.pad - K) / SX + 1,
                  .cout = s.middle,
                  .kh = K,
                  .kw = K,
                  .stride_y = SX,
                  .stride_x = SX,
                  .pad_top = s.pad,
                  .pad_left = s.pad};
  const int64_t in_pixels = s.n * s.h * s.w, out_pixels = s.n * conv.oh * conv.ow, x_pixel = cin + 3, y_pixel = cout + 2;
  auto x = numbers(in_pixels * x_pixel, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (int64_t(i) % x_pixel >= cin) x[i] = std::numeric_limits<float>::quiet_NaN();
  }
  const auto expand_w = pack::panels(numbers(cin * s.middle, 2), {.k = cin, .n = s.middle, .nr = NR});
  auto project_w = pack::panels(numbers(s.middle * cout, 4), {.k = s.middle, .n = cout, .nr = kProjectNR});
  if (kPairs) project_w = pack::pairs(project_w, kProjectNR, Vec::width);
  const auto taps = numbers(s.middle * K * K, 3), w = kWinograd ? pack::depthwise_winograd(taps, s.middle) : taps,
             expand_bias = pack::padded(numbers(s.middle, 5), NR), project_bias = pack::padded(numbers(cout, 6), kProjectNR),
             bias = numbers(s.middle, 7);
  const auto residual = numbers(out_pixels * cout, 8);
  conv.bias = bias.data();
  const Epilogue<Clamp> relu{};
  const Epilogue<AddRelu, Rows<float>> add{{residual.data(), cout}};

  // One after the other.
  std::vector<float> wide(size_t(in_pixels * s.middle)), convolved(size_t(out_pixels * s.middle)),
      wanted(size_t(out_pixels * y_pixel), kGuard);
  ConvParams inner = conv;
  inner.x_pixel = kExpands ? s.middle : x_pixel;
  inner.y_pixel = kProjects ? s.middle : y_pixel;
  if (kExpands)
    gemm<6, 2>(Share{}, x.data(), expand_w.data(), wide.data(),
               {.m = in_pixels, .n = s.middle, .k = cin, .lda = x_pixel, .ldc = s.middle, .bias = expand_bias.data()}, relu);
  const float* const depthwise_x = kExpands ? wide.data() : x.data();
  std::vector<float> wanted_sums(size_t(s.n * conv.oh * s.middle), kGuard), sums = wanted_sums;
  inner.row_sums = wanted_sums.data();
  const auto convolve = [&]<bool kSums>(float* to, auto epi) {
    if constexpr (kWinograd) depthwise_winograd<kSums>(Share{}, depthwise_x, w.data(), to, inner, epi);
    else depthwise<K, K, SX, 7, kSums>(Share{}, depthwise_x, w.data(), to, inner, epi);
  };
  if (kProjects) convolve.template operator()<false>(convolved.data(), relu);
  else convolve.template operator()<true>(wanted.data(), add);
  if (kProjects)
    gemm<6, 2, kPairs>(Share{}, convolved.data(), project_w.data(), wanted.data(),
                       {.m = out_pixels, .n = cout, .k = s.middle, .lda = s.middle, .ldc = y_pixel, .bias = project_bias.data()}, add);

  conv.row_sums = sums.data();
  const DepthwiseChainParams p{.conv = conv,
                               .cin = cin,
                               .cout = cout,
                               .x_pixel = x_pixel,
                               .y_pixel = y_pixel,
                               .expand_bias = expand_bias.data(),
                               .project_bias = project_bias.data(),
                               .band = s.band,
                               .pitch = (s.middle + 15) / 16 * 16};
  std::vector<float> got(wanted.size(), kGuard);
  const Scratch scratch(threads, depthwise_chain_scratch(p, kExpands ? 2 : 0, kProjects), std::numeric_limits<float>::quiet_NaN());
  for (int i = threads; i-- > 0;) {
    const auto run = [&](auto second, auto last) {
      depthwise_chain<kExpands ? 6 : 0, 2, K, K, SX, kProjects ? 6 : 0, 2, kPairs, !kProjects, kWinograd>(
          Share{i, threads}, x.data(), expand_w.data(), w.data(), project_w.data(), got.data(), scratch.of(i), p, relu, second, last);
    };
    if constexpr (kProjects) run(relu, add);
    else run(add, Epilogue<Keep>{});
  }
  CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
  CHECK(sums == wanted_sums);
}

template <int K, int SX>
void check_chains(Sizes s) {
  for (int threads : {1, 3}) {
    check_chain<true, true, K, SX>(s, threads);
    check_chain<true, false, K, SX>(s, threads);
    check_chain<false, true, K, SX>(s, threads);
    if (s.middle % 2 == 0) check_chain<true, true, K, SX, kHasPairs>(s, threads);
    if constexpr (K == 3 && SX == 1) {
      Sizes pairs = s;
      pairs.band += s.band % 2;
      check_chain<true, true, K, SX, false, true>(pairs, threads);
      check_chain<true, false, K, SX, false, true>(pairs, threads);
    }
  }
}

}  // namespace

TEST_CASE("depthwise_chain gives what its three kernels give") {
  check_chains<3, 1>({.h = 9, .w = 11, .cin = 5, .middle = 37, .cout = 7});
  check_chains<3, 1>({.n = 2, .h = 8, .w = 16, .cin = 16, .middle = 96, .cout = 24, .band = 3});
  check_chains<3, 2>({.n = 2, .h = 9, .w = 14, .cin = 16, .middle = 80, .cout = 33, .band = 2});
  check_chains<3, 2>({.h = 8, .w = 8, .cin = 3, .middle = 16, .cout = 4, .band = 100});
  check_chains<5, 1>({.h = 7, .w = 10, .cin = 8, .middle = 70, .cout = 8, .pad = 2, .band = 1});
  check_chains<5, 2>({.h = 13, .w = 9, .cin = 8, .middle = 64, .cout = 8, .pad = 2, .band = 2});
  check_chains<3, 1>({.h = 6, .w = 6, .cin = 8, .middle = 512, .cout = 8, .pad = 0, .band = 2});
  check_chains<3, 1>({.h = 3, .w = 3, .cin = 8, .middle = 16, .cout = 8, .pad = 3, .band = 1});
}
