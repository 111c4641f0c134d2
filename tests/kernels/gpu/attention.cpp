// Attention on a GPU against loops in double, for many queries and for few, in the emulator.
#include <onnxc/gpu/attention_any.hpp>

#include "tests/kernels/gpu/product_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

enum class Mask { None, Keys, Causal, CausalFlag, All, Where };

/// where(x1, x2 * x0 + x3, -2): an expression of scores, as the compiler prints it. All cases have this one, of which nvcc makes a kernel for each size.
struct Rule {
  template <class L, class X0, class X1, class X2, class X3>
  static ONNXC_BOTH auto apply(L lanes, X0 x0, X1 x1, X2 x2, X3 x3) {
    return x1 ? x2 * x0 + x3 : lanes(-2.0f);
  }
};

/// q, k, v and y are [batch][row][head][size]; keys and values have fewer heads where these are shared.
struct Case {
  AttentionParams p;
  std::vector<float> q, k, v, mask;
  HeadSteps steps{0, 0, 0};            ///< of the mask
  std::vector<unsigned char> chosen;   ///< [queries][keys]
  std::vector<float> factors;          ///< [heads][queries]
  std::vector<unsigned char> cleared;  ///< [batch][queries]

  Case(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t size, int64_t value_size, Mask kind, int64_t shared = 1) {
    const int64_t key_heads = heads / shared;
    p = {.batch = batch,
         .heads = heads,
         .queries = queries,
         .keys = keys,
         .size = size,
         .value_size = value_size,
         .scale = 1 / std::sqrt(static_cast<float>(size)),
         .q = {queries * heads * size, size, heads * size},
         .k = {keys * key_heads * size, size, key_heads * size},
         .v = {keys * key_heads * value_size, value_size, key_heads * value_size},
         .y = {queries * heads * value_size, value_size, heads * value_size},
         .shared_heads = shared};
    const auto count = [&](int64_t rows, int64_t n, int64_t of) { return static_cast<std::size_t>(batch * rows * n * of); };
    q = numbers<float>(count(queries, heads, size), 1);
    k = numbers<float>(count(keys, key_heads, size), 2);
    v = numbers<float>(count(keys, key_heads, value_size), 3);
    if (kind == Mask::Keys) {  // [batch][1][1][keys]
      mask = numbers<float>(static_cast<std::size_t>(batch * keys), 4);
      steps = {keys, 0, 0};
    }
    if (kind == Mask::Causal) {  // [queries][keys], of which the first query sees no more than its own key
      for (int64_t i = 0; i < queries; ++i) {
        for (int64_t j = 0; j < keys; ++j) mask.push_back(j > i ? -INFINITY : 0.0f);
      }
      steps = {0, 0, keys};
    }
    if (kind == Mask::All) {
      mask = numbers<float>(static_cast<std::size_t>(batch * heads * queries * keys), 4);
      steps = {heads * queries * keys, queries * keys, keys};
    }
    if (kind == Mask::Where) {
      for (int64_t i = 0; i < queries * keys; ++i) chosen.push_back(i % 3 != 0);
      factors = numbers<float>(static_cast<std::size_t>(heads * queries), 4);
    }
    if (kind == Mask::CausalFlag) {
      p.causal = true;
      p.past = keys - queries;
    }
  }

