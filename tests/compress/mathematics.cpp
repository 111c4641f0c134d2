#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "tools/compress/low_rank.h"
#include "tools/compress/removal_costs.h"
#include "tools/compress/reshaped_channels.h"

namespace onnxc {
namespace {

/// A A^T of a random A with so many columns.
Matrix gram(int64_t n, int64_t rank, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Matrix a(static_cast<std::size_t>(n * rank)), h(static_cast<std::size_t>(n * n));
  for (double& value : a) value = normal(random);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < rank; ++k)
        h[static_cast<std::size_t>(i * n + j)] += a[static_cast<std::size_t>(i * rank + k)] * a[static_cast<std::size_t>(j * rank + k)];
    }
  }
  return h;
}
Matrix product(const Matrix& a, const Matrix& b, int64_t n) {
  Matrix c(a.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(i * n + j)] += a[static_cast<std::size_t>(i * n + k)] * b[static_cast<std::size_t>(k * n + j)];
    }
  }
  return c;
}

TEST_CASE("a root of the inverse, squared, is the inverse", "[compress]") {
  for (const int64_t n : {1, 2, 7, 40}) {
    const Matrix h = gram(n, n + 3, 1);
    const auto root = root_of_inverse(h, n);
    REQUIRE(root);
    const Matrix one = product(h, squared(*root, n), n);
    for (int64_t i = 0; i < n * n; ++i) CHECK(one[static_cast<std::size_t>(i)] == Approx(i % (n + 1) == 0 ? 1 : 0).margin(1e-8));
  }
  CHECK(!root_of_inverse({1, 2, 2, 1}, 2));
  CHECK(!root_of_inverse({0}, 1));
}

TEST_CASE("eigenvectors take a matrix apart", "[compress]") {
  const std::vector<double> two = eigenvalues({2, 1, 1, 2}, 2);
  CHECK(two[0] == Approx(3));
  CHECK(two[1] == Approx(1));
  CHECK(eigenvalues({}, 0).empty());
  CHECK(eigenvalues(Matrix(9), 3) == std::vector<double>{0, 0, 0});
  for (const auto& [n, rank] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {9, 9}, {50, 50}, {50, 7}, {128, 30}}) {
    const Matrix h = gram(n, rank, 2);
    Matrix vectors;
    const std::vector<double> values = eigenvalues(h, n, &vectors);
    CHECK(std::ranges::is_sorted(values, std::greater<>()));
    const std::vector<double> alone = eigenvalues(h, n);
    for (int64_t i = 0; i < n; ++i)
      CHECK(values[static_cast<std::size_t>(i)] == Approx(alone[static_cast<std::size_t>(i)]).margin(1e-9 * values[0]));
    // H v = lambda v, and vectors are orthonormal. Householder's and QL's errors are some n roundings of the largest value.
    double worst = 0, skew = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double* const v = vectors.data() + k * n;
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0, inner = 0;
        for (int64_t j = 0; j < n; ++j) {
          sum += h[static_cast<std::size_t>(i * n + j)] * v[j];
          inner += vectors[static_cast<std::size_t>(i * n + j)] * v[j];
        }
        worst = std::max(worst, std::abs(sum - values[static_cast<std::size_t>(k)] * v[i]));
        skew = std::max(skew, std::abs(inner - (i == k ? 1 : 0)));
      }
    }
    CHECK(worst <= 1e-13 * static_cast<double>(n) * values[0]);
    CHECK(skew <= 1e-13 * static_cast<double>(n));
    for (int64_t k = rank; k < n; ++k) CHECK(std::abs(values[static_cast<std::size_t>(k)]) <= 1e-13 * static_cast<double>(n) * values[0]);
  }
}

/// The error of a layer of one output without some inputs, by solving for its weights: w H w - c^T H_SS^-1 c with c = H_S: w.
double solved_error(const Matrix& h, int64_t n, const std::vector<double>& w, const std::vector<bool>& gone) {
  std::vector<int64_t> left;
  for (int64_t i = 0; i < n; ++i) {
    if (!gone[static_cast<std::size_t>(i)]) left.push_back(i);
  }
  const auto s = static_cast<int64_t>(left.size());
  Matrix inner;
  std::vector<double> c;
  double all = 0;
  for (const int64_t i : left) {
    for (const int64_t j : left) inner.push_back(h[static_cast<std::size_t>(i * n + j)]);
    c.push_back(0);
    for (int64_t j = 0; j < n; ++j) c.back() += h[static_cast<std::size_t>(i * n + j)] * w[static_cast<std::size_t>(j)];
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      all += w[static_cast<std::size_t>(i)] * h[static_cast<std::size_t>(i * n + j)] * w[static_cast<std::size_t>(j)];
  }
  const Matrix inverse = squared(*root_of_inverse(inner, s), s);
  for (int64_t i = 0; i < s; ++i) {
    for (int64_t j = 0; j < s; ++j)
      all -= c[static_cast<std::size_t>(i)] * inverse[static_cast<std::size_t>(i * s + j)] * c[static_cast<std::size_t>(j)];
  }
  return all;
}

