// Scores of classifiers: what becomes of them.
#include <onnxc/scalar/ml/scores.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace onnxc;

namespace {

std::vector<double> transformed(scalar::PostTransform transform, std::vector<double> scores) {
  scalar::post_transform(transform, scores.data(), static_cast<int64_t>(scores.size()));
  return scores;
}

}  // namespace

TEST_CASE("probit is the normal quantile, to the error of the approximation") {
  struct Case {
    double p, quantile;
  };
  for (const Case& c :
       {Case{0.5, 0}, Case{0.6, 0.2533471}, Case{0.75, 0.6744898}, Case{0.9, 1.2815516}, Case{0.975, 1.9599640}, Case{0.999, 3.0902323}}) {
    CHECK(std::abs(scalar::probit_of(c.p) - c.quantile) < 0.004 * (1 + c.quantile));
    CHECK(std::abs(scalar::probit_of(1 - c.p) + c.quantile) < 0.004 * (1 + c.quantile));
  }
}

TEST_CASE("softmax, which may leave zeros as they are, and logistic") {
  const double e = std::exp(1.0), sum = 1 + e * e;
  const auto all = transformed(scalar::PostTransform::softmax, {0, 2, 0});
  CHECK(all[0] == Approx(1 / (e * e + 2)));
  CHECK(all[1] == Approx(e * e / (e * e + 2)));
  const auto some = transformed(scalar::PostTransform::softmax_zero, {0, 2, -0.0, 0.00000002, 1e-3});
  const double rest = std::exp(1e-3 - 2);
  CHECK(some[0] == 0);
  CHECK(some[1] == Approx(1 / (1 + rest)));
  CHECK(some[3] == Approx(0.00000002 * std::exp(-2.0) / (1 + rest)));
  CHECK(some[4] == Approx(rest / (1 + rest)));
  const auto logistic = transformed(scalar::PostTransform::logistic, {0, 2, -2, 800, -800});
  CHECK(logistic[0] == 0.5);
  CHECK(logistic[1] == Approx(e * e / sum));
  CHECK(logistic[2] == Approx(1 / sum));
  CHECK(logistic[3] == 1);
  CHECK(logistic[4] == 0);
}
