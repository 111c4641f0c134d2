// Kernels that combine values, in shares (shares.hpp).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <onnxc/scalar/affine_grid.hpp>
#include <onnxc/scalar/arg_max.hpp>
#include <onnxc/scalar/col2im.hpp>
#include <onnxc/scalar/conv.hpp>
#include <onnxc/scalar/cumulative.hpp>
#include <onnxc/scalar/deform_conv.hpp>
#include <onnxc/scalar/det.hpp>
#include <onnxc/scalar/dft.hpp>
#include <onnxc/scalar/distances.hpp>
#include <onnxc/scalar/einsum.hpp>
#include <onnxc/scalar/grid_sample.hpp>
#include <onnxc/scalar/inverse.hpp>
#include <onnxc/scalar/linear_attention.hpp>
#include <onnxc/scalar/lrn.hpp>
#include <onnxc/scalar/matmul.hpp>
#include <onnxc/scalar/ml/normalizer.hpp>
#include <onnxc/scalar/ml/scores.hpp>
#include <onnxc/scalar/ml/svm.hpp>
#include <onnxc/scalar/resize.hpp>
#include <onnxc/scalar/roi.hpp>
#include <onnxc/scalar/tf_idf.hpp>
#include <onnxc/scalar/top_k.hpp>

#include "shares.hpp"

using namespace onnxc;
using namespace onnxc::test;

TEST_CASE("products in shares") {
  for_numbers([]<class T>() {
    const auto a = values<T>(2 * 3 * 4 * 5), b = values<T>(3 * 5 * 6, 2);
    const scalar::MatMulParams p{.m = 4, .n = 6, .k = 5, .batch = {2, 3}, .a_strides = {60, 20}, .b_strides = {0, 30}};
    check_shares(2 * 3 * 4 * 6, [&](Outputs& to, Share share) { scalar::matmul(to.array<T>(144), a.data(), b.data(), p, share); });
    for (int columns : {1, 5}) {  // of a vector, with and without b
      check_shares(4 * columns, [&](Outputs& to, Share share) {
        scalar::einsum(to.array<T>(4 * columns), 2, {columns, 4, 5}, a.data(), {0, 5, 1}, b.data(), {1, 0, 6}, share);
      });
    }
    check_shares(
        12, [&](Outputs& to, Share share) { scalar::einsum(to.array<T>(12), 2, {3, 4, 5}, a.data(), {20, 1, 4}, nullptr, {}, share); });
    check_shares(1, [&](Outputs& to, Share share) { scalar::einsum(to.array<T>(1), 0, {3, 4}, a.data(), {4, 1}, nullptr, {}, share); });
  });
  const auto a = values<uint8_t>(3 * 4, 1, 100);
  const auto b = values<int8_t>(4 * 5, 2, 100);
  const std::vector<int32_t> start{1, 2, 3, 4, 5};
  const uint8_t a_zero = 100;
  const scalar::MatMulParams p{.m = 3, .n = 5, .k = 4, .batch = {}, .a_strides = {}, .b_strides = {}};
  check_shares(15, [&](Outputs& to, Share share) {
    scalar::centred_matmul(to.array<int32_t>(15), a.data(), reinterpret_cast<const uint8_t*>(b.data()), &a_zero,
                           static_cast<const uint8_t*>(nullptr), p, share);
  });
  check_shares(15, [&](Outputs& to, Share share) { scalar::matmul(to.array<int32_t>(15), a.data(), b.data(), p, start.data(), share); });
}

