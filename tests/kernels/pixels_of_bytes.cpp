// Planes of bytes to pixels of four bytes.
#include <onnxc/pixels_of_bytes.hpp>

#include <catch2/catch.hpp>

#include <vector>

using namespace onnxc;

TEST_CASE("planes of bytes become pixels of four bytes") {
  for (int64_t batch : {1, 2}) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      for (int64_t pixels : {0, 1, 5, 4 * Vec::width - 1, 4 * Vec::width, 8 * Vec::width + 3}) {
        for (int threads : {1, 3}) {
          std::vector<int8_t> x(size_t(batch * channels * pixels)), y(size_t(4 * batch * pixels) + 1, 77), expected = y;
          for (size_t i = 0; i < x.size(); ++i) x[i] = int8_t(i * 37);
          for (int64_t i = 0; i < batch * pixels; ++i) {
            for (int64_t c = 0; c < 4; ++c)
              expected[size_t(4 * i + c)] = c < channels ? x[size_t((i / pixels * channels + c) * pixels + i % pixels)] : int8_t{0};
          }
          for (int i = 0; i < threads; ++i)
            pixels_of_bytes({i, threads}, x.data(), y.data(), {.batch = batch, .channels = channels, .pixels = pixels});
          CHECK(y == expected);
        }
      }
    }
  }
}