  /// call(queue, y, q, k, v, cleared, scores)
  template <class Call>
  std::vector<float> run(Call call) const {
    const auto or_else = [&](const auto& own, auto value) {
      using List = std::remove_cvref_t<decltype(own)>;
      return own.empty() ? List(static_cast<std::size_t>(p.keys + 1), value) : own;
    };
    const OnDevice<float> dq(q), dk(k), dv(v), dm(or_else(mask, 0.0f)), df(or_else(factors, 1.0f));
    const OnDevice<unsigned char> dc(or_else(chosen, static_cast<unsigned char>(1))), cleared_rows(cleared);
    const OnDevice<float> y(static_cast<std::size_t>(p.batch * p.heads * p.queries * p.value_size));
    const OnDevice<unsigned> words(std::vector<unsigned>(4096));
    Queue queue(nullptr, words.data());
    const auto as_bool = [](const OnDevice<unsigned char>& x) { return reinterpret_cast<const bool*>(x.data()); };
    const int64_t by_row = factors.empty() ? 0 : 1;
    const Epilogue<Rule, OfScores<bool>, OfQueries<float>, OfScores<float>> scores{{as_bool(dc), 0, 0, chosen.empty() ? 0 : p.keys},
                                                                                   {df.data(), 0, by_row * p.queries, by_row},
                                                                                   {dm.data(), steps.batch, steps.head, steps.row}};
    call(queue, y.data(), dq.data(), dk.data(), dv.data(), cleared.empty() ? nullptr : as_bool(cleared_rows), scores);
    REQUIRE(!queue.result());
    CHECK(words.host() == std::vector<unsigned>(4096));
    return y.host();
  }
  template <int kSize, int kParts = 1>
  std::vector<float> run() const {
    return run([&](Queue& queue, float* y, const float* a, const float* b, const float* c, const bool* none, const auto& scores) {
      attention<kSize, kParts>(queue, y, a, b, c, none, p, scores);
    });
  }
  template <int kSize>
  std::vector<float> decode(int64_t splits) {
    p.splits = splits;
    const OnDevice<float> parts(
        static_cast<std::size_t>(contract::gpu::attention_parts(p.batch * p.heads * p.queries, p.value_size, splits)));
    return run([&](Queue& queue, float* y, const float* a, const float* b, const float* c, const bool* none, const auto& scores) {
      attention_decode<kSize>(queue, y, a, b, c, none, parts.data(), p, scores);
    });
  }

  std::vector<double> expected() const {
    std::vector<double> y(static_cast<std::size_t>(p.batch * p.heads * p.queries * p.value_size));
    for (int64_t b = 0; b < p.batch; ++b) {
      for (int64_t h = 0; h < p.heads; ++h) {
        for (int64_t i = 0; i < p.queries; ++i) {
          const int64_t seen = p.causal ? std::min(p.keys, std::max<int64_t>(0, i + p.past + 1)) : p.keys;
          std::vector<double> s(static_cast<std::size_t>(seen));
          double top = -INFINITY, total = 0;
          for (int64_t j = 0; j < seen; ++j) {
            double dot = 0;
            for (int64_t c = 0; c < p.size; ++c) {
              dot += static_cast<double>(q[static_cast<std::size_t>(b * p.q.batch + h * p.q.head + i * p.q.row + c)]) *
                     k[static_cast<std::size_t>(b * p.k.batch + h / p.shared_heads * p.k.head + j * p.k.row + c)];
            }
            dot *= p.scale;
            if (!mask.empty()) dot += mask[static_cast<std::size_t>(b * steps.batch + h * steps.head + i * steps.row + j)];
            if (!chosen.empty())
              dot = chosen[static_cast<std::size_t>(i * p.keys + j)] ? dot * factors[static_cast<std::size_t>(h * p.queries + i)] : -2;
            s[static_cast<std::size_t>(j)] = dot;
            top = std::isnan(dot) || dot > top ? dot : top;
          }
          for (double& x : s) total += x = std::exp(x - top);
          for (int64_t c = 0; c < p.value_size; ++c) {
            double sum = 0;
            for (int64_t j = 0; j < seen; ++j) {
              sum += s[static_cast<std::size_t>(j)] *
                     v[static_cast<std::size_t>(b * p.v.batch + h / p.shared_heads * p.v.head + j * p.v.row + c)];
            }
            double& to = y[static_cast<std::size_t>(b * p.y.batch + h * p.y.head + i * p.y.row + c)];
            to = p.keys > 0 ? sum / total : 0;
            const bool clears = !cleared.empty() && cleared[static_cast<std::size_t>(b * p.queries + i)];
            if (!clears && (!p.nan_is_zero || !std::isnan(total))) continue;
            to = 0;
            for (int64_t j = 0; j < seen; ++j)
              to += 0.0 * v[static_cast<std::size_t>(b * p.v.batch + h / p.shared_heads * p.v.head + j * p.v.row + c)];
          }
        }
      }
    }
    return y;
  }
  /// Scores of some 4 in size are off by 1e-6, and so are probabilities; values are some 4 in size.
  void check(const std::vector<float>& y) const {
    CAPTURE(p.batch, p.heads, p.queries, p.keys, p.size, p.value_size, p.causal);
    const auto wanted = expected();
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i, y[i], wanted[i]);
      if (std::isnan(wanted[i])) REQUIRE(std::isnan(y[i]));
      else if (std::isinf(wanted[i])) REQUIRE(y[i] == wanted[i]);
      else REQUIRE(std::abs(y[i] - wanted[i]) <= 4e-6);
    }
  }
};

}  // namespace

