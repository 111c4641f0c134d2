// Picking and reordering channels, against Gather: widths that leave tails, gaps between pixels, several threads.
#include <onnxc/pick_channels.hpp>
#include <onnxc/scalar/gather.hpp>

#include "tests/kernels/common.hpp"

using namespace onnxc;

namespace {

constexpr int64_t kPixels = 7;

/// Gaps after the channels of a pixel must stay as they are. The memory ends with the last channel of the last pixel.
template <class Kernel>
void check(const std::vector<int32_t>& channels, int64_t of, int64_t x_gap, int64_t y_gap, Kernel&& kernel) {
  const auto count = static_cast<int64_t>(channels.size()), x_pixel = of + x_gap, y_pixel = count + y_gap;
  std::vector<float> image = test::numbers(kPixels * x_pixel), picked(static_cast<std::size_t>(kPixels * count));
  REQUIRE(!scalar::gather<float, int32_t>({picked.data(), {kPixels, count}}, {image.data(), {kPixels, x_pixel}}, {channels.data(), {count}},
                                          {.axis = 1}));
  image.resize(static_cast<std::size_t>(kPixels * x_pixel - x_gap));
  const test::Unaligned x(image);
  for (int threads : {1, 3, 8}) {
    INFO(count << " of " << of << " channels, gaps " << x_gap << ", " << y_gap << ", " << threads << " threads");
    std::vector<float> wanted(static_cast<std::size_t>((kPixels - 1) * y_pixel + count), test::kGuard), y = wanted;
    for (int64_t i = 0; i < kPixels * count; ++i)
      wanted[static_cast<std::size_t>(i / count * y_pixel + i % count)] = picked[static_cast<std::size_t>(i)];
    for (int thread = 0; thread < threads; ++thread)
      kernel(Share{thread, threads}, x.data(), y.data(),
             PickParams{.pixels = kPixels, .channels = count, .x_pixel = x_pixel, .y_pixel = y_pixel});
    REQUIRE(y == wanted);
  }
}

template <int groups>
void check_interleaved() {
  for (int64_t each : {1, 2, 3, 4, 7, 8, 15, 16, 17, 29, 30, 58, 60, 80, 116}) {
    std::vector<int32_t> channels;
    for (int64_t i = 0; i < each; ++i) {
      for (int64_t j = 0; j < groups; ++j) channels.push_back(static_cast<int32_t>(j * each + i));
    }
    for (const auto& [x_gap, y_gap] : {std::pair{0, 0}, {5, 3}, {0, 64}})
      check(channels, each * groups, x_gap, y_gap, interleave_channels<groups>);
  }
}

}  // namespace

TEST_CASE("interleave_channels takes the channels of all groups in turn") {
  check_interleaved<2>();
  check_interleaved<3>();
  check_interleaved<4>();
  check_interleaved<5>();
  check_interleaved<6>();
  check_interleaved<7>();
  check_interleaved<8>();
}

TEST_CASE("pick_channels takes any channels, some never and some twice") {
  for (int32_t of : {1, 6, 17, 58}) {
    for (int32_t count : {1, 5, 16, 33}) {
      std::vector<int32_t> channels;
      for (int32_t i = 0; i < count; ++i) channels.push_back((i * 7 + 3) % of);
      for (int64_t gap : {0, 9}) {
        check(channels, of, gap, gap,
              [&](Share share, const float* x, float* y, PickParams p) { pick_channels(share, x, y, channels.data(), p); });
      }
    }
  }
}
