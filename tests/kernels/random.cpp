// Random numbers: their distribution, their range, and that they are a function of the seed.
#include <onnxc/scalar/random.hpp>
#include <onnxc/types.hpp>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

constexpr int64_t kMany = 200'000;

template <class T>
std::vector<double> uniform(int64_t seed, double low, double high, int64_t n = kMany) {
  std::vector<T> y(static_cast<size_t>(n));
  scalar::random_uniform<T>({y.data(), {n}}, seed, low, high);
  return {y.begin(), y.end()};
}
template <class T>
std::vector<double> normal(int64_t seed, double mean, double deviation) {
  std::vector<T> y(static_cast<size_t>(kMany));
  scalar::random_normal<T>({y.data(), {kMany}}, seed, mean, deviation);
  return {y.begin(), y.end()};
}
/// The k-th moment about `centre`.
double moment(const std::vector<double>& x, double centre, int k) {
  double sum = 0;
  for (double v : x) sum += std::pow(v - centre, k);
  return sum / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("Philox gives its authors' numbers") {
  // Known answers of Random123: counter and key all zero.
  CHECK(scalar::random_bits(0, 0) == 0x6627e8d5e169c58dull);
  CHECK(scalar::random_bits(0, 1) == 0xbc57ac4c9b00dbd8ull);
}

TEST_CASE("uniform numbers") {
  const auto x = uniform<float>(1, -2, 6);
  CHECK(moment(x, 0, 1) == Approx(2).margin(0.03));
  CHECK(moment(x, 2, 2) == Approx(64.0 / 12).epsilon(0.01));
  int64_t counts[16] = {};
  for (double v : x) {
    REQUIRE((v >= -2 && v < 6));
    ++counts[static_cast<int>((v + 2) * 2)];
  }
  double chi2 = 0;  // 15 degrees of freedom: above 37.7 once in a thousand
  for (int64_t c : counts) chi2 += std::pow(double(c) - double(kMany) / 16, 2) / (double(kMany) / 16);
  CHECK(chi2 < 37.7);
  double pairs = 0;  // neighbours are not correlated
  for (size_t i = 0; i + 1 < x.size(); ++i) pairs += (x[i] - 2) * (x[i + 1] - 2);
  CHECK(std::fabs(pairs / double(kMany)) < 0.05);
  for (double v : uniform<float16>(3, 0, 1)) REQUIRE((v >= 0 && v < 1));
  for (double v : uniform<bfloat16>(3, 0, 1)) REQUIRE((v >= 0 && v < 1));
  for (double v : uniform<float>(3, 1, 1, 10)) CHECK(v == 1);
}

TEST_CASE("normal numbers") {
  for (const auto& x : {normal<float>(5, 3, 2), normal<double>(6, 3, 2)}) {
    CHECK(moment(x, 0, 1) == Approx(3).margin(0.02));
    CHECK(moment(x, 3, 2) == Approx(4).epsilon(0.02));
    CHECK(moment(x, 3, 3) == Approx(0).margin(0.3));
    CHECK(moment(x, 3, 4) == Approx(48).epsilon(0.05));
  }
}

TEST_CASE("the seed alone decides") {
  CHECK(uniform<float>(7, 0, 1, 100) == uniform<float>(7, 0, 1, 100));
  CHECK(uniform<float>(7, 0, 1, 100) != uniform<float>(8, 0, 1, 100));
  const auto few = uniform<float>(7, 0, 1, 10), more = uniform<float>(7, 0, 1, 100);
  CHECK(std::equal(few.begin(), few.end(), more.begin()));
}

TEST_CASE("samples of classes") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{std::log(0.5f), std::log(1.5f), -inf, std::log(2.0f), 1000, -1000, 999, -inf};
  std::vector<int64_t> y(static_cast<size_t>(2 * kMany));
  CHECK(scalar::multinomial<int64_t, float>({y.data(), {2, kMany}}, {x.data(), {2, 4}}, 11) == Status{});
  double counts[2][4] = {};
  for (size_t i = 0; i < y.size(); ++i) counts[i >= size_t(kMany)][y[i]] += 1.0 / double(kMany);
  const double expected[2][4] = {{0.125, 0.375, 0, 0.5}, {0.7310586, 0, 0.2689414, 0}};
  for (int b = 0; b < 2; ++b) {
    for (int c = 0; c < 4; ++c) CHECK(counts[b][c] == Approx(expected[b][c]).margin(0.006));
  }
  const std::vector<float> none(4, -inf), bad{1, std::nanf(""), 2, 3};
  CHECK(scalar::multinomial<int64_t, float>({y.data(), {1, 1}}, {none.data(), {1, 4}}, 1) == Status{ONNXC_INDEX_OUT_OF_RANGE});
  CHECK(scalar::multinomial<int64_t, float>({y.data(), {1, 1}}, {bad.data(), {1, 4}}, 1) == Status{ONNXC_INDEX_OUT_OF_RANGE});
}
