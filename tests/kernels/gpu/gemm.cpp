// Products of matrices of f32 on a GPU against loops in double, in the emulator, and what all kinds of products have in common.
#include "tests/kernels/gpu/gemm_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

struct MultiplyAdd {
  template <class L, class X0, class X1, class X2>
  static ONNXC_BOTH auto apply(L, X0 x0, X1 x1, X2 x2) {
    return x0 * x1 + x2;
  }
};
/// round(x0 * x1), saturated.
struct Requantize {
  template <class L, class X0, class X1>
  static ONNXC_BOTH auto apply(L, X0 x0, X1 x1) {
    const float v = std::nearbyintf(static_cast<float>(x0) * x1);
    return v < -128.0f ? -128.0f : v > 127.0f ? 127.0f : v;
  }
};

}  // namespace

TEST_CASE("products of f32 on a GPU, by three of tf32 and by one") {
  check_sizes<ThreeTf32>();
  check_sizes<OnceTf32>();
}

TEST_CASE("long sums of three products of tf32 on a GPU are as good as those of multiply-adds") {
  const int64_t k = 4608;
  const Case<Few, ThreeTf32> c(32, 64, k);
  const auto y = c.run<float>(Epilogue<Keep>{});
  double off = 0, size = 0;
  std::size_t same = 0;  // as by multiply-adds, which are for what is not finite
  for (std::size_t row = 0; row < c.m; ++row) {
    for (std::size_t col = 0; col < c.n; ++col) {
      double sum = 0;
      float anew = 0;
      for (std::size_t i = 0; i < c.k; ++i) {
        sum += static_cast<double>(c.a[row * c.k + i]) * c.b[col * c.k + i];
        anew = std::fma(c.a[row * c.k + i], c.b[col * c.k + i], anew);
      }
      same += y[row * (c.n + 3) + col] == anew;
      off += (y[row * (c.n + 3) + col] - sum) * (y[row * (c.n + 3) + col] - sum);
      size += sum * sum;
    }
  }
  CHECK(same < c.m * c.n / 2);
  CHECK(std::sqrt(off / size) <= 6e-7);  // multiply-adds one after the other: 1.2e-6; without rounding of stages: 4.4e-5
}

TEST_CASE("the order of blocks and threads does not change a product on a GPU") {
  const Case<Small, ThreeTf32> plain(130, 70, 97), shared(70, 65, 200, 4, 2);
  std::vector<float> first, first_shared;
  for_orders([&] {
    const auto y = plain.run<float>(Epilogue<Keep>{}), z = shared.run<float>(Epilogue<Keep>{});
    if (first.empty()) {
      first = y;
      first_shared = z;
      shared.check(z, kSame);
    }
    REQUIRE(y == first);
    REQUIRE(z == first_shared);
  });
}

TEST_CASE("the end of a product on a GPU reads operands in every form, and stores every type") {
  const Case<Small, ThreeTf32> c(67, 71, 40, 1, 2);
  const std::vector<float> matrix = numbers<float>(2 * 67 * 80, 3), cols = numbers<float>(80, 4), rows = numbers<float>(140, 5);
  const OnDevice<float> dm(matrix), dc(cols), dr(rows);
  const auto relu = [](double x) { return std::max(0.0, x); };
  c.check(
      c.run<float>(Epilogue<AddRelu, Rows<float>>{{dm.data(), 80}}),
      [&](double s, std::size_t r, std::size_t i) { return relu(s + matrix[r * 80 + i]); }, 1, 1e-6);
  c.check(
      c.run<float>(Epilogue<AddRelu, PerCol<float>>{{dc.data()}}), [&](double s, std::size_t, std::size_t i) { return relu(s + cols[i]); },
      1, 1e-6);
  c.check(
      c.run<float>(Epilogue<AddRelu, PerRow<float>>{{dr.data(), 2, 1}}),
      [&](double s, std::size_t r, std::size_t) { return relu(s + rows[r / 2]); }, 1, 1e-6);
  c.check(
      c.run<float>(Epilogue<AddRelu, PerGroup<float>>{{dm.data(), 67, 80}}),
      [&](double s, std::size_t r, std::size_t i) { return relu(s + matrix[r / 67 * 80 + i]); }, 1, 1e-6);
  c.check(
      c.run<float>(Epilogue<AddRelu, Repeat<float>>{{dm.data(), 67, 80}}),
      [&](double s, std::size_t r, std::size_t i) { return relu(s + matrix[r % 67 * 80 + i]); }, 1, 1e-6);
  c.check(
      c.run<float>(Epilogue<AddRelu, Single<float>>{{dc.data()}}), [&](double s, std::size_t, std::size_t) { return relu(s + cols[0]); }, 1,
      1e-6);
  c.check(
      c.run<float16>(Epilogue<MultiplyAdd, PerCol<float>, PerRow<float>>{{dc.data()}, {dr.data(), 1, 1}}),
      [&](double s, std::size_t r, std::size_t i) { return s * cols[i] + rows[r]; }, 4, std::ldexp(1, -10));
  c.check(c.run<bfloat16>(Epilogue<Keep>{}), kSame, 1, std::ldexp(1, -8));
  const Case<Small, U8S8> bytes(66, 30, 77);
  const OnDevice<float> scale(std::vector<float>(30, 0.015625f));
  bytes.check(bytes.run<int8_t>(Epilogue<Requantize, PerCol<float>>{{scale.data()}}),
              [&](double s, std::size_t, std::size_t) { return std::clamp(std::nearbyint(s / 64), -128.0, 127.0); });
  bytes.check(bytes.run<float>(Epilogue<Keep>{}), kSame);
}

