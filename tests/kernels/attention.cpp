// Attention on a processor against loops in double: many rows and few, shared heads, both layouts of k, expressions of scores, queries that see
// nothing, values that are not finite, threads, guard values.
#include <onnxc/attention.hpp>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// where(x1, x0 + x2 * x3, -2), as the compiler prints it.
struct Rule {
  template <class L, class X0, class X1, class X2, class X3>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1, X2 x2, X3 x3) {
    return fn::where(x1, fn::add(x0, fn::mul(x2, x3)), lanes(-2.0f));
  }
};

/// q, v and y are [batch][row][head][size]; keys and values have fewer heads where these are shared. k is so, too, or [batch][head][size][key].
struct Case {
  AttentionParams p;
  std::vector<float> q, k, v, mask, factors;   ///< mask: [heads][queries][keys]; factors: [batch][queries]
  std::vector<unsigned char> chosen, cleared;  ///< [queries][keys]; [heads][queries]
  bool of_keys;

  Case(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t size, int64_t value_size, int64_t shared = 1,
       bool keys_in_rows = true)
      : of_keys(keys_in_rows) {
    const int64_t groups = heads / shared;
    p = {.batch = batch,
         .heads = heads,
         .queries = queries,
         .keys = keys,
         .size = size,
         .value_size = value_size,
         .scale = 1 / std::sqrt(static_cast<float>(size)),
         .q = {queries * heads * size, size, heads * size},
         .k = of_keys ? HeadSteps{keys * groups * size, size, groups * size} : HeadSteps{groups * size * keys, size * keys, keys},
         .v = {keys * groups * value_size, value_size, groups * value_size},
         .y = {queries * (heads * value_size + 1), value_size, heads * value_size + 1},
         .shared_heads = shared};
    q = numbers(batch * queries * heads * size, 1);
    k = numbers(batch * keys * groups * size, 2);
    v = numbers(batch * keys * groups * value_size, 3);
    mask = numbers(heads * queries * keys, 4);
    factors = numbers(batch * queries, 5);
    for (int64_t i = 0; i < queries * keys; ++i) chosen.push_back(i % 3 != 0);
  }

  template <int MR, int NV, bool transposed>
  std::vector<float> run(int threads) const {
    constexpr int NR = NV * Vec::width;
    const Scratch scratch(threads,
                          contract::attention_scratch(contract::round_up(p.keys, NR), p.size, contract::round_up(p.value_size, NR), MR));
    std::vector<float> y(size_t(p.batch * p.y.batch) + 1, kGuard);
    const auto as_bool = [](const std::vector<unsigned char>& x) { return reinterpret_cast<const bool*>(x.data()); };
    const Epilogue<Rule, OfScores<bool>, OfScores<float>, OfQueries<float>> scores{
        {as_bool(chosen), 0, 0, p.keys}, {mask.data(), 0, p.queries * p.keys, p.keys}, {factors.data(), p.queries, 0, 1}};
    for (int i = 0; i < threads; ++i)
      attention<MR, NV, transposed>({i, threads}, y.data() + 1, q.data(), k.data(), v.data(), cleared.empty() ? nullptr : as_bool(cleared),
                                    scratch.of(i), p, scores);
    return y;
  }

  void check(int threads) const {
    INFO("heads " << p.heads << " shared " << p.shared_heads << " queries " << p.queries << " keys " << p.keys << " size " << p.size << " "
                  << p.value_size << " threads " << threads << (of_keys ? "" : " columns"));
    const std::vector<float> got = of_keys ? run<6, 2, true>(threads) : run<6, 2, false>(threads);
    REQUIRE(got[0] == kGuard);
    int64_t wrong = 0;
    std::vector<double> s(static_cast<size_t>(p.keys));
    for (int64_t b = 0; b < p.batch; ++b) {
      for (int64_t h = 0; h < p.heads; ++h) {
        for (int64_t i = 0; i < p.queries; ++i) {
          const bool clear = !cleared.empty() && cleared[size_t(h * p.queries + i)];
          double top = -INFINITY, total = 0;
          for (int64_t j = 0; j < p.keys; ++j) {
            double dot = 0;
            for (int64_t c = 0; c < p.size; ++c)
              dot += double(q[size_t(b * p.q.batch + h * p.q.head + i * p.q.row + c)]) *
                     k[size_t(b * p.k.batch + h / p.shared_heads * p.k.head + (of_keys ? j * p.k.row + c : c * p.k.row + j))];
            double& score = s[size_t(j)] =
                dot * p.scale + double(mask[size_t((h * p.queries + i) * p.keys + j)]) * factors[size_t(b * p.queries + i)];
            if (!chosen[size_t(i * p.keys + j)]) score = -2;
            top = std::isnan(score) || score > top ? score : top;
          }
          for (double& x : s) total += x = std::exp(x - top);
          for (int64_t c = 0; c < p.value_size; ++c) {
            double sum = 0;
            for (int64_t j = 0; j < p.keys; ++j) {
              const double probability = clear || (p.nan_is_zero && std::isnan(total)) ? 0 : s[size_t(j)] / total;
              sum += probability * v[size_t(b * p.v.batch + h / p.shared_heads * p.v.head + j * p.v.row + c)];
            }
            const double y = got[size_t(b * p.y.batch + h * p.y.head + i * p.y.row + c) + 1];
            wrong += !(std::isnan(sum) ? std::isnan(y) : std::fabs(y - sum) <= 2 * sum_tolerance(p.size + p.keys));
          }
        }
      }
    }
    CHECK(wrong == 0);
    for (int64_t row = 0; row < p.batch * p.queries; ++row) CHECK(got[size_t((row + 1) * p.y.row)] == kGuard);
  }
};

}  // namespace

