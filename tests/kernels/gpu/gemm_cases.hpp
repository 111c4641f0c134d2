// Products of their own operands, of every size that matters, against loops in double.
#pragma once
#include <onnxc/gpu/gemm.hpp>

#include "tests/kernels/gpu/product_cases.hpp"

namespace onnxc::test {

using gpu::Queue, gpu::GemmParams, gpu::Tile;

using Small = Tile<64, 64, 32, 32, 3>;
using Few = Tile<32, 64, 32, 16, 4>;
using Narrow = Tile<128, 32, 32, 32, 3>;
using Large = Tile<128, 64, 32, 32, 3>;

/// A product of its own operands and y, of which rows have gaps.
template <class Tile, class Kind>
struct Case {
  using A = typename gpu::detail::KindOf<Kind>::Left;
  using B = typename gpu::detail::KindOf<Kind>::Right;
  using Sum = typename Kind::Sum;
  GemmParams p;
  std::size_t m, n, k, count;
  std::vector<A> a;
  std::vector<B> b;

  Case(int64_t rows, int64_t cols, int64_t depth, int64_t splits = 1, int64_t batch = 1, bool one_b = false)
      : m(static_cast<std::size_t>(rows)),
        n(static_cast<std::size_t>(cols)),
        k(static_cast<std::size_t>(depth)),
        count(static_cast<std::size_t>(batch)),
        a(numbers<A>(m * k * count, 1)),
        b(numbers<B>(n * k * (one_b ? 1 : count), 2)) {
    p = {.m = rows, .n = cols, .k = depth, .a_stride = 0, .b_stride = 0, .y_stride = cols + 3};
    p.a_stride = contract::gpu::row_of(depth, sizeof(A)) + 16 / static_cast<int64_t>(sizeof(A));
    p.b_stride = contract::gpu::row_of(depth, sizeof(B));
    p.batch = batch;
    p.a_batch = rows * p.a_stride;
    p.b_batch = one_b ? 0 : cols * p.b_stride;
    p.y_batch = rows * p.y_stride;
    p.splits = splits;
  }
  std::size_t y_count() const { return count * m * (n + 3); }

  template <class Y, class Epi>
  std::vector<Y> run(Epi epilogue) const {
    const OnDevice<A> left(in_rows(a, k, static_cast<std::size_t>(p.a_stride)));
    const OnDevice<B> right(in_rows(b, k, static_cast<std::size_t>(p.b_stride)));
    const OnDevice<Y> y(std::vector<Y>(y_count(), static_cast<Y>(-77.0f)));
    const OnDevice<Sum> parts(static_cast<std::size_t>(parts_of<Tile>(p)));
    const auto tickets = static_cast<std::size_t>(tickets_of<Tile>(p));
    const OnDevice<unsigned> words(std::vector<unsigned>(1 + tickets));
    Queue queue(nullptr, words.data());
    if (p.splits > 1) gemm<Tile, Kind>(queue, y.data(), left.data(), right.data(), parts.data(), p, epilogue);
    else gemm<Tile, Kind>(queue, y.data(), left.data(), right.data(), p, epilogue);
    REQUIRE(!queue.result());
    CHECK(words.host() == std::vector<unsigned>(1 + tickets));
    return y.host();
  }

  /// What `run` gave is expected(sum, row of all matrices, col), which grows by at most `slope` times an error of the sum.
  template <class Y, class Expected>
  void check(const std::vector<Y>& y, Expected expected, double slope = 1, double rounding = 0) const {
    const std::size_t b_matrices = b.size() / std::max<std::size_t>(n * k, 1);
    for (std::size_t z = 0; z < count; ++z) {
      for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t col = 0; col < n + 3; ++col) {
          const Y got = y[(z * m + row) * (n + 3) + col];
          if (col >= n) {
            REQUIRE(value_of(got) == value_of(static_cast<Y>(-77.0f)));
            continue;
          }
          double sum = 0, size = 0;
          for (std::size_t i = 0; i < k; ++i) {
            const double product =
                value_of(a[(z * m + row) * k + i]) * value_of(b[((z % std::max<std::size_t>(b_matrices, 1)) * n + col) * k + i]);
            sum += product;
            size += std::abs(product);
          }
          const double wanted = expected(sum, z * m + row, col);
          CAPTURE(z, row, col, value_of(got), wanted);
          REQUIRE(std::abs(value_of(got) - wanted) <= slope * size * error_of<Kind>(static_cast<int64_t>(k)) + rounding * std::abs(wanted));
        }
      }
    }
  }
};

inline const auto kSame = [](double sum, std::size_t, std::size_t) { return sum; };

template <class Kind>
void check_sizes() {
  CAPTURE(Kind::kValues);
  const int64_t v = Kind::kValues;
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {3, 5, 4},
                                {64, 64, 32 * v},
                                {65, 63, 32 * v + 1},
                                {33, 130, 97 * v - 1},
                                {130, 66, 31},
                                {5, 7, 0},
                                {0, 7, 9},
                                {7, 0, 9}}) {
    CAPTURE(m, n, k);
    const Case<Small, Kind> c(m, n, k);
    c.check(c.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  }
  const Case<Few, Kind> few(35, 70, 60 * v + 3);
  few.check(few.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  const Case<Large, Kind> large(140, 90, 70 * v);
  large.check(large.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  const Case<Narrow, Kind> narrow(140, 40, 70 * v - 1, 2);
  narrow.check(narrow.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  const Case<Few, Kind> tall(300, 130, 3 * v);  // more rows of tiles than a band of them has
  tall.check(tall.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  for (const int64_t splits : {2, 3, 9}) {  // of 5 stages
    const Case<Small, Kind> c(70, 50, 150 * v + 1, splits);
    c.check(c.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  }
  for (const bool one_b : {false, true}) {
    const Case<Small, Kind> c(40, 70, 20 * v + 2, 1, 3, one_b);
    c.check(c.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
    const Case<Small, Kind> shared(40, 70, 70 * v + 2, 2, 3, one_b);
    shared.check(shared.template run<typename Kind::Sum>(Epilogue<Keep>{}), kSame);
  }
}

}  // namespace onnxc::test
