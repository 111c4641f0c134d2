// Sums of bytes, in the emulator, against scalar::reduce: tails of both axes, rows that begin at no words, sums that fill their words,
// epilogues, nothing written outside.
#include <onnxc/gpu/sum_bytes.hpp>

#include <random>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::test;
using gpu::Queue;

namespace {

/// The sum and twice an operand, as a byte modulo 256.
struct AddTwice {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A sum, B operand) {
    return static_cast<uint8_t>(sum + 2 * operand);
  }
};

std::vector<uint8_t> some(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> v(static_cast<std::size_t>(count));
  for (uint8_t& value : v) value = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random());
  return v;
}

/// enqueue(queue, y) gives what is expected, and nothing else in y.
template <class Y, class Enqueue>
void check_results(const std::vector<Y>& expected, Enqueue enqueue) {
  for_orders([&] {
    const OnDevice<Y> y(std::vector<Y>(expected.size(), Y{77}));
    const OnDevice<unsigned> words(std::vector<unsigned>(2));
    Queue queue(nullptr, words.data());
    enqueue(queue, y.data());
    REQUIRE(!queue.result());
    CHECK(y.host() == expected);
  });
}

void check_last(gpu::ReduceParams p, int64_t skip, const std::vector<uint8_t>& host) {
  CAPTURE(p.outer, p.r, p.x_row, skip);
  const auto count = static_cast<std::size_t>(p.outer);
  const OnDevice<uint8_t> x(host);
  std::vector<int32_t> sums(count + 1, 77), operand(count, 3);
  std::vector<uint8_t> ends(count + 1, 77);
  scalar::reduce<scalar::Sum, scalar::Same>(Share{}, sums.data(), host.data() + skip, {p.outer}, {p.x_row}, {p.r}, {1});
  for (std::size_t i = 0; i < count; ++i) ends[i] = static_cast<uint8_t>(sums[i] + 2 * (operand[i] = static_cast<int32_t>(i * 5)));
  const OnDevice<int32_t> of_columns(operand);
  check_results(sums, [&](Queue& q, int32_t* y) { gpu::sum_bytes_last(q, x.data() + skip, y, p); });
  check_results(ends, [&](Queue& q, uint8_t* y) {
    gpu::sum_bytes_last(q, x.data() + skip, y, p, Epilogue<AddTwice, PerCol<int32_t>>{{of_columns.data()}});
  });
}

void check_middle(gpu::ReduceParams p, int64_t skip, const std::vector<uint8_t>& host) {
  CAPTURE(p.outer, p.r, p.inner, p.x_row, p.x_outer, p.y_outer, skip);
  const auto count = static_cast<std::size_t>(p.outer * p.inner);
  const OnDevice<uint8_t> x(host);
  std::vector<int32_t> together(count), sums(static_cast<std::size_t>(p.outer * p.y_outer), 77), operand(count);
  std::vector<uint8_t> ends(sums.size(), 77);
  scalar::reduce<scalar::Sum, scalar::Same>(Share{}, together.data(), host.data() + skip, {p.outer, p.inner}, {p.x_outer, 1}, {p.r},
                                            {p.x_row});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at =
        i / static_cast<std::size_t>(p.inner) * static_cast<std::size_t>(p.y_outer) + i % static_cast<std::size_t>(p.inner);
    sums[at] = together[i];
    ends[at] = static_cast<uint8_t>(sums[at] + 2 * (operand[i] = static_cast<int32_t>(i * 5)));
  }
  const OnDevice<int32_t> rows(operand);
  check_results(sums, [&](Queue& q, int32_t* y) { gpu::sum_bytes_middle(q, x.data() + skip, y, p); });
  check_results(ends, [&](Queue& q, uint8_t* y) {
    gpu::sum_bytes_middle(q, x.data() + skip, y, p, Epilogue<AddTwice, Rows<int32_t>>{{rows.data(), p.inner}});
  });
}

}  // namespace

TEST_CASE("sums of rows of bytes on a GPU") {
  for (const int64_t r : {0, 1, 3, 4, 5, 49, 127, 128, 1000, 4097}) {
    for (const auto& [x_row, skip] : {std::pair{r, int64_t{0}}, {r + 3, int64_t{0}}, {r + 4 - r % 4, int64_t{1}}})
      check_last({.outer = 11, .r = r, .x_row = x_row}, skip, some(11 * x_row + skip, static_cast<unsigned>(r)));
  }
  check_last({.outer = 0, .r = 4, .x_row = 4}, 0, some(4, 1));
}

TEST_CASE("sums of columns of bytes on a GPU") {
  for (const int64_t inner : {1, 3, 4, 31, 128, 130, 200}) {
    for (const int64_t r : {0, 1, 2, 7, 8, 49}) {
      for (const auto& [x_row, skip] :
           {std::pair{inner, int64_t{0}}, {inner + 4 - inner % 4, int64_t{0}}, {inner + 4 - inner % 4, int64_t{2}}}) {
        const gpu::ReduceParams p{.outer = 3, .r = r, .inner = inner, .x_row = x_row, .x_outer = r * x_row, .y_outer = inner + 1};
        check_middle(p, skip, some(p.outer * p.x_outer + inner + skip, static_cast<unsigned>(inner)));
      }
    }
  }
  check_middle({.outer = 2, .r = 3, .inner = 8, .x_row = 8, .x_outer = 25, .y_outer = 8}, 0, some(60, 2));
  check_middle({.outer = 0, .r = 3, .inner = 8, .x_row = 8, .x_outer = 24, .y_outer = 8}, 0, some(8, 3));
  check_middle({.outer = 1, .r = 3, .inner = 0, .x_row = 0, .x_outer = 0, .y_outer = 0}, 0, some(8, 3));
}

TEST_CASE("sums of many bytes of 255 on a GPU") {
  const int64_t threads = 256, words = 700;  // of each thread, more than words of 16 bits can add up
  check_last({.outer = 2, .r = threads * words * 4, .x_row = threads * words * 4}, 0,
             std::vector<uint8_t>(static_cast<std::size_t>(2 * threads * words * 4), 255));
  check_last({.outer = 1, .r = 4096, .x_row = 4096}, 0, std::vector<uint8_t>(4096, 255));
  check_middle({.outer = 1, .r = 8 * words, .inner = 4, .x_row = 4, .x_outer = 0, .y_outer = 4}, 0,
               std::vector<uint8_t>(static_cast<std::size_t>(8 * words * 4), 255));
}