TEST_CASE("costs of removals add up to the error that least squares leave", "[compress]") {
  constexpr int64_t kColumns = 12;
  const Matrix h = gram(kColumns, 20, 3);
  const std::vector<int> sets = {0, 0, 1, 2, 1, 3, 3, 3, 4, 5, 5, 5};
  std::vector<double> w;
  for (int64_t i = 0; i < kColumns; ++i) w.push_back(std::sin(static_cast<double>(7 * i + 1)));
  Matrix squares;
  for (const double a : w) {
    for (const double b : w) squares.push_back(a * b);
  }
  RemovalCosts costs(6);
  costs.add(h, squares, sets, 2);
  CHECK(costs.beside(3) == std::vector<int>{0, 1, 2, 4, 5});
  std::vector<bool> gone(kColumns);
  double sum = 0;
  for (const int set : {3, 0, 4, 1}) {
    const double cost = costs.cost(set);
    for (int64_t c = 0; c < kColumns; ++c) {
      if (sets[static_cast<std::size_t>(c)] == set) gone[static_cast<std::size_t>(c)] = true;
    }
    sum += cost;
    costs.remove(set);
    CHECK(2 * sum == Approx(solved_error(h, kColumns, w, gone)).epsilon(1e-8));
  }
  CHECK(costs.beside(2) == std::vector<int>{5});
}

TEST_CASE("factors of full rank are the weights, and of less keep the mean", "[compress]") {
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6, 7, 8, 10, 1, 0, -1};  // 4 x 3
  const Matrix covariance = gram(4, 4, 5);
  const std::vector<double> bias = {1, 2, 3, 4}, mean = {0.5, 2, -1, 0};
  const Factors whole = low_rank_factors(weights, 4, 4, covariance, bias, mean);
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK(static_cast<double>(whole.bias[r]) == Approx(bias[r]).margin(1e-5));
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += static_cast<double>(whole.outer[r * 4 + k] * whole.inner[k * 3 + c]);
      CHECK(sum == Approx(static_cast<double>(weights[r * 3 + c])).margin(1e-5));
    }
  }
  const Factors one = low_rank_factors(weights, 4, 1, covariance, mean, mean);  // W x is 0 on average
  for (std::size_t r = 0; r < 4; ++r) CHECK(static_cast<double>(one.bias[r]) == Approx(mean[r]).margin(1e-5));
}

TEST_CASE("where an axis of channels is after a reshape", "[compress]") {
  const Dim n = Dim::symbol("n"), h = Dim::symbol("h");
  struct Case {
    Extents from;
    int axis;
    Extents to;
    std::optional<ReshapedAxis> found;
  };
  const Case cases[] = {
      {{n, 16, 5, 5}, 1, {n, 400}, ReshapedAxis{1, 25, 1}},
      {{n, 400}, 1, {n, 16, 5, 5}, ReshapedAxis{1, 1, 25}},
      {{n, 16, 1, 1}, 1, {n, 16}, ReshapedAxis{1, 1, 1}},
      {{n, 16}, 1, {n, 1, 16}, ReshapedAxis{2, 1, 1}},
      {{n, 16, h, 5}, 1, {n, 16, h * 5}, ReshapedAxis{1, 1, 1}},
      {{n, h, 16}, 2, {n * h, 16}, ReshapedAxis{1, 1, 1}},
      {{n, 4, 6}, 1, {n, 24}, ReshapedAxis{1, 6, 1}},
      {{n, 4, 6}, 2, {n, 24}, std::nullopt},
      {{n, 16, 5, 5}, 1, {n * 16, 25}, std::nullopt},
      {{n, 16}, 1, {n, 4, 4}, ReshapedAxis{1, 1, 4}},
      {{n, h, 16}, 1, {n, 16, h}, std::nullopt},
      {{n, 6, h}, 1, {n, 3, 2 * h}, std::nullopt},
  };
  for (const Case& c : cases) {
    CAPTURE(text(c.from), c.axis, text(c.to));
    const auto found = reshaped_axis(c.from, c.axis, c.to);
    REQUIRE(found.has_value() == c.found.has_value());
    if (!found) continue;
    CHECK(found->axis == c.found->axis);
    CHECK(found->elements_of_channel == c.found->elements_of_channel);
    CHECK(found->channels_of_element == c.found->channels_of_element);
  }
}

}  // namespace
}  // namespace onnxc
