// Kernels of a GPU's own that move or combine values, in the emulator: against loops in double, in any order of threads.
#include <onnxc/gpu/copy_strided.hpp>
#include <onnxc/gpu/map.hpp>
#include <onnxc/gpu/norm.hpp>
#include <onnxc/gpu/pool.hpp>
#include <onnxc/gpu/reduce.hpp>
#include <onnxc/gpu/softmax.hpp>
#include <onnxc/strided_copy.hpp>

#include <cmath>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::test;
namespace scalar = onnxc::scalar;
using gpu::Queue;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T = float>
std::vector<T> some(int64_t n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<float>(static_cast<int>(i * 37 % 61) - 30) / 8);
  return v;
}

struct AddTanh {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A a, B b) {
    return fn::tanh(fn::add(a, b));
  }
};
struct Twice {
  template <class L, class A>
  static ONNXC_BOTH auto apply(L lanes, A a) {
    return fn::mul(a, lanes(2.0f));
  }
};
struct PlusOperand {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A a, B b) {
    return fn::add(a, b);
  }
};

/// Runs enqueue(queue, y) in several orders, each of which must give the bits of the first; returns these.
template <class T = float, class Enqueue>
std::vector<T> results(int64_t count, Enqueue enqueue) {
  std::vector<T> first;
  for_orders([&] {
    const OnDevice<T> y(std::vector<T>(static_cast<std::size_t>(count), T(-7)));
    const OnDevice<unsigned> words(std::vector<unsigned>(2));
    Queue queue(nullptr, words.data());
    enqueue(queue, y.data());
    REQUIRE(!queue.result());
    const std::vector<T> now = y.host();
    if (first.empty()) first = now;
    CHECK(std::memcmp(first.data(), now.data(), now.size() * sizeof(T)) == 0);
  });
  return first;
}

/// Puts what a kernel that works in place begins with on the device.
void fill(float* y, const std::vector<float>& from) { REQUIRE(!gpu::to_device(nullptr, y, from.data(), from.size() * sizeof(float))); }

/// To the bit.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check_near(const std::vector<float>& y, const std::vector<double>& expected, double bound) {
  REQUIRE(y.size() == expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    INFO("at " << i);
    if (std::isnan(expected[i])) CHECK(std::isnan(y[i]));
    else if (std::isinf(expected[i])) CHECK(static_cast<double>(y[i]) == expected[i]);
    else CHECK(std::abs(static_cast<double>(y[i]) - expected[i]) <= bound * std::max(1.0, std::abs(expected[i])));
  }
}

}  // namespace

TEST_CASE("divisions by one product are divisions") {
  const int64_t most = 0x7fffffff;
  for (const int64_t d : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{12}, int64_t{641}, int64_t{65536}, int64_t{1000003},
                          most - 1, most, most + 2}) {
    const gpu::FastDivide divide(d);
    for (const int64_t near : {int64_t{0}, d, 2 * d, 5 * d, most, most / 2, most / d * d, 3 * most}) {
      for (int64_t n = std::max<int64_t>(0, near - 2); n <= near + 2; ++n) {
        CHECK(divide(n) == n / d);
        if (n <= most && d <= most) CHECK(divide.in(static_cast<int32_t>(n)) == n / d);
      }
    }
  }
}

TEST_CASE("maps by runs and by elements are map_scalar") {
  struct Form {
    Shape shape;
    Ints x, y;
  };
  const OnDevice<float> a(some(4096)), b(some(4096)), one(std::vector<float>{0.5f});
  for (const auto& [shape, strides, y_strides] :
       {Form{{1000}, {}, {}}, Form{{1001}, {}, {}}, Form{{3, 64}, {64}, {64}}, Form{{3, 5, 20}, {100, 0}, {100, 20}},
        Form{{3, 5, 7}, {0, 7}, {35, 7}}, Form{{4, 8}, {9}, {8}}, Form{{}, {}, {}}, Form{{0, 4}, {4}, {4}}}) {
    const int64_t count = shape.count();
    std::vector<float> expected(static_cast<std::size_t>(count));
    const float *const xa = a.data(), *const xb = b.data(), *const xs = one.data();
    map_scalar<AddTanh>(Share{}, shape, onnxc::Stream{expected.data(), y_strides}, onnxc::Stream{xa, strides},
                        onnxc::Stream{xb, y_strides});
    CHECK(results(count, [&](Queue& q, float* y) {
            gpu::map<AddTanh>(q, shape, onnxc::Stream{y, y_strides}, onnxc::Stream{xa, strides}, onnxc::Stream{xb, y_strides});
          }) == expected);
    map_scalar<AddTanh>(Share{}, shape, onnxc::Stream{expected.data(), y_strides}, Fixed{xs, Ints{0, 0, 0}}, Strided{xb, 3, strides});
    CHECK(results(count, [&](Queue& q, float* y) {
            gpu::map<AddTanh>(q, shape, onnxc::Stream{y, y_strides}, Fixed{xs, Ints{0, 0, 0}}, Strided{xb, 3, strides});
          }) == expected);
  }
}

