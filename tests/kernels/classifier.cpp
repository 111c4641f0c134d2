// The end of a classifier against loops in double: tails of pixels, channels and columns, fewer panels than groups,
// epilogues, threads.
#include <onnxc/classifier.hpp>

#include <algorithm>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

struct Case {
  int64_t pixels, cin, channels, n;
  int parts = 1;
  bool bias = true;
  int64_t images = 1;
};

struct Rectified {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::max(x, lanes(0.0f));
  }
};
struct Quarter {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::mul(x, lanes(0.25f));
  }
};

template <int MR, int NV, int NV2>
void check(const Case& t) {
  constexpr int64_t NR = NV * Vec::width, NR2 = NV2 * Vec::width;
  INFO("images " << t.images << " pixels " << t.pixels << " cin " << t.cin << " channels " << t.channels << " n " << t.n << " parts "
                 << t.parts << " tile " << MR << "x" << NV << ", " << NV2);
  const int64_t x_pixel = t.cin + 3, pitch = contract::classifier_pitch(t.n, NR2);
  const auto x = numbers(t.images * t.pixels * x_pixel, 1), w = numbers(t.cin * t.channels, 2), v = numbers(t.channels * t.n, 3),
             bias = numbers(t.channels, 4), start = numbers(t.n, 5);
  const Aligned packed_w(pack::panels(w, {.k = t.cin, .n = t.channels, .nr = NR})),
      packed_v(pack::slices(v, {.k = t.channels, .n = t.n, .nr = NR2}, NR));
  const Aligned packed_bias(pack::padded(bias, NR)), packed_start(pack::padded(start, NR2));
  const ClassifierParams p{.images = t.images,
                           .pixels = t.pixels,
                           .cin = t.cin,
                           .channels = t.channels,
                           .n = t.n,
                           .x_pixel = x_pixel,
                           .bias = t.bias ? packed_bias.p : nullptr,
                           .start = t.bias ? packed_start.p : nullptr};
  std::vector<float> sums(size_t(t.images * contract::classifier_sums(t.n, NR2) + 1), kGuard);
  for (int i = t.parts; i-- > 0;)
    classifier<MR, NV, NV2>(Part{i, t.parts}, x.data(), packed_w.p, packed_v.p, sums.data(), p, Epilogue<Rectified>{}, Epilogue<Quarter>{});

  int64_t wrong = sums.back() != kGuard;
  for (int64_t image = 0; image < t.images; ++image) {
    std::vector<double> factors(size_t(t.channels));
    for (int64_t c = 0; c < t.channels; ++c) {
      for (int64_t i = 0; i < t.pixels; ++i) {
        double y = t.bias ? double(bias[size_t(c)]) : 0;
        for (int64_t k = 0; k < t.cin; ++k)
          y += double(x[size_t((image * t.pixels + i) * x_pixel + k)]) * double(w[size_t(k * t.channels + c)]);
        factors[size_t(c)] += std::max(y, 0.0) / 4;
      }
    }
    const double largest = *std::ranges::max_element(factors),
                 tolerance = std::max(1.0, largest) * (sum_tolerance(t.channels) + sum_tolerance(t.pixels) + sum_tolerance(t.cin));
    for (int64_t j = 0; j < t.n; ++j) {
      double wanted = t.bias ? double(start[size_t(j)]) : 0, got = 0;
      for (int64_t c = 0; c < t.channels; ++c) wanted += factors[size_t(c)] * double(v[size_t(c * t.n + j)]);
      for (int64_t g = 0; g < contract::kClassifierGroups; ++g)
        got += double(sums[size_t((image * contract::kClassifierGroups + g) * pitch + j)]);
      wrong += !(std::fabs(got - wanted) <= tolerance);
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("classifier: every tail, images, threads") {
  for (const Case& t : {Case{49, 20, 160, 100},
                        {49, 33, 131, 67, 3},
                        {2, 5, 7, 3},
                        {7, 1, 64, 33, 2, false},
                        {64, 16, 96, 128, 4},
                        {9, 8, 300, 10, 7},
                        {25, 6, 70, 20, 2, true, 5},
                        {4, 3, 40, 9, 3, true, 35},
                        {4, 3, 40, 9, 1, true, 0}}) {
    check<6, 2, 3>(t);
    check<4, 1, 1>(t);
    check<5, 3, 4>(t);
  }
}

TEST_CASE("classifier: an image's sums are the same to the bit on any number of threads, and beside any others") {
  const Case t{25, 24, 200, 50, 1, false, 21};
  constexpr int64_t NR = 2 * Vec::width, NR2 = 3 * Vec::width, apart = contract::classifier_sums(50, NR2);
  const auto x = numbers(t.images * t.pixels * t.cin, 1);
  const Aligned w(pack::panels(numbers(t.cin * t.channels, 2), {.k = t.cin, .n = t.channels, .nr = NR})),
      v(pack::slices(numbers(t.channels * t.n, 3), {.k = t.channels, .n = t.n, .nr = NR2}, NR));
  const auto run = [&](int parts, int64_t first, int64_t images) {
    std::vector<float> sums(size_t(images * apart), kGuard);
    const ClassifierParams p{.images = images, .pixels = t.pixels, .cin = t.cin, .channels = t.channels, .n = t.n, .x_pixel = t.cin};
    for (int i = 0; i < parts; ++i) classifier<6, 2, 3>(Part{i, parts}, x.data() + first * t.pixels * t.cin, w.p, v.p, sums.data(), p);
    return sums;
  };
  const auto all = run(1, 0, t.images);
  for (const int parts : {2, 3, 4, 9}) CHECK(run(parts, 0, t.images) == all);
  for (const int64_t image : {0, 7, 20})
    CHECK(run(1, image, 1) == std::vector<float>(all.begin() + image * apart, all.begin() + (image + 1) * apart));
}
