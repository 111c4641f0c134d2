// Max pooling of bytes, in the emulator: the bits of the CPU's kernel, by words and by bytes.
#include <onnxc/gpu/pool_bytes.hpp>
#include <onnxc/pool_bytes.hpp>

#include <random>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::test;
using gpu::Queue;

namespace {

/// Images whose pixels are `x_gap` and `y_gap` bytes longer than their channels, `skip` bytes behind where memory is aligned.
template <class T>
void check(gpu::PoolParams p, int64_t x_gap, int64_t y_gap, int64_t skip) {
  CAPTURE(std::is_signed_v<T>, p.c, x_gap, y_gap, skip, p.h, p.w, p.kh);
  p.x_pixel = p.c + x_gap;
  p.y_pixel = p.c + y_gap;
  std::mt19937 random(static_cast<unsigned>(p.c + x_gap));
  std::vector<T> host(static_cast<std::size_t>(p.n * p.h * p.w * p.x_pixel + skip));
  for (T& v : host) v = static_cast<T>(random() % 5 == 0 ? random() % 2 * 0x7f + random() % 2 : random());  // often next to a turn of signs
  const std::vector<T> before(static_cast<std::size_t>(p.n * p.oh * p.ow * p.y_pixel + skip), T{77});
  std::vector<T> expected = before;
  onnxc::max_pool_bytes<T>(Share{}, host.data() + skip, expected.data() + skip,
                           {.n = p.n,
                            .h = p.h,
                            .w = p.w,
                            .c = p.c,
                            .oh = p.oh,
                            .ow = p.ow,
                            .kh = p.kh,
                            .kw = p.kw,
                            .stride_y = p.stride_y,
                            .stride_x = p.stride_x,
                            .dilation_y = p.dilation_y,
                            .dilation_x = p.dilation_x,
                            .pad_top = p.pad_top,
                            .pad_left = p.pad_left,
                            .x_pixel = p.x_pixel,
                            .y_pixel = p.y_pixel});
  const OnDevice<T> x(host);
  const auto check_result = [&](auto enqueue) {
    const OnDevice<T> y(before);
    const OnDevice<unsigned> words(std::vector<unsigned>(2));
    Queue queue(nullptr, words.data());
    enqueue(queue, y.data() + skip);
    REQUIRE(!queue.result());
    CHECK(y.host() == expected);
  };
  for_orders([&] { check_result([&](Queue& q, T* y) { gpu::max_pool_bytes(q, x.data() + skip, y, p); }); });
  check_result([&](Queue& q, T* y) {  // as where positions take 64 bits
    gpu::detail::launch_max_pool<gpu::detail::OneByte<T>, int64_t>(q, x.data() + skip, y, p);
  });
}

template <class T>
void check_forms(int64_t c, int64_t x_gap, int64_t y_gap, int64_t skip) {
  const gpu::PoolParams forms[] = {
      {.n = 2, .h = 9, .w = 8, .c = c, .oh = 5, .ow = 4, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1},
      {.h = 4, .w = 6, .c = c, .oh = 2, .ow = 3, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2},
      {.h = 3, .w = 3, .c = c, .oh = 5, .ow = 5, .kh = 1, .kw = 1, .pad_top = 1, .pad_left = 1},
      {.h = 1, .w = 20, .c = c, .oh = 1, .ow = 16, .kh = 1, .kw = 3, .dilation_x = 2},
      {.n = 3, .h = 7, .w = 5, .c = c, .oh = 3, .ow = 5, .kh = 3, .kw = 2, .stride_y = 3, .dilation_y = 2, .pad_top = 3, .pad_left = 1}};
  for (const gpu::PoolParams& p : forms) check<T>(p, x_gap, y_gap, skip);
}

}  // namespace

TEST_CASE("the largest byte of each window on a GPU") {
  for (const int64_t c : {1, 3, 4, 7, 64, 130}) {
    for (const int64_t gap : {int64_t{0}, 4 - c % 4}) {
      check_forms<uint8_t>(c, gap, gap, 0);
      check_forms<int8_t>(c, gap, gap, 0);
    }
  }
}

TEST_CASE("pixels of bytes that begin at no words") {
  check_forms<uint8_t>(8, 0, 3, 0);
  check_forms<int8_t>(8, 3, 0, 0);
  check_forms<uint8_t>(8, 0, 0, 1);
}

TEST_CASE("no pixels, and no channels, are no work") {
  check<uint8_t>({.n = 0, .h = 4, .w = 4, .c = 8, .oh = 2, .ow = 2, .kh = 2, .kw = 2}, 0, 0, 0);
  check<uint8_t>({.h = 4, .w = 4, .c = 0, .oh = 2, .ow = 2, .kh = 2, .kw = 2}, 4, 4, 0);
}

TEST_CASE("the largest of any two bytes in a word") {
  const auto check_type = []<class T>(T) {
    using Bytes = gpu::detail::BytesInWord<T>;
    int wrong = 0;
    for (int a = 0; a < 256; ++a) {
      for (int b = 0; b < 256; ++b) {  // beside neighbours that borrow and others that do not
        alignas(4) const T left[4] = {static_cast<T>(a), static_cast<T>(b), T(0), static_cast<T>(a)},
                           right[4] = {static_cast<T>(b), static_cast<T>(a), static_cast<T>(-1), static_cast<T>(b)};
        alignas(4) T largest[4];
        Bytes::store(Bytes::largest(Bytes::load(left), Bytes::load(right)), largest, 4);
        for (int i = 0; i < 4; ++i) wrong += largest[i] != std::max(left[i], right[i]);
      }
    }
    CHECK(wrong == 0);
  };
  check_type(uint8_t{});
  check_type(int8_t{});
}