TEST_CASE("copies go by packs, by turned tiles and by elements") {
  struct Form {
    Shape shape;
    Ints y, x;
    int64_t from = 0;  // of x
  };
  const auto check = [&]<class T>(T) {
    const std::vector<T> host = some<T>(20000);
    const OnDevice<T> device(host);
    for (const auto& [shape, ys, xs, from] :
         {Form{{10, 64}, {64, 1}, {80, 1}}, Form{{10, 64}, {64, 1}, {80, 1}, 1}, Form{{10, 64}, {64, 1}, {81, 1}},
          Form{{10, 64}, {65, 1}, {80, 1}}, Form{{10, 63}, {63, 1}, {80, 1}}, Form{{40, 70}, {70, 1}, {1, 40}},
          Form{{3, 33, 65}, {33 * 65, 65, 1}, {33 * 65, 1, 33}}, Form{{2, 40, 3, 35}, {40 * 105, 105, 35, 1}, {40 * 105, 1, 40, 120}},
          Form{{4, 4}, {4, 1}, {1, 4}}, Form{{5, 40}, {40, 1}, {0, 1}}, Form{{}, {}, {}}, Form{{0, 3}, {3, 1}, {3, 1}}}) {
      const int64_t count = shape.count() + (shape.rank > 0 ? shape[0] : 0);  // rows of y may have gaps
      std::vector<T> expected(static_cast<std::size_t>(count), T(-7));
      if (shape.rank == 0) expected[0] = host[0];
      else strided_copy(Share{}, shape, expected.data(), ys, host.data() + from, xs);
      const T* const x = device.data() + from;
      CHECK(results<T>(count, [&](Queue& q, T* y) { gpu::copy_strided(q, shape, y, ys, x, xs); }) == expected);
    }
  };
  check(float{});
  check(int8_t{});
  check(double{});
}

TEST_CASE("softmax of rows of any length") {
  for (const int64_t n : {1, 5, 31, 33, 128, 256, 1000, 3000}) {
    CAPTURE(n);
    const int64_t rows = 6;
    std::vector<float> host = some(rows * n);
    host[static_cast<std::size_t>(2 * n)] = std::numeric_limits<float>::quiet_NaN();
    for (int64_t i = 0; i < n; ++i) host[static_cast<std::size_t>(3 * n + i)] = -kInfinity;
    if (n > 1) host[static_cast<std::size_t>(4 * n)] = -kInfinity;
    for (int64_t i = 0; i < n; ++i) host[static_cast<std::size_t>(5 * n + i)] -= 200;  // of which no exponential is a number
    const OnDevice<float> x(host);
    const gpu::SoftmaxParams p{.rows = rows, .n = n, .x_row = n, .y_row = n};
    for (const bool log : {false, true}) {
      std::vector<double> expected;
      for (int64_t r = 0; r < rows; ++r) {
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          const double v = static_cast<double>(host[static_cast<std::size_t>(r * n + i)]);
          top = top >= v || top != top ? top : v;
        }
        for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(host[static_cast<std::size_t>(r * n + i)]) - top);
        for (int64_t i = 0; i < n; ++i) {
          const double v = static_cast<double>(host[static_cast<std::size_t>(r * n + i)]) - top;
          expected.push_back(log ? v - std::log(sum) : std::exp(v) / sum);
        }
      }
      const auto in_block = results(rows * n, [&](Queue& q, float* y) {
        log ? gpu::softmax_in_block<true>(q, x.data(), y, p) : gpu::softmax_in_block<false>(q, x.data(), y, p);
      });
      check_near(in_block, expected, 2e-6);
      CHECK(same(in_block, results(rows * n, [&](Queue& q, float* y) {
                   fill(y, host);
                   log ? gpu::softmax_in_block<true>(q, y, y, p) : gpu::softmax_in_block<false>(q, y, y, p);
                 })));
      if (n > 256) continue;
      const auto in_warp = results(rows * n, [&](Queue& q, float* y) {
        log ? gpu::softmax_in_warp<8, true>(q, x.data(), y, p) : gpu::softmax_in_warp<8, false>(q, x.data(), y, p);
      });
      check_near(in_warp, expected, 2e-6);
      CHECK(same(in_warp, results(rows * n, [&](Queue& q, float* y) {
                   fill(y, host);
                   log ? gpu::softmax_in_warp<8, true>(q, y, y, p) : gpu::softmax_in_warp<8, false>(q, y, y, p);
                 })));
    }
  }
}