TEST_CASE("convolutions in shares") {
  for_numbers([]<class T>() {
    const auto x = values<T>(2 * 4 * 7 * 5), w = values<T>(6 * 2 * 3 * 2, 2), bias = values<T>(6, 3);
    const scalar::ConvParams p{.strides = {2, 1}, .dilations = {1, 2}, .pads = {1, 0}, .group = 2};
    check_shares(2 * 6 * 4 * 3, [&](Outputs& to, Share share) {
      scalar::conv(to.tensor<T>({2, 6, 4, 3}), of(x, {2, 4, 7, 5}), of(w, {6, 2, 3, 2}), bias.data(), p, share);
    });
    check_shares(2 * 3 * 33, [&](Outputs& to, Share share) {
      scalar::conv(to.tensor<T>({2, 3, 33}), of(x, {2, 4, 35}), Tensor<const T>{w.data(), {3, 4, 3}}, static_cast<const T*>(nullptr),
                   {.strides = {1}, .dilations = {1}, .pads = {0}, .outside = 3}, share);
    });
    check_shares(2 * 3 * 2 * 2 * 2, [&](Outputs& to, Share share) {
      scalar::conv(to.tensor<T>({2, 3, 2, 2, 2}), Tensor<const T>{x.data(), {2, 2, 3, 3, 3}}, Tensor<const T>{w.data(), {3, 2, 2, 2, 2}},
                   bias.data(), {.strides = {1, 1, 1}, .dilations = {1, 1, 1}, .pads = {0, 0, 0}}, share);
    });
    // Blocks of 2 x 3 at 3 x 4 places of an image of 5 x 7.
    const auto columns = values<T>(2 * 2 * 6 * 12);
    check_shares(2 * 2, [&](Outputs& to, Share share) {
      scalar::col2im(to.tensor<T>({2, 2, 5, 7}), columns.data(),
                     {.block = {2, 3}, .columns = {3, 4}, .strides = {1, 2}, .dilations = {2, 1}, .pads = {0, 1}}, share);
    });
  });
  for_floats([]<class T>() {
    const auto x = values<T>(2 * 4 * 5 * 6), w = values<T>(4 * 2 * 2 * 3, 2), bias = values<T>(4, 3);
    const auto offset = values<T>(2 * 2 * 6 * 2 * 4 * 4, 4, 2), mask = values<T>(2 * 2 * 6 * 4 * 4, 5, 1);
    for (const bool masked : {false, true}) {
      check_shares(2 * 16, [&](Outputs& to, Share share) {
        std::vector<double> work(4 * 6);
        scalar::deform_conv(to.tensor<T>({2, 4, 4, 4}), of(x, {2, 4, 5, 6}), of(w, {4, 2, 2, 3}), offset.data(), bias.data(),
                            masked ? mask.data() : nullptr, work.data(),
                            {.strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0}, .group = 2, .offset_group = 2}, share);
      });
    }
  });
}