TEST_CASE("what is not finite in a product on a GPU is what f32 gives") {
  for (const int64_t splits : {1, 2}) {
    Case<Small, ThreeTf32> c(5, 6, 80, splits);
    const float inf = INFINITY, large = 3.4e38f;
    c.a[0 * 80 + 3] = inf;
    c.a[1 * 80 + 79] = NAN;
    for (std::size_t i = 0; i < 80; ++i) c.a[2 * 80 + i] = 0;
    c.a[2 * 80 + 1] = large;
    c.b[4 * 80 + 7] = -inf;
    const auto y = c.run<float>(Epilogue<Keep>{});
    for (std::size_t row = 0; row < 5; ++row) {
      for (std::size_t col = 0; col < 6; ++col) {
        float sum = 0;
        for (std::size_t i = 0; i < 80; ++i) sum = std::fma(c.a[row * 80 + i], c.b[col * 80 + i], sum);
        const float got = y[row * 9 + col];
        CAPTURE(row, col, got, sum);
        if (std::isnan(sum)) REQUIRE(std::isnan(got));
        else if (std::isinf(sum)) REQUIRE(got == sum);
        else REQUIRE(std::abs(got - sum) <= 1e-5f * std::max(100.0f, std::abs(sum)));
      }
    }
  }
}

TEST_CASE("matrices of a product on a GPU lie at two kinds of steps") {
  // Scores of attention: q and k are [batch][row][head][size], y is [batch][head][row][row].
  constexpr std::size_t kBatch = 2, kHeads = 3, kRows = 17, kSize = 8;
  const auto q = numbers<float>(kBatch * kRows * kHeads * kSize, 6), k = numbers<float>(kBatch * kRows * kHeads * kSize, 7);
  const OnDevice<float> dq(q), dk(k), dy(kBatch * kHeads * kRows * kRows);
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  gemm<Few, ThreeTf32>(queue, dy.data(), dq.data(), dk.data(),
                       {.m = kRows,
                        .n = kRows,
                        .k = kSize,
                        .a_stride = kHeads * kSize,
                        .b_stride = kHeads * kSize,
                        .y_stride = kRows,
                        .batch = kHeads,
                        .a_batch = kSize,
                        .b_batch = kSize,
                        .y_batch = kRows * kRows,
                        .outer = kBatch,
                        .a_outer = kRows * kHeads * kSize,
                        .b_outer = kRows * kHeads * kSize,
                        .y_outer = kHeads * kRows * kRows});
  REQUIRE(!queue.result());
  const auto y = dy.host();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t col = i % kRows, row = i / kRows % kRows, head = i / (kRows * kRows) % kHeads, image = i / (kRows * kRows * kHeads);
    double sum = 0;
    for (std::size_t s = 0; s < kSize; ++s) {
      sum += static_cast<double>(q[((image * kRows + row) * kHeads + head) * kSize + s]) *
             k[((image * kRows + col) * kHeads + head) * kSize + s];
    }
    REQUIRE(std::abs(y[i] - sum) <= 1e-5);
  }
}