TEST_CASE("attention on a GPU, of heads of every size") {
  for (const Mask mask : {Mask::None, Mask::Keys, Mask::Causal, Mask::CausalFlag, Mask::All, Mask::Where}) {
    const Case a(2, 2, 70, 75, 32, 32, mask);
    a.check(a.run<32>());
    const Case b(1, 2, 65, 33, 64, 64, mask);
    b.check(b.run<64>());
    const Case c(1, 1, 17, 70, 96, 96, mask);
    c.check(c.run<96>());
    const Case d(1, 2, 3, 40, 128, 128, mask);
    d.check(d.run<128>());
    const Case e(1, 4, 66, 31, 40, 20, mask, 2);
    e.check(e.run<64>());
  }
  for (const auto& [queries, keys] : {std::array<int64_t, 2>{1, 1}, {64, 64}, {1, 130}, {5, 0}, {0, 5}}) {
    const Case c(1, 1, queries, keys, 32, 32, Mask::None);
    c.check(c.run<32>());
  }
}

TEST_CASE("warps of a GPU that share the keys of a query") {
  for (const Mask mask : {Mask::None, Mask::CausalFlag, Mask::All, Mask::Where}) {
    const Case a(2, 2, 40, 205, 32, 32, mask);
    a.check(a.run<32, 2>());
    a.check(a.run<32, 4>());
    const Case b(1, 2, 65, 33, 64, 60, mask);
    b.check(b.run<64, 2>());
    b.check(b.run<64, 4>());
    const Case c(1, 1, 17, 70, 96, 96, mask);
    c.check(c.run<96, 2>());
    c.check(c.run<96, 4>());
    const Case d(1, 2, 3, 40, 128, 128, mask);
    d.check(d.run<128, 2>());
    d.check(d.run<128, 4>());
  }
  const Case none(1, 1, 5, 0, 32, 32, Mask::None);
  none.check(none.run<32, 2>());
}

TEST_CASE("only what is not finite in attention on a GPU is computed anew") {
  const Case c(1, 2, 65, 33, 64, 64, Mask::None);
  const auto y = c.run<64>();
  std::size_t same = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {  // [row][head][col]
    const std::size_t col = i % 64, head = i / 64 % 2, row = i / 128;
    std::vector<float> scores(33, 0.0f);
    float top = -INFINITY, total = 0, sum = 0;
    for (std::size_t j = 0; j < 33; ++j) {
      for (std::size_t e = 0; e < 64; ++e) scores[j] = std::fma(c.q[(row * 2 + head) * 64 + e], c.k[(j * 2 + head) * 64 + e], scores[j]);
      scores[j] *= c.p.scale;
      top = std::max(top, scores[j]);
    }
    for (std::size_t j = 0; j < 33; ++j) {
      const float e = std::exp(scores[j] - top);
      total += e;
      sum = std::fma(e, c.v[(j * 2 + head) * 64 + col], sum);
    }
    same += y[i] == sum / total;
  }
  CHECK(same < y.size() / 2);  // by multiply-adds, all would be the same
}

