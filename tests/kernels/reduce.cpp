// Pooling, reductions, softmax, normalisation and resizing against loops in double.
#include <onnxc/layer_norm.hpp>
#include <onnxc/lrn.hpp>
#include <onnxc/pool.hpp>
#include <onnxc/pool_planar.hpp>
#include <onnxc/scalar/reduce.hpp>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
const int64_t kLengths[] = {1, kPartLanes, Vec::width, Vec::width + 1, 4 * Vec::width, 5 * Vec::width + 3, 1000, 5000};

struct Half {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::mul(x, lanes(0.5f));
  }
};
struct ScaleAdd {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::add(fn::mul(x0, lanes(2.0f)), x1);
  }
};

template <class Op, class F>
void check_last(F combine, double start, double relative) {
  for (int64_t r : kLengths) {
    const int64_t pitch = r + 2;
    auto x = numbers(3 * pitch);
    if (std::is_same_v<Op, Product>) {
      for (float& v : x) v = 1.0f + v / 1000;
    }
    std::vector<float> y(4, kGuard);
    for (int thread = 0; thread < 2; ++thread)
      reduce_last<Op>({thread, 2}, x.data(), y.data(), {.outer = 3, .r = r, .x_row = pitch}, Epilogue<Half>{});
    CHECK(y[3] == kGuard);
    for (int64_t o = 0; o < 3; ++o) {
      double total = start;
      for (int64_t i = 0; i < r; ++i) total = combine(total, double(x[size_t(o * pitch + i)]));
      INFO("r " << r);
      CHECK(std::fabs(y[size_t(o)] - total / 2) <= relative * std::sqrt(double(r)) * std::fmax(1.0, std::fabs(total)));
    }
  }
}

}  // namespace

TEST_CASE("reductions of the last axis") {
  check_last<Sum>([](double a, double b) { return a + b; }, 0, 1e-6);
  check_last<Product>([](double a, double b) { return a * b; }, 1, 1e-6);
  check_last<Max>([](double a, double b) { return std::fmax(a, b); }, -HUGE_VAL, 0);
  check_last<Min>([](double a, double b) { return std::fmin(a, b); }, HUGE_VAL, 0);
  for (int64_t at : {0, 5, 37, 99}) {
    auto x = numbers(100);
    x[size_t(at)] = kNan;
    float y = 0;
    reduce_last<Max>({}, x.data(), &y, {.r = 100, .x_row = 100});
    CHECK(std::isnan(y));
  }
  float y = 0;
  reduce_last<Sum>({}, &y, &y, {.r = 0, .x_row = 0});
  CHECK(y == 0.0f);
  const std::vector<float> tenth(1'000'000, 0.1f);
  reduce_last<Sum>({}, tenth.data(), &y, {.r = 1'000'000, .x_row = 0});
  CHECK(y == Approx(100000.0).epsilon(1e-6));
}

