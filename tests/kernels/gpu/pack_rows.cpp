// Operands of products on a GPU from matrices at any strides.
#include <onnxc/gpu/pack_rows.hpp>

#include "tests/kernels/gpu/product_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

template <class T>
void check(const PackRowsParams& p, std::size_t from_count) {
  CAPTURE(p.rows, p.k, p.to_stride, p.from_row, p.from_k, sizeof(T));
  std::vector<T> x(from_count);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = element_of<T>(static_cast<double>(i % 97) / 64 - 0.5);
  const auto count = static_cast<std::size_t>(p.outer * p.batch * p.rows * p.to_stride);
  for_orders([&] {
    const OnDevice<T> from(x), to(count);
    const OnDevice<unsigned> words(std::vector<unsigned>(1));
    Queue queue(nullptr, words.data());
    pack_rows(queue, to.data(), from.data(), p);
    REQUIRE(!queue.result());
    const std::vector<T> y = to.host();
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t k = at % p.to_stride, row = at / p.to_stride % p.rows, z = at / (p.to_stride * p.rows);
      const int64_t place = z / p.batch * p.from_outer + z % p.batch * p.from_batch + row * p.from_row + k * p.from_k;
      const T expected = k < p.k ? x[static_cast<std::size_t>(place)] : T{};
      REQUIRE(value_of(y[i]) == value_of(expected));
    }
  });
}

}  // namespace

TEMPLATE_TEST_CASE("operands of products on a GPU are packed", "", float, float16, uint8_t) {
  constexpr int64_t n = 16 / sizeof(TestType);
  check<TestType>({.rows = 5, .k = 3, .to_stride = n, .from_row = 3, .from_k = 1}, 15);
  check<TestType>({.rows = 37, .k = 4 * n + 1, .to_stride = 6 * n, .from_row = 4 * n + 2, .from_k = 1}, 37 * (4 * n + 2));
  check<TestType>({.rows = 70, .k = 33, .to_stride = 48, .from_row = 1, .from_k = 70}, 70 * 33);
  check<TestType>({.rows = 4, .k = 1, .to_stride = n, .from_row = 1, .from_k = 4}, 4);
  check<TestType>({.rows = 3, .k = 5, .to_stride = 32, .from_row = 14, .from_k = 2}, 42);
  check<TestType>({.rows = 3, .k = 0, .to_stride = 16, .from_row = 1, .from_k = 3}, 0);
  check<TestType>({.rows = 0, .k = 4, .to_stride = 16, .from_row = 1, .from_k = 3}, 0);
  // [2][k = 33][3][rows = 40] and [2][rows = 40][3][k = 33]: heads of attention.
  check<TestType>({.rows = 40,
                   .k = 33,
                   .to_stride = 48,
                   .from_row = 1,
                   .from_k = 120,
                   .batch = 3,
                   .from_batch = 40,
                   .outer = 2,
                   .from_outer = 33 * 120},
                  2 * 33 * 120);
  check<TestType>(
      {.rows = 40, .k = 33, .to_stride = 48, .from_row = 99, .from_k = 1, .batch = 3, .from_batch = 33, .outer = 2, .from_outer = 40 * 99},
      2 * 40 * 99);
}
