// Max pooling of bytes against a loop: borders, windows without pixels, strides, dilations, tails of channels, threads, guard values.
#include <onnxc/pool_bytes.hpp>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

using namespace onnxc;

namespace {

template <class T>
void check(PoolParams p, int threads) {
  std::mt19937 random(static_cast<unsigned>(p.c + threads));
  p.x_pixel = p.c + 4;
  p.y_pixel = p.c + 3;
  const auto x_size = static_cast<std::size_t>((p.n * p.h * p.w - 1) * p.x_pixel + p.c);
  const std::unique_ptr<T[]> x(new T[x_size]);
  for (std::size_t i = 0; i < x_size; ++i) x[i] = static_cast<T>(random());
  std::vector<T> y(static_cast<std::size_t>(p.n * p.oh * p.ow * p.y_pixel), T{77});
  for (int t = 0; t < threads; ++t) max_pool_bytes<T>({t, threads}, x.get(), y.data(), p);
  for (int64_t pixel = 0; pixel < p.n * p.oh * p.ow; ++pixel) {
    const int64_t image = pixel / (p.oh * p.ow), oy = pixel / p.ow % p.oh, ox = pixel % p.ow;
    for (int64_t c = 0; c < p.y_pixel; ++c) {
      T expected = c < p.c ? std::numeric_limits<T>::lowest() : T{77};
      for (int64_t tap = 0; tap < p.kh * p.kw && c < p.c; ++tap) {
        const int64_t iy = oy * p.stride_y - p.pad_top + tap / p.kw * p.dilation_y,
                      ix = ox * p.stride_x - p.pad_left + tap % p.kw * p.dilation_x;
        if (iy >= 0 && iy < p.h && ix >= 0 && ix < p.w)
          expected = std::max(expected, x[static_cast<std::size_t>(((image * p.h + iy) * p.w + ix) * p.x_pixel + c)]);
      }
      REQUIRE(y[static_cast<std::size_t>(pixel * p.y_pixel + c)] == expected);
    }
  }
}

}  // namespace

TEST_CASE("pool_bytes: the largest byte of each window") {
  for (int64_t c : {1, 3, 15, 16, 17, 31, 32, 40, 63, 64, 65, 200}) {
    for (int threads : {1, 3}) {
      const auto both = [&](const PoolParams& p) {
        check<uint8_t>(p, threads);
        check<int8_t>(p, threads);
      };
      both({.n = 2, .h = 9, .w = 8, .c = c, .oh = 5, .ow = 4, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1});
      both({.h = 4, .w = 6, .c = c, .oh = 2, .ow = 3, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2});
      both({.h = 3, .w = 3, .c = c, .oh = 5, .ow = 5, .kh = 1, .kw = 1, .pad_top = 1, .pad_left = 1});
      both({.h = 1, .w = 20, .c = c, .oh = 1, .ow = 16, .kh = 1, .kw = 3, .dilation_x = 2});
    }
  }
}