TEST_CASE("attention agrees with the loop") {
  const int64_t W = Vec::width;
  for (const int64_t queries : {1, 2, 4, 5, 6, 7, 13}) {
    for (const int64_t keys : {int64_t{1}, W + 1, 2 * W, 4 * W + 3}) {
      for (const int64_t size : {int64_t{1}, int64_t{kPartLanes}, 2 * W + 1}) {
        for (const bool keys_in_rows : {true, false}) {
          Case(2, 2, queries, keys, size, size + 1, 1, keys_in_rows).check(int(queries % 3) + 1);
          Case(1, 6, queries, keys, size, 4 * W + size, 3, keys_in_rows).check(int(queries % 3) + 1);
        }
      }
    }
  }
}

TEST_CASE("one query meets all heads that share keys") {
  for (const int64_t shared : {1, 2, 4, 5, 8}) {
    for (const int threads : {1, 3}) Case(2, 2 * shared, 1, 37, 16, 24, shared).check(threads);
  }
}

TEST_CASE("attention of nothing is nothing, and without keys 0") {
  for (const int64_t queries : {0, 1, 9}) Case(1, 2, queries, 0, 4, 4).check(1);
  Case(0, 2, 3, 4, 4, 4).check(2);
}

TEST_CASE("queries without probabilities") {
  for (const int64_t queries : {3, 17}) {
    Case c(1, 2, queries, 20, 8, 8);
    c.p.cleared = {0, queries, 1};
    for (int64_t i = 0; i < 2 * queries; ++i) c.cleared.push_back(i % 2 == 1);
    c.check(2);
    c.cleared.clear();
    for (int64_t j = 0; j < 20; ++j) {  // query 1 sees no key
      c.mask[size_t(20 + j)] = -INFINITY;
      c.chosen[size_t(20 + j)] = 1;
    }
    c.factors[1] = 1;
    c.check(1);
    c.p.nan_is_zero = true;
    c.check(1);
  }
}

TEST_CASE("scores of a row may all be as large as floats are") {
  for (const float all : {-1e10f, -3e38f, std::numeric_limits<float>::lowest(), 1e10f, 3e38f}) {
    for (const int64_t queries : {2, 13}) {
      INFO(all << " queries " << queries);
      Case c(1, 2, queries, 20, 8, 8);
      for (float& x : c.q) x = 0;
      for (float& factor : c.factors) factor = 1;
      for (unsigned char& x : c.chosen) x = 1;
      for (size_t i = 0; i < c.mask.size(); ++i) c.mask[i] = i % 20 < 17 ? all : 0;  // of all keys there, but for the last ones
      c.check(1);
      for (float& x : c.mask) x = all;
      c.check(1);
    }
  }
}

TEST_CASE("a masked key counts if its value is not finite") {
  for (const bool finite : {true, false}) {
    for (const int64_t queries : {2, 13}) {
      Case c(1, 2, queries, 40, 8, 8);
      for (float& factor : c.factors) factor = 1;
      for (unsigned char& x : c.chosen) x = 1;
      for (int64_t row = 0; row < 2 * queries; ++row) {
        for (int64_t j = 21; j < 40; ++j) c.mask[size_t(row * 40 + j)] = -3e38f;
      }
      if (!finite) c.v[size_t(30 * c.p.v.row + 3)] = INFINITY;
      c.check(1);
    }
  }
}