TEST_CASE("norms of rows") {
  for (const int64_t n : {1, 7, 64, 768, 1500}) {
    CAPTURE(n);
    const int64_t rows = 3;
    const std::vector<float> host = some(rows * n), s = some(n), b = some(2 * n);
    const OnDevice<float> x(host), scale(s), bias(b), mean(std::vector<float>(3)), deviation(std::vector<float>(3));
    for (const bool centred : {true, false}) {
      std::vector<double> expected, means, deviations;
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(host[static_cast<std::size_t>(r * n + i)]);
        const double m = centred ? sum / static_cast<double>(n) : 0;
        for (int64_t i = 0; i < n; ++i) squares += std::pow(static_cast<double>(host[static_cast<std::size_t>(r * n + i)]) - m, 2);
        const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
        for (int64_t i = 0; i < n; ++i)
          expected.push_back((static_cast<double>(host[static_cast<std::size_t>(r * n + i)]) - m) * inverse *
                                 static_cast<double>(s[static_cast<std::size_t>(i)]) +
                             static_cast<double>(b[static_cast<std::size_t>(i)]));
        means.push_back(m);
        deviations.push_back(inverse);
      }
      const gpu::NormParams p{.rows = rows,
                              .n = n,
                              .x_row = n,
                              .y_row = n,
                              .epsilon = 1e-5f,
                              .scale = scale.data(),
                              .bias = bias.data(),
                              .mean = mean.data(),
                              .inverse_deviation = deviation.data()};
      const auto y = results(
          rows * n, [&](Queue& q, float* to) { centred ? gpu::norm<true>(q, x.data(), to, p) : gpu::norm<false>(q, x.data(), to, p); });
      check_near(y, expected, 1e-5);
      check_near(mean.host(), means, 1e-6);
      check_near(deviation.host(), deviations, 1e-5);
      CHECK(same(y, results(rows * n, [&](Queue& q, float* to) {
                   fill(to, host);
                   centred ? gpu::norm<true>(q, to, to, p) : gpu::norm<false>(q, to, to, p);
                 })));
    }
  }
}

TEST_CASE("reductions of the last axis and of the middle one") {
  for (const auto& [outer, r, inner] :
       {std::tuple<int64_t, int64_t, int64_t>{5, 49, 70}, {1, 0, 3}, {2, 1, 1}, {3, 1500, 2}, {40, 7, 33}}) {
    CAPTURE(outer, r, inner);
    const std::vector<float> host = some(outer * r * inner + 1), operand = some(outer * inner);
    const OnDevice<float> x(host), of_columns(operand);
    const auto value = [&](int64_t i) { return static_cast<double>(host[static_cast<std::size_t>(i)]); };
    std::vector<double> sums, largest;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        double sum = 0, top = -std::numeric_limits<double>::infinity();
        for (int64_t k = 0; k < r; ++k) {
          const double v = value((o * r + k) * inner + i);
          sum += v * v;
          top = std::max(top, v);
        }
        sums.push_back(2 * sum);
        largest.push_back(top + static_cast<double>(operand[static_cast<std::size_t>(i)]));
      }
    }
    const gpu::ReduceParams p{.outer = outer, .r = r, .inner = inner, .x_row = inner, .x_outer = r * inner, .y_outer = inner};
    check_near(results(outer * inner,
                       [&](Queue& q, float* y) { gpu::reduce_middle<scalar::Sum, scalar::Square>(q, x.data(), y, p, Epilogue<Twice>{}); }),
               sums, 1e-6);
    const Epilogue<PlusOperand, PerCol<float>> plus{{of_columns.data()}};
    check_near(results(outer * inner, [&](Queue& q, float* y) { gpu::reduce_middle<scalar::Max, scalar::Same>(q, x.data(), y, p, plus); }),
               largest, 1e-6);

    std::vector<double> of_rows, products;
    for (int64_t o = 0; o < outer; ++o) {
      double sum = 0, product = 1;
      for (int64_t k = 0; k < r; ++k) {
        sum += std::abs(value(o * r + k));
        product *= value(o * r + k);
      }
      of_rows.push_back(sum + static_cast<double>(operand[static_cast<std::size_t>(o)]));
      products.push_back(product);
    }
    const gpu::ReduceParams last{.outer = outer, .r = r, .x_row = r};
    check_near(results(outer, [&](Queue& q, float* y) { gpu::reduce_last<scalar::Sum, scalar::Magnitude>(q, x.data(), y, last, plus); }),
               of_rows, 1e-6);
    if (r < 10)
      check_near(results(outer, [&](Queue& q, float* y) { gpu::reduce_last<scalar::Product, scalar::Same>(q, x.data(), y, last); }),
                 products, 1e-5);
  }
}

