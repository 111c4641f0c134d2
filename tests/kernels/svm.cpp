// Support vector machines and distances against their scalar twins.
#include <onnxc/distances.hpp>
#include <onnxc/svm.hpp>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;
using scalar::Metric;
using scalar::SvmKernel;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

std::vector<float> panels_of(const std::vector<float>& vectors, int64_t count, int64_t features) {
  return pack::panels(vectors, {.k = features, .n = count, .nr = contract::pairwise_columns(Vec::width), .transposed = true});
}

/// Where both are numbers, the difference is at most `tolerance` and that share of the expected value; else the same.
int64_t count_wrong(const float* y, const std::vector<float>& expected, double tolerance) {
  int64_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double e = double(expected[i]), found = double(y[i]);
    const bool same = std::isfinite(e) ? std::fabs(found - e) <= tolerance * (1 + std::fabs(e))
                      : std::isnan(e)  ? std::isnan(found)
                                       : found == e;
    wrong += same ? 0 : 1;
  }
  return wrong;
}

/// The best of the distances at y, to the bit.
template <Metric metric, bool largest>
void check_nearest(const float* x, const float* y, const float* panels, int64_t rows, int64_t vectors, int64_t n, int threads) {
  for (int64_t k : {int64_t{1}, std::min<int64_t>(vectors, 6), std::min<int64_t>(vectors, 50), vectors}) {
    const auto size = size_t(rows * k);
    std::vector<float> expected(size);
    std::vector<int64_t> at(size, -1), found = at;
    CHECK(!scalar::top_k<float>({expected.data(), {rows, k}}, {at.data(), {rows, k}}, {y, {rows, vectors}}, 1, largest));
    const Scratch values(1, rows * k), scratch(threads, contract::nearest_scratch(vectors, Vec::width));
    for (int t = 0; t < threads; ++t)
      nearest<metric, largest>(Share{t, threads}, {values.of(0), {rows, k}}, {found.data(), {rows, k}}, {x, {rows, n}}, panels, vectors,
                               scratch.of(t));
    CHECK(found == at);
    CHECK(count_wrong(values.of(0), expected, 0) == 0);
  }
}

template <Metric metric>
void check_distances(int64_t rows, int64_t vectors, int64_t n) {
  std::vector<float> x = numbers(rows * n, 1), v = numbers(vectors * n, 2);
  if (rows > 4 && n > 1) {
    x[size_t(2 * n)] = kNan;
    x[size_t(3 * n + 1)] = kInf;
    v[0] = kInf;
    for (int64_t c = 0; c < n; ++c) x[size_t(4 * n + c)] = v[size_t((vectors - 1) * n + c)];  // a distance of 0
  }
  std::vector<float> expected(size_t(rows * vectors));
  scalar::distances({expected.data(), {rows, vectors}}, {x.data(), {rows, n}}, {v.data(), {vectors, n}}, metric);
  const Aligned panels(panels_of(v, vectors, n));
  const Unaligned from(x);
  for (int threads : {1, 3}) {
    const Scratch y(1, rows * vectors);
    for (int t = 0; t < threads; ++t) distances<metric>(Share{t, threads}, {y.of(0), {rows, vectors}}, {from.data(), {rows, n}}, panels);
    INFO("rows " << rows << " vectors " << vectors << " features " << n);
    CHECK(count_wrong(y.of(0), expected, 2e-7 * std::sqrt(double(n + 2))) == 0);  // one rounding a term, both sides
    check_nearest<metric, true>(from.data(), y.of(0), panels, rows, vectors, n, threads);
    check_nearest<metric, false>(from.data(), y.of(0), panels, rows, vectors, n, threads);
    if (rows > 4 && n > 1) CHECK((y.of(0)[4 * vectors + vectors - 1] == 0.0f || vectors == 1));
  }
}

struct Machine {
  int64_t features, classes;
  std::vector<int64_t> of;
  int64_t count = 0;
  std::vector<float> vectors, coefficients, rho, a, b;
  Machine(int64_t n, std::vector<int64_t> vectors_of) : features(n), classes(int64_t(vectors_of.size())), of(std::move(vectors_of)) {
    for (int64_t c : of) count += c;
    vectors = numbers(count * n, 3);
    coefficients = numbers(std::max<int64_t>(classes - 1, 1) * count, 4);
    const int64_t pairs = std::max<int64_t>(classes * (classes - 1) / 2, 1);
    rho = numbers(pairs, 5);
    a = numbers(pairs, 6);
    b = numbers(pairs, 7);
  }
};

/// Kernels are in (-9, 9) and coefficients in (-1, 1). An error of 6 ULP of tanh and that of the inner product, times a factor of
/// its slope, are summed over the vectors.
double tolerance(const Machine& m) { return 9 * (1e-6 + 10 * sum_tolerance(m.features)) * std::sqrt(double(m.count + 1)); }

