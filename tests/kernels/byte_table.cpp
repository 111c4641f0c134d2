// Tables of bytes against a loop: tails, strides, both signs, in place, threads, nothing written outside.
#include <onnxc/byte_table.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

using namespace onnxc;

namespace {

template <class X, class Y>
void check(int64_t rows, int64_t columns, int64_t gap, int threads) {
  std::mt19937 random(static_cast<unsigned>(rows * columns));
  std::vector<Y> table(256);
  for (Y& y : table) y = static_cast<Y>(random());
  const ByteTableParams p{.rows = rows, .columns = columns, .x_row = columns + gap, .y_row = columns + gap};
  const auto size = static_cast<std::size_t>((rows - 1) * p.x_row + columns);
  const std::unique_ptr<X[]> x(new X[size]);
  std::unique_ptr<Y[]> y(new Y[size]);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<X>(i < 256 ? i : random());
  std::fill_n(y.get(), size, Y{77});
  for (int t = 0; t < threads; ++t) byte_table({t, threads}, x.get(), y.get(), table.data(), p);
  for (std::size_t i = 0; i < size; ++i) {
    const bool inside = static_cast<int64_t>(i) % p.x_row < columns;
    REQUIRE(y[i] == (inside ? table[static_cast<uint8_t>(x[i])] : Y{77}));
  }
}

}  // namespace

TEST_CASE("byte_table: each byte by the table") {
  for (int64_t columns : {1, 3, 31, 63, 64, 65, 127, 200, 300}) {
    for (int64_t gap : {0, 3}) {
      for (int threads : {1, 3}) {
        check<uint8_t, uint8_t>(5, columns, gap, threads);
        check<int8_t, int8_t>(1, columns, gap, threads);
        check<int8_t, uint8_t>(3, columns, gap, threads);
      }
    }
  }
}

TEST_CASE("byte_table: in place") {
  std::vector<uint8_t> table(256), x(1000);
  for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
  byte_table(Share{}, x.data(), x.data(), table.data(), {.columns = 1000, .x_row = 1000, .y_row = 1000});
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(x[i] == static_cast<uint8_t>(255 - i % 256));
}