TEST_CASE("pools of channels-last images") {
  struct Form {
    int64_t h, w, c, kh, kw, stride, dilation, pad;
  };
  for (const auto& [h, w, c, kh, kw, stride, dilation, pad] :
       {Form{9, 8, 5, 3, 3, 2, 1, 1}, Form{7, 7, 33, 2, 3, 1, 2, 1}, Form{4, 4, 4, 1, 1, 1, 1, 0}, Form{3, 3, 8, 3, 3, 3, 1, 0}}) {
    CAPTURE(h, w, c, kh, kw);
    const int64_t n = 2, oh = (h + 2 * pad - dilation * (kh - 1) - 1) / stride + 1,
                  ow = (w + 2 * pad - dilation * (kw - 1) - 1) / stride + 1;
    const int64_t x_pixel = c + 3, y_pixel = c;
    const std::vector<float> host = some(n * h * w * x_pixel);
    const OnDevice<float> x(host);
    gpu::PoolParams p{.n = n,
                      .h = h,
                      .w = w,
                      .c = c,
                      .oh = oh,
                      .ow = ow,
                      .kh = kh,
                      .kw = kw,
                      .stride_y = stride,
                      .stride_x = stride,
                      .dilation_y = dilation,
                      .dilation_x = dilation,
                      .pad_top = pad,
                      .pad_left = pad,
                      .pad_bottom = pad,
                      .pad_right = pad,
                      .x_pixel = x_pixel,
                      .y_pixel = y_pixel};
    std::vector<double> largest, means, padded_means;
    for (int64_t o = 0; o < n * oh * ow; ++o) {
      for (int64_t channel = 0; channel < c; ++channel) {
        double top = -std::numeric_limits<double>::infinity(), sum = 0, count = 0, padded = 0;
        for (int64_t ky = 0; ky < kh; ++ky) {
          for (int64_t kx = 0; kx < kw; ++kx) {
            const int64_t iy = o / ow % oh * stride - pad + ky * dilation, ix = o % ow * stride - pad + kx * dilation;
            padded += iy < h + pad && ix < w + pad;
            if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
            const double v = static_cast<double>(host[static_cast<std::size_t>(((o / ow / oh * h + iy) * w + ix) * x_pixel + channel)]);
            top = std::max(top, v);
            sum += v;
            ++count;
          }
        }
        largest.push_back(2 * top);
        means.push_back(sum / std::max(count, 1.0));
        padded_means.push_back(sum / std::max(padded, 1.0));
      }
    }
    const int64_t count = n * oh * ow * c;
    check_near(results(count, [&](Queue& q, float* y) { gpu::max_pool(q, x.data(), y, p, Epilogue<Twice>{}); }), largest, 0);
    check_near(results(count, [&](Queue& q, float* y) { gpu::average_pool(q, x.data(), y, p); }), means, 1e-6);
    p.count_include_pad = true;
    check_near(results(count, [&](Queue& q, float* y) { gpu::average_pool(q, x.data(), y, p); }), padded_means, 1e-6);
  }
}