template <SvmKernel kernel>
void check_machine(const Machine& m, int64_t rows, float degree = 3) {
  std::vector<float> x = numbers(rows * m.features, 8);
  if (rows > 2) x[size_t(m.features)] = kNan;
  scalar::Svm svm{.kernel = kernel,
                  .gamma = 0.3f,
                  .coef0 = 0.2f,
                  .degree = degree,
                  .vectors = m.vectors.data(),
                  .vector_count = m.count,
                  .coefficients = m.coefficients.data(),
                  .rho = m.rho.data()};
  const Aligned panels(panels_of(m.vectors, m.count, m.features));
  scalar::Svm packed = svm;
  packed.vectors = panels;
  const Tensor<const float> in{x.data(), {rows, m.features}};
  INFO("kernel " << int(kernel) << " rows " << rows << " vectors " << m.count << " features " << m.features << " classes " << m.classes);
  for (int threads : {1, 2}) {
    if (m.classes == 1) {
      for (bool one_class : {false, true}) {
        std::vector<float> expected(size_t(rows), 0);
        scalar::svm_regressor({expected.data(), {rows, 1}}, in, svm, one_class);
        const Scratch y(1, rows), scratch(threads, contract::svm_regressor_scratch(m.count, Vec::width));
        for (int t = 0; t < threads; ++t)
          svm_regressor<kernel>(Share{t, threads}, {y.of(0), {rows, 1}}, in, packed, one_class, scratch.of(t));
        CHECK(count_wrong(y.of(0), expected, tolerance(m)) == 0);
      }
      continue;
    }
    for (bool probabilities : {false, true}) {
      const int64_t scores = probabilities ? m.classes : m.classes == 2 ? 2 : m.classes * (m.classes - 1) / 2;
      const scalar::SvmClasses p{.classes = m.classes,
                                 .vectors_of = m.of.data(),
                                 .prob_a = probabilities ? m.a.data() : nullptr,
                                 .prob_b = probabilities ? m.b.data() : nullptr};
      std::vector<float> expected(size_t(rows * scores)), room(size_t(m.count + 4 * m.classes * m.classes + 4 * m.classes));
      std::vector<int64_t> classes(size_t(rows), -1), found = classes;
      scalar::svm_classifier({expected.data(), {rows, scores}}, classes.data(), in, svm, p, room.data());
      const Scratch y(1, rows * scores), scratch(threads, contract::svm_classifier_scratch(m.count, m.classes, Vec::width));
      for (int t = 0; t < threads; ++t)
        svm_classifier<kernel>(Share{t, threads}, {y.of(0), {rows, scores}}, found.data(), in, packed, p, scratch.of(t));
      CHECK(count_wrong(y.of(0), expected, tolerance(m)) == 0);
      CHECK(found == classes);
    }
  }
}

template <SvmKernel kernel>
void check_kernel() {
  for (int64_t rows : {1, 2, 5, 37, 100}) {
    check_machine<kernel>(Machine(5, {23}), rows);
    check_machine<kernel>(Machine(12, {7, 20}), rows);
    check_machine<kernel>(Machine(1, {Vec::width, 4 * Vec::width, 0, 3}), rows);
  }
  check_machine<kernel>(Machine(17, {300, 250, 261}), 33);
  check_machine<kernel>(Machine(3, {1}), 4);
  check_machine<kernel>(Machine(3, {1500, 2000}), 9);
}

}  // namespace

TEST_CASE("distances are those of the scalar kernel") {
  for (int64_t rows : {1, 3, 4, 5, 70}) {
    for (int64_t vectors : {int64_t{1}, int64_t{kPartLanes}, int64_t{Vec::width}, int64_t{4 * Vec::width + 1}, int64_t{333}}) {
      for (int64_t n : {1, 3, 40}) {
        check_distances<Metric::sqeuclidean>(rows, vectors, n);
        check_distances<Metric::euclidean>(rows, vectors, n);
        check_distances<Metric::cityblock>(rows, vectors, n);
        check_distances<Metric::chebyshev>(rows, vectors, n);
      }
    }
  }
}

TEST_CASE("support vector machines agree with the scalar kernel") {
  check_kernel<SvmKernel::linear>();
  check_kernel<SvmKernel::rbf>();
  check_kernel<SvmKernel::sigmoid>();
  check_kernel<SvmKernel::poly>();
  for (float degree : {0.0f, 1.0f, 2.0f, 5.0f, 0.5f, -1.0f, 2.5f}) check_machine<SvmKernel::poly>(Machine(2, {5, 9}), 6, degree);
}