TEST_CASE("reductions of the middle axis") {
  for (int64_t inner : {1, kPartLanes, Vec::width + 1, 4 * Vec::width, 9 * Vec::width + 5}) {
    for (int64_t r : {1, 49, 1500}) {
      for (int threads : {1, 3}) {
        const int64_t x_row = inner + 1, y_outer = inner + 2;
        const auto x = numbers(2 * r * x_row);
        std::vector<float> sums(size_t(2 * y_outer), kGuard), tops = sums;
        const ReduceParams p{.outer = 2, .r = r, .inner = inner, .x_row = x_row, .x_outer = r * x_row, .y_outer = y_outer};
        for (int i = 0; i < threads; ++i) {
          reduce_middle<Sum, Square>({i, threads}, x.data(), sums.data(), p, Epilogue<Half>{});
          reduce_middle<Max>({i, threads}, x.data(), tops.data(), p);
        }
        int64_t wrong = 0;
        for (int64_t o = 0; o < 2; ++o) {
          for (int64_t j = 0; j < y_outer; ++j) {
            const size_t at = size_t(o * y_outer + j);
            if (j >= inner) {
              wrong += sums[at] != kGuard || tops[at] != kGuard;
              continue;
            }
            double total = 0, top = -2;
            for (int64_t i = 0; i < r; ++i) {
              const double v = double(x[size_t((o * r + i) * x_row + j)]);
              total += v * v;
              top = std::fmax(top, v);
            }
            wrong += !(std::fabs(sums[at] - total / 2) <= 1e-6 * std::sqrt(double(r)) * total + 1e-7) || double(tops[at]) != top;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
  // integers over two axes of [2, 3, 4]: axes 0 and 2 are reduced
  std::vector<int64_t> x(24), y(3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = int64_t(i);
  scalar::reduce<scalar::Sum, scalar::Same>({}, y.data(), x.data(), {3}, {4}, {2, 4}, {12, 1});
  CHECK(y == std::vector<int64_t>{60, 92, 124});
}

TEST_CASE("softmax and its logarithm") {
  for (int64_t n : kLengths) {
    const int64_t x_row = n + 3, y_row = n + 2;
    auto x = numbers(3 * x_row);
    for (float& v : x) v *= 20;
    const auto mask = numbers(n, 5);
    std::vector<float> y(size_t(3 * y_row), kGuard), z = y;
    const Epilogue<ScaleAdd, PerCol<float>> prologue{{mask.data()}};
    for (int thread = 0; thread < 2; ++thread) {
      softmax({thread, 2}, x.data(), y.data(), {.rows = 3, .n = n, .x_row = x_row, .y_row = y_row}, prologue);
      log_softmax({thread, 2}, x.data(), z.data(), {.rows = 3, .n = n, .x_row = x_row, .y_row = y_row}, prologue);
    }
    int64_t wrong = 0;
    for (int64_t r = 0; r < 3; ++r) {
      double top = -HUGE_VAL, total = 0;
      auto v = [&](int64_t i) { return double(x[size_t(r * x_row + i)] * 2.0f + mask[size_t(i)]); };
      for (int64_t i = 0; i < n; ++i) top = std::fmax(top, v(i));
      for (int64_t i = 0; i < n; ++i) total += std::exp(v(i) - top);
      for (int64_t i = 0; i < y_row; ++i) {
        const size_t at = size_t(r * y_row + i);
        if (i >= n) {
          wrong += y[at] != kGuard || z[at] != kGuard;
          continue;
        }
        const double expected = std::exp(v(i) - top) / total, log_expected = v(i) - top - std::log(total);
        wrong += !(std::fabs(y[at] - expected) <= (1e-6 + 1.2e-7 * (top - v(i))) * expected + 1e-30) ||
                 !(std::fabs(z[at] - log_expected) <= 1e-5);
      }
    }
    INFO("n " << n);
    CHECK(wrong == 0);
  }
  for (int64_t n = 1; n <= 2 * Vec::width; ++n) {  // short rows, several at a time, and the first that are not short
    const int64_t rows = 2 * Vec::width + 3, x_row = n + 1, y_row = n + 2;
    auto rows_of_x = numbers(rows * x_row);
    for (float& v : rows_of_x) v *= 20;
    std::vector<float> y(size_t(rows * y_row), kGuard), z = y;
    for (int thread = 0; thread < 2; ++thread) {
      softmax({thread, 2}, rows_of_x.data(), y.data(), {.rows = rows, .n = n, .x_row = x_row, .y_row = y_row});
      log_softmax({thread, 2}, rows_of_x.data(), z.data(), {.rows = rows, .n = n, .x_row = x_row, .y_row = y_row});
    }
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float* const v = rows_of_x.data() + r * x_row;
      double top = -HUGE_VAL, total = 0;
      for (int64_t i = 0; i < n; ++i) top = std::fmax(top, double(v[i]));
      for (int64_t i = 0; i < n; ++i) total += std::exp(double(v[i]) - top);
      for (int64_t i = 0; i < y_row; ++i) {
        const size_t at = size_t(r * y_row + i);
        if (i >= n) wrong += y[at] != kGuard || z[at] != kGuard;
        else
          wrong += !(std::fabs(y[at] - std::exp(double(v[i]) - top) / total) <= 1e-6) ||
                   !(std::fabs(z[at] - (double(v[i]) - top - std::log(total))) <= 1e-5);
      }
    }
    INFO("n " << n);
    CHECK(wrong == 0);
    // A share of one row computes it as a share of all rows does.
    std::vector<float> alone(y), log_alone(z);
    for (int share = 0; share < rows; ++share) {
      softmax({share, int(rows)}, rows_of_x.data(), alone.data(), {.rows = rows, .n = n, .x_row = x_row, .y_row = y_row});
      log_softmax({share, int(rows)}, rows_of_x.data(), log_alone.data(), {.rows = rows, .n = n, .x_row = x_row, .y_row = y_row});
    }
    CHECK((alone == y && log_alone == z));
  }
  std::vector<float> pair = {1, kNan, 3, 4};
  softmax({}, pair.data(), pair.data(), {.rows = 2, .n = 2, .x_row = 2, .y_row = 2});
  CHECK((std::isnan(pair[0]) && std::isnan(pair[1]) && std::fabs(pair[2] - 0.26894142f) < 1e-6f));
  std::vector<float> x = {1, kNan, 3};
  softmax({}, x.data(), x.data(), {.rows = 1, .n = 3, .x_row = 3, .y_row = 3});
  CHECK((std::isnan(x[0]) && std::isnan(x[2])));
  x = {0, -kInf, 0};
  softmax({}, x.data(), x.data(), {.rows = 1, .n = 3, .x_row = 3, .y_row = 3});
  CHECK(x == std::vector<float>{0.5f, 0.0f, 0.5f});
}

TEST_CASE("layer and rms normalisation") {
  for (int64_t n : kLengths) {
    const int64_t pitch = n + 3;
    auto x = numbers(3 * pitch), residual = numbers(3 * n, 4), scale = numbers(n, 5), bias = numbers(n, 6);
    for (float& v : x) v += 100.0f;  // a mean that would cancel
    std::vector<float> y(size_t(3 * pitch), kGuard), z = y, values = y, w = y;
    NormParams p{.rows = 3,
                 .n = n,
                 .x_row = pitch,
                 .y_row = pitch,
                 .epsilon = 1e-3f,
                 .scale = scale.data(),
                 .bias = bias.data(),
                 .values = values.data()};
    const Epilogue<ScaleAdd, Rows<float>> prologue{{residual.data(), n}};
    for (int thread = 0; thread < 2; ++thread) layer_norm({thread, 2}, x.data(), y.data(), p, prologue);
    p.bias = nullptr;
    p.values = nullptr;
    rms_norm({}, x.data(), z.data(), p, prologue);
    p.scale = nullptr;
    w = x;
    layer_norm({}, w.data(), w.data(), p);
    int64_t wrong = 0;
    for (int64_t r = 0; r < 3; ++r) {
      double mean = 0, variance = 0, squares = 0;
      auto v = [&](int64_t i) { return double(x[size_t(r * pitch + i)] * 2.0f + residual[size_t(r * n + i)]); };
      for (int64_t i = 0; i < n; ++i) mean += v(i) / double(n);
      for (int64_t i = 0; i < n; ++i) {
        variance += (v(i) - mean) * (v(i) - mean) / double(n);
        squares += v(i) * v(i) / double(n);
      }
      for (int64_t i = 0; i < pitch; ++i) {
        const size_t at = size_t(r * pitch + i);
        if (i >= n) {
          wrong += y[at] != kGuard || z[at] != kGuard || values[at] != kGuard;
          continue;
        }
        const double a = (v(i) - mean) / std::sqrt(variance + 1e-3) * double(scale[size_t(i)]) + double(bias[size_t(i)]);
        const double b = v(i) / std::sqrt(squares + 1e-3) * double(scale[size_t(i)]);
        wrong += !(std::fabs(y[at] - a) <= 3e-3) || !(std::fabs(z[at] - b) <= 1e-5) || std::fabs(values[at] - v(i)) > 2e-5;
      }
    }
    INFO("n " << n);
    CHECK(wrong == 0);
    if (n > 100) {
      double mean = 0, squares = 0;
      for (int64_t i = 0; i < n; ++i) {
        mean += double(w[size_t(i)]) / double(n);
        squares += double(w[size_t(i)]) * double(w[size_t(i)]) / double(n);
      }
      CHECK(std::fabs(mean) < 1e-3);
      CHECK(squares == Approx(1.0).epsilon(1e-2));
    }
  }
}

TEST_CASE("pooling of images without outputs touches nothing") {
  const std::vector<float> x(8, 1.0f);
  float y = kGuard;
  for (const PoolParams& p : {PoolParams{.h = 1, .w = 1, .c = 1, .oh = 0, .ow = 0, .kh = 2, .kw = 2, .x_pixel = 1, .y_pixel = 1},
                              PoolParams{.n = 0, .h = 1, .w = 1, .c = 1, .oh = 1, .ow = 1, .x_pixel = 1, .y_pixel = 1}}) {
    max_pool({}, x.data(), &y, p);
    average_pool({}, x.data(), &y, p);
  }
  CHECK(y == kGuard);
}

TEST_CASE("pooling") {
  struct Case {
    PoolParams p;
    int threads;
  };
  for (int64_t c : {1, kPartLanes, Vec::width, Vec::width + 1, 50}) {
    const Case cases[] = {
        {{.h = 12,
          .w = 11,
          .c = c,
          .oh = 6,
          .ow = 6,
          .kh = 3,
          .kw = 3,
          .stride_y = 2,
          .stride_x = 2,
          .pad_top = 1,
          .pad_left = 1,
          .pad_bottom = 1,
          .pad_right = 1,
          .x_pixel = c + 1,
          .y_pixel = c + 2},
         3},
        {{.n = 2,
          .h = 9,
          .w = 9,
          .c = c,
          .oh = 5,
          .ow = 5,
          .kh = 2,
          .kw = 2,
          .stride_y = 2,
          .stride_x = 2,
          .x_pixel = c,
          .y_pixel = c,
          .count_include_pad = true},
         1},  // ceil_mode
        {{.h = 9,
          .w = 9,
          .c = c,
          .oh = 7,
          .ow = 5,
          .kh = 2,
          .kw = 3,
          .dilation_y = 3,
          .dilation_x = 2,
          .pad_top = 1,
          .pad_left = 0,
          .x_pixel = c,
          .y_pixel = c,
          .count_include_pad = true},
         2},
    };
    for (const auto& [p, threads] : cases) {
      auto x = numbers(p.n * p.h * p.w * p.x_pixel);
      x[0] = kNan;
      std::vector<float> top(size_t(p.n * p.oh * p.ow * p.y_pixel), kGuard), mean = top;
      for (int i = 0; i < threads; ++i) {
        max_pool({i, threads}, x.data(), top.data(), p);
        average_pool({i, threads}, x.data(), mean.data(), p, Epilogue<Half>{});
      }
      int64_t wrong = 0;
      for (int64_t o = 0; o < p.n * p.oh * p.ow; ++o) {
        for (int64_t ch = 0; ch < p.y_pixel; ++ch) {
          const size_t at = size_t(o * p.y_pixel + ch);
          if (ch >= c) {
            wrong += top[at] != kGuard || mean[at] != kGuard;
            continue;
          }
          double best = -HUGE_VAL, total = 0;
          int64_t count = 0;
          for (int64_t ky = 0; ky < p.kh; ++ky) {
            for (int64_t kx = 0; kx < p.kw; ++kx) {
              const int64_t iy = o / p.ow % p.oh * p.stride_y - p.pad_top + ky * p.dilation_y,
                            ix = o % p.ow * p.stride_x - p.pad_left + kx * p.dilation_x;
              const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
              count += inside || (p.count_include_pad && iy < p.h + p.pad_bottom && ix < p.w + p.pad_right);
              if (!inside) continue;
              const double v = double(x[size_t(((o / p.ow / p.oh * p.h + iy) * p.w + ix) * p.x_pixel + ch)]);
              best = std::isnan(v) || std::isnan(best) ? double(kNan) : std::fmax(best, v);
              total += v;
            }
          }
          if (std::isnan(total)) wrong += !std::isnan(top[at]) || !std::isnan(mean[at]);
          else wrong += double(top[at]) != best || !(std::fabs(mean[at] - total / double(count) / 2) <= 1e-6);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

template <int SX>
void check_planar_pool(PoolParams p, int threads) {
  auto x = numbers(p.n * p.c * p.h * p.w);
  x[5] = kNan;
  const int64_t pixels = p.oh * p.ow;
  std::vector<float> y(size_t(p.n * p.c * pixels) + 1, kGuard);
  for (int i = 0; i < threads; ++i) max_pool_planar<SX>({i, threads}, x.data(), y.data(), p);
  int64_t wrong = y.back() != kGuard;
  for (int64_t i = 0; i < p.n * p.c * pixels; ++i) {
    float most = -std::numeric_limits<float>::infinity();
    for (int64_t k = 0; k < p.kh * p.kw; ++k) {
      const float value = x[size_t(((i / pixels) * p.h + i / p.ow % p.oh * p.stride_y + k / p.kw) * p.w + i % p.ow * SX + k % p.kw)];
      if (std::isnan(most) || value > most || std::isnan(value)) most = std::isnan(most) ? most : value;
    }
    wrong += !(y[size_t(i)] == most || (std::isnan(y[size_t(i)]) && std::isnan(most)));
  }
  CHECK(wrong == 0);
}

TEST_CASE("max_pool_planar agrees with the loop") {
  check_planar_pool<2>({.n = 2, .h = 28, .w = 28, .c = 3, .oh = 14, .ow = 14, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2}, 3);
  check_planar_pool<2>({.h = 9, .w = 81, .c = 2, .oh = 3, .ow = 40, .kh = 3, .kw = 3, .stride_y = 3, .stride_x = 2}, 1);
  check_planar_pool<1>({.h = 6, .w = 37, .c = 2, .oh = 5, .ow = 35, .kh = 2, .kw = 3, .stride_x = 1}, 2);
}

TEST_CASE("sums of squares over neighbouring channels, at the edges and with windows wider than the pixel") {
  for (int64_t c : std::initializer_list<int64_t>{1, 3, kPartLanes, Vec::width, Vec::width + 1, 3 * Vec::width, 5 * Vec::width + 3}) {
    for (const auto& [before, after] :
         std::initializer_list<std::pair<int64_t, int64_t>>{{0, 0}, {2, 2}, {1, 2}, {Vec::width, Vec::width + 1}, {1000, 1000}}) {
      const int64_t pixels = 5, x_pixel = c + 1, y_pixel = c + 2;
      const Unaligned x(numbers((pixels - 1) * x_pixel + c));
      std::vector<float> y(size_t(pixels * y_pixel), kGuard);
      const ChannelWindowParams p{.pixels = pixels, .c = c, .x_pixel = x_pixel, .y_pixel = y_pixel, .before = before, .after = after};
      for (int thread = 0; thread < 2; ++thread)
        window_squares({thread, 2}, x.data(), y.data(), p, Epilogue<ScaleAdd, Rows<float>>{{x.data(), x_pixel}});
      INFO("c " << c << " before " << before << " after " << after);
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        for (int64_t ch = 0; ch < c; ++ch) {
          double sum = 0;
          for (int64_t k = std::max<int64_t>(0, ch - before); k <= std::min(c - 1, ch + after); ++k)
            sum += std::pow(double(x.data()[pixel * x_pixel + k]), 2);
          CHECK(std::fabs(y[size_t(pixel * y_pixel + ch)] - (2 * sum + x.data()[pixel * x_pixel + ch])) <= 1e-6 * (1 + sum));
        }
        for (int64_t ch = c; ch < y_pixel; ++ch) CHECK(y[size_t(pixel * y_pixel + ch)] == kGuard);
      }
    }
  }
}