TEST_CASE("samples of images in shares") {
  for_floats([]<class T>() {
    const auto x = values<T>(2 * 3 * 5 * 6), grid = values<T>(2 * 3 * 4 * 2, 2, 1.5f);
    for (const GridMode mode : {GridMode::nearest, GridMode::linear, GridMode::cubic}) {
      for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
        check_shares(2 * 12, [&](Outputs& to, Share share) {
          scalar::grid_sample(to.tensor<T>({2, 3, 3, 4}), of(x, {2, 3, 5, 6}), of(grid, {2, 3, 4, 2}), {.mode = mode, .padding = padding},
                              share);
        });
      }
    }
    const auto theta = values<T>(2 * 12, 3);
    for (const bool corners : {false, true}) {
      check_shares(2 * 12,
                   [&](Outputs& to, Share share) { scalar::affine_grid(to.tensor<T>({2, 3, 4, 2}), theta.data(), corners, share); });
      check_shares(2 * 6,
                   [&](Outputs& to, Share share) { scalar::affine_grid(to.tensor<T>({2, 1, 2, 3, 3}), theta.data(), corners, share); });
    }
  });
  for_types<float, double>([]<class T>() {
    const auto x = values<T>(2 * 3 * 8 * 9);
    std::vector<T> rois{0, 0, 5, 6, 1, 2, 8, 7, 3, 3, 4, 4};
    for (const bool maximum : {false, true}) {
      for (int64_t bad : {0, 2}) {
        const std::vector<int64_t> batch{0, bad, 1};
        const int32_t code = check_shares(3 * 3 * 4, [&](Outputs& to, Share share) {
          return scalar::roi_align(to.tensor<T>({3, 3, 2, 2}), of(x, {2, 3, 8, 9}), of(rois, {3, 4}), batch.data(), {.maximum = maximum},
                                   share);
        });
        CHECK(code == (bad == 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
        CHECK(check_shares(3, [&](Outputs& to, Share share) {  // no results, but the regions are looked at
                return scalar::roi_align(to.tensor<T>({3, 0, 2, 2}), Tensor<const T>{x.data(), {2, 0, 8, 9}}, of(rois, {3, 4}),
                                         batch.data(), {.maximum = maximum}, share);
              }) == code);
      }
    }
    for (T bad : {T(1), T(2)}) {
      const std::vector<T> regions{0, 0, 0, 5, 6, bad, 1, 2, 8, 7, 1, 3, 3, 4, 4};
      const int32_t code = check_shares(3 * 3 * 6, [&](Outputs& to, Share share) {
        return scalar::max_roi_pool(to.tensor<T>({3, 3, 2, 3}), of(x, {2, 3, 8, 9}), of(regions, {3, 5}), 1.0, share);
      });
      CHECK(code == (bad == T(1) ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
    }
    for (const bool last : {false, true}) {  // channels first, channels last
      const scalar::WindowParams p =
          last ? scalar::WindowParams{12, 7, 1, 7, 1, 1, 7, 1, 1, 1, 2} : scalar::WindowParams{2, 7, 6, 42, 6, 1, 42, 6, 1, 1, 2};
      check_shares(84, [&](Outputs& to, Share share) { scalar::window_squares(share, to.array<T>(84), x.data(), p); });
    }
    for (const Filter filter : {Filter::floor, Filter::linear, Filter::cubic}) {
      const int64_t taps = resize_taps(filter, true, 0.5);
      check_shares(5, [&](Outputs& to, Share share) {
        int32_t* const index = to.array<int32_t>(5 * taps);
        T* const weight = taps > 1 ? to.array<T>(5 * taps) : nullptr;
        resize_table<T>({.in = 10, .out = 5, .taps = taps, .filter = filter, .antialias = true}, index, weight, share);
      });
    }
  });
}

TEST_CASE("lines in shares") {
  for_numbers([]<class T>() {
    const auto x = values<T>(3 * 5 * 4, 1, 3);  // with equal elements
    for (const bool flag : {false, true}) {
      for (const bool other : {false, true}) {
        const scalar::ArgParams p{.outer = 3, .n = 5, .inner = 4, .least = flag, .last = other};
        check_shares(12, [&](Outputs& to, Share share) { return scalar::arg_max(to.array<int64_t>(12), x.data(), p, share); });
        for (const int32_t axis : {0, 1, -1}) {
          const std::vector<int32_t> number{axis};
          const Tensor<const int32_t> which{number.data(), {}};
          const int64_t lines = 60 / std::array<int64_t, 3>{3, 5, 4}[static_cast<size_t>((axis + 3) % 3)];
          check_shares(lines, [&](Outputs& to, Share share) {
            return scalar::cum_sum(to.tensor<T>({3, 5, 4}), of(x, {3, 5, 4}), which, {.exclusive = flag, .reverse = other}, share);
          });
          check_shares(lines, [&](Outputs& to, Share share) {
            return scalar::cum_prod(to.tensor<T>({3, 5, 4}), of(x, {3, 5, 4}), which, {.exclusive = flag, .reverse = other}, share);
          });
        }
      }
      for (int64_t axis : {0, 1, 2}) {
        Shape out{3, 5, 4};
        out[static_cast<int>(axis)] = 2;
        check_shares(out.count() / 2, [&](Outputs& to, Share share) {
          const Tensor<T> best = to.tensor<T>(out);
          return scalar::top_k(best, to.tensor<int64_t>(out), of(x, {3, 5, 4}), axis, flag, share);
        });
      }
    }
    check_shares(12,
                 [&](Outputs& to, Share share) { scalar::hardmax(to.array<T>(60), x.data(), {.outer = 3, .n = 5, .inner = 4}, share); });
    CHECK(check_shares(12, [&](Outputs& to, Share share) {
            return scalar::arg_max(to.array<int64_t>(12), x.data(), {.outer = 3, .n = 0, .inner = 4}, share);
          }) == ONNXC_BAD_DIMENSION);
    const std::vector<int64_t> far{3};
    CHECK(check_shares(12, [&](Outputs& to, Share share) {
            return scalar::cum_sum(to.tensor<T>({3, 5, 4}), of(x, {3, 5, 4}), Tensor<const int64_t>{far.data(), {}}, {}, share);
          }) == ONNXC_INDEX_OUT_OF_RANGE);
    CHECK(check_shares(12, [&](Outputs& to, Share share) {
            const Tensor<T> best = to.tensor<T>({3, 6, 4});
            return scalar::top_k(best, to.tensor<int64_t>({3, 6, 4}), of(x, {3, 5, 4}), 1, true, share);
          }) == ONNXC_INDEX_OUT_OF_RANGE);
  });
}

TEST_CASE("matrices, transforms and states in shares") {
  for_floats([]<class T>() {
    const auto x = values<T>(5 * 9);
    check_shares(5, [&](Outputs& to, Share share) {
      std::vector<double> scratch(9);
      scalar::det(to.array<T>(5), x.data(), scratch.data(), 5, 3, share);
    });
    check_shares(5, [&](Outputs& to, Share share) {
      std::vector<double> scratch(18);
      scalar::inverse(to.array<T>(45), x.data(), scratch.data(), 5, 3, share);
    });
  });
  for_types<float, double>([]<class T>() {
    for (const int64_t n : {1, 6, 7, 223}) {  // 223 is a prime that goes by Bluestein's transform
      for (const int64_t parts : {1, 2}) {
        const auto x = values<T>(2 * n * 3 * parts);
        const std::vector<int64_t> axis{1};
        check_shares(6, [&](Outputs& to, Share share) {
          std::vector<double> work(static_cast<size_t>(scalar::fft_numbers(n)));
          return scalar::dft(to.tensor<T>({2, n, 3, 2}), of(x, {2, n, 3, parts}), Tensor<const int64_t>{axis.data(), {}}, work.data(),
                             {.chirp = true}, share);
        });
      }
    }
    const auto x = values<T>(2 * 20), window = values<T>(6, 2);
    check_shares(2 * 5, [&](Outputs& to, Share share) {
      std::vector<double> work(36);
      scalar::stft(to.tensor<T>({2, 5, 4, 2}), of(x, {2, 20}), window.data(), work.data(), 6, 3, false, share);
    });
    const std::vector<int64_t> bad{3};
    CHECK(check_shares(6, [&](Outputs& to, Share share) {
            std::vector<double> work(12);
            return scalar::dft(to.tensor<T>({2, 20, 2}), of(x, {2, 20, 1}), Tensor<const int64_t>{bad.data(), {}}, work.data(), {}, share);
          }) == ONNXC_INDEX_OUT_OF_RANGE);
  });
  for_types<float, float16>([]<class T>() {
    const auto q = values<T>(2 * 3 * 4 * 2, 1, 1), k = values<T>(2 * 3 * 2 * 2, 2, 1), v = values<T>(2 * 3 * 2 * 5, 3, 1);
    const auto past = values<float>(2 * 2 * 2 * 5, 4), decay = values<float>(2 * 3 * 2, 5);
    std::vector<T> rate(decay.size());
    for (size_t i = 0; i < rate.size(); ++i) rate[i] = fn::cast<T>(-std::fabs(decay[i]));
    check_shares(2 * 2, [&](Outputs& to, Share share) {
      std::vector<float> work(3 * 5);
      const Tensor<T> y = to.tensor<T>({2, 3, 4 * 5});
      scalar::linear_attention(y, to.tensor<float>({2, 2, 2, 5}), of(q, {2, 3, 8}), of(k, {2, 3, 4}), of(v, {2, 3, 10}),
                               of(past, {2, 2, 2, 5}), of(rate, {2, 3, 2}), of(rate, {2, 3, 2}), work.data(),
                               {.q_heads = 4, .k_heads = 2, .kv_heads = 2, .scale = 0.5}, share);
    });
  });
}

TEST_CASE("rows of classical models in shares") {
  const auto x = values<float>(5 * 3, 1, 2);
  const Tensor<const float> rows = of(x, {5, 3}), column{x.data(), {5, 1}};
  for (const scalar::PostTransform post : {scalar::PostTransform::none, scalar::PostTransform::softmax, scalar::PostTransform::logistic,
                                           scalar::PostTransform::softmax_zero, scalar::PostTransform::probit}) {
    check_shares(5, [&](Outputs& to, Share share) { scalar::transform_rows(to.tensor<float>({5, 3}), rows, {post}, share); });
    check_shares(5, [&](Outputs& to, Share share) {
      const Tensor<float> y = to.tensor<float>({5, 3});
      scalar::class_scores(y, to.array<int64_t>(5), rows, {post}, share);
    });
    check_shares(5, [&](Outputs& to, Share share) {
      const Tensor<float> y = to.tensor<float>({5, 2});
      scalar::class_scores(y, to.array<int64_t>(5), column, {post}, share);
    });
  }
  check_shares(5, [&](Outputs& to, Share share) { scalar::best_class(to.array<int64_t>(5), rows, share); });
  check_shares(5, [&](Outputs& to, Share share) { scalar::normalizer(to.array<float>(15), x.data(), 5, 3, share); });
  const auto vectors = values<float>(4 * 3, 2, 1), coefficients = values<float>(2 * 4 * 3, 3, 1), rho = values<float>(3, 4, 1);
  for (const scalar::SvmKernel kernel : {scalar::SvmKernel::linear, scalar::SvmKernel::rbf, scalar::SvmKernel::sigmoid}) {
    const scalar::Svm svm{kernel, 0.5f, 0.1f, 2, vectors.data(), 4, coefficients.data(), rho.data()};
    for (const bool one_class : {false, true})
      check_shares(5, [&](Outputs& to, Share share) { scalar::svm_regressor(to.tensor<float>({5, 1}), rows, svm, one_class, share); });
    const std::vector<int64_t> vectors_of{1, 2, 1};
    check_shares(5, [&](Outputs& to, Share share) {
      std::vector<float> room(4 + 4 * 9 + 4 * 3);
      const Tensor<float> y = to.tensor<float>({5, 3});
      scalar::svm_classifier(y, to.array<int64_t>(5), rows, svm, {.classes = 3, .vectors_of = vectors_of.data()}, room.data(), share);
    });
  }
  for (const scalar::Metric metric :
       {scalar::Metric::sqeuclidean, scalar::Metric::euclidean, scalar::Metric::cityblock, scalar::Metric::chebyshev})
    check_shares(20,
                 [&](Outputs& to, Share share) { scalar::distances(to.tensor<float>({5, 4}), rows, of(vectors, {4, 3}), metric, share); });
  // The items 0, 1, 2 and the pair (1, 2).
  const std::vector<int64_t> keys{-1, 0, 1, 2, 2}, begin{1, 4, 4, 5, 5, 5}, columns{-1, 0, 1, 2, 3},
      text{0, 1, 2, 2, 1, 1, 2, 1, 2, 0, 0, 0};
  for (const bool counts : {false, true}) {
    check_shares(3, [&](Outputs& to, Share share) {
      scalar::tf_idf(to.tensor<float>({3, 4}), of(text, {3, 4}), {.keys = keys.data(), .begin = begin.data(), .column = columns.data()},
                     static_cast<const float*>(nullptr), {.least = 1, .most = 2, .skips = 1, .counts = counts}, share);
    });
  }
}