TEST_CASE("attention of few queries on a GPU, whose keys blocks share") {
  for (const int64_t splits : {1, 2, 7}) {
    for (const Mask mask : {Mask::None, Mask::Keys, Mask::Causal, Mask::CausalFlag, Mask::All, Mask::Where}) {
      Case a(2, 3, 1, 200, 128, 128, mask);
      a.check(a.decode<128>(splits));
      Case b(1, 4, 3, 71, 64, 64, mask, 2);
      b.check(b.decode<64>(splits));
      Case c(1, 2, 5, 130, 20, 12, mask);
      c.check(c.decode<32>(splits));
    }
    Case none(1, 1, 2, 0, 32, 32, Mask::None);
    none.check(none.decode<32>(splits));
  }
}

TEST_CASE("queries whose probabilities all count as 0 on a GPU") {
  Case c(2, 2, 20, 40, 32, 32, Mask::All);
  c.cleared.assign(40, 0);
  c.cleared[3] = c.cleared[20] = c.cleared[39] = 1;
  c.p.cleared = {20, 0, 1};
  c.v[(9 * 2 + 1) * 32 + 5] = INFINITY;  // of which 0 is no part
  c.check(c.run<32>());
  c.check(c.decode<32>(1));
  c.check(c.decode<32>(3));
}

TEST_CASE("values of a GPU's attention need not fill whole accesses") {
  Case c(1, 2, 9, 40, 32, 20, Mask::None);
  c.p.value_size = 18;  // of rows of 20
  c.p.y = {9 * 2 * 18, 18, 2 * 18};
  c.check(c.run<32>());
  c.check(c.decode<32>(2));
}

TEST_CASE("attention of as many queries as a run has on a GPU") {
  const OnDevice<float> parts(
      static_cast<std::size_t>(contract::gpu::attention_parts(contract::gpu::kFewRows, 64, contract::gpu::kMostSplits)));
  for (const auto& [heads, queries] : std::array<std::array<int64_t, 2>, 5>{{{2, 1}, {32, 4}, {33, 4}, {2, 5}, {1, 70}}}) {
    const Case c(1, heads, queries, 150, 64, 64, Mask::Keys);
    c.check(c.run([&](Queue& queue, float* y, const float* a, const float* b, const float* v, const bool* none, const auto& scores) {
      attention_any<64, 2>(queue, y, a, b, v, none, parts.data(), c.p, scores);
    }));
  }
}

TEST_CASE("the order of blocks and threads does not change attention on a GPU") {
  Case c(1, 2, 70, 75, 64, 64, Mask::All), few(2, 2, 1, 150, 64, 64, Mask::All);
  const Case one(1, 2, 70, 60, 64, 64, Mask::All);  // stage, where keys lie and then what was found from them
  std::vector<float> first, first_few, first_shared;
  for_orders([&] {
    const auto y = c.run<64>(), z = few.decode<64>(3), shared = one.run<64, 4>();
    if (first.empty()) {
      first = y;
      first_few = z;
      first_shared = shared;
    }
    REQUIRE(y == first);
    REQUIRE(shared == first_shared);
    REQUIRE(z == first_few);
  });
}

TEST_CASE("what is not finite in attention on a GPU is what f32 gives") {
  Case c(1, 1, 20, 40, 32, 32, Mask::All);
  for (std::size_t j = 0; j < 40; ++j) c.mask[2 * 40 + j] = -INFINITY;       // nothing is left of row 2
  for (std::size_t j = 0; j < 39; ++j) c.mask[3 * 40 + j] = -INFINITY;       // one key of row 3
  for (std::size_t j = 0; j < 40; ++j) c.mask[4 * 40 + j] = -3.4028235e38f;  // all keys of row 4 alike
  c.check(c.run<32>());
  c.mask[5 * 40 + 7] = NAN;
  c.v[9 * 32 + 5] = INFINITY;
  c.k[11 * 32] = -INFINITY;
  c.check(c.run<32>());
  c.check(c.run<32, 2>());
  c.check(c.run<32, 4>());
  c.check(c.decode<32>(1));
  c.check(c.decode<32>(3));
  const auto wanted = c.expected();
  CHECK(std::count_if(wanted.begin(), wanted.end(), [](double x) { return std::isinf(x); }) > 0);
  c.p.nan_is_zero = true;
  c.check(c.run<32>());
  c.check(c.run<32, 4>());
  c.check(c.decode<32>(1));
  c.check(c.decode<32>(3));
}
