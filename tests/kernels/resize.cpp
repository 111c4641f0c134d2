// Resizing on vectors, against the scalar kernel along one axis after the other: sizes that leave tails; windows that
// reach over one register, two or more; any number of taps; several threads.
#include <onnxc/resize_planar.hpp>
#include <onnxc/scalar/resize.hpp>

#include <cstring>

#include "tests/kernels/common.hpp"

using namespace onnxc;
using test::kGuard;

namespace {

/// An axis and its table.
struct Axis {
  int64_t in, out, taps = 1;
  std::vector<int32_t> index;
  std::vector<float> weight;

  Axis(int64_t from, int64_t to, Filter filter, bool antialias = false) : in(from), out(to) {
    taps = resize_taps(filter, antialias, double(to) / double(from));
    index.resize(size_t(out * taps));
    if (taps > 1) weight.resize(size_t(out * taps));
    resize_table({.in = in, .out = out, .taps = taps, .filter = filter, .antialias = antialias}, index.data(), weight.data());
  }
  /// An axis that keeps its size.
  explicit Axis(int64_t size) : in(size), out(size) {}
  ResizeAxis axis() const { return {out, taps, index.empty() ? nullptr : index.data(), weight.empty() ? nullptr : weight.data()}; }
};

/// [outer, in, inner] along one axis, in double.
std::vector<double> resized(const std::vector<double>& x, int64_t outer, const Axis& axis, int64_t inner) {
  if (axis.index.empty()) return x;
  std::vector<double> y(size_t(outer * axis.out * inner)), weight(axis.weight.begin(), axis.weight.end());
  scalar::resize<double, double, double>({}, y.data(), x.data(), axis.index.data(), weight.data(),
                                         {outer, axis.in, axis.out, inner, axis.taps});
  return y;
}

/// Magnitudes of products of weights sum up to at most 1 for linear interpolation, and 1.5 for each axis for cubic.
bool is_near(float got, double wanted) { return std::fabs(got - wanted) <= 2e-6; }

template <int down, int across>
void check_planes(int64_t planes, const Axis& y, const Axis& x) {
  const std::vector<float> image = test::numbers(planes * y.in * x.in);
  const test::Unaligned from(image);
  const std::vector<double> wanted = resized(resized({image.begin(), image.end()}, planes, y, x.in), planes * y.out, x, 1);
  for (int threads : {1, 3}) {
    INFO(planes << " planes, " << y.in << "x" << x.in << " to " << y.out << "x" << x.out << ", taps " << y.taps << "x" << x.taps << ", "
                << threads << " threads");
    std::vector<float> got(wanted.size() + 1, kGuard);
    for (int thread = 0; thread < threads; ++thread)
      resize_planar<down, across>({thread, threads}, from.data(), got.data(),
                                  {.planes = planes, .h = y.in, .w = x.in, .y = y.axis(), .x = x.axis()});
    int64_t wrong = got.back() != kGuard;
    for (size_t i = 0; i < wanted.size(); ++i) wrong += !is_near(got[i], wanted[i]);
    CHECK(wrong == 0);
  }
}

template <int down, int across>
void check_pixels(int64_t n, const Axis& y, const Axis& x, int64_t c) {
  const int64_t x_pixel = c + 1, y_pixel = c + 2;
  const std::vector<float> image = test::numbers(n * y.in * x.in * x_pixel - 1);
  const test::Unaligned from(image);
  std::vector<double> dense;
  for (int64_t i = 0; i < n * y.in * x.in; ++i) dense.insert(dense.end(), image.begin() + i * x_pixel, image.begin() + i * x_pixel + c);
  const std::vector<double> wanted = resized(resized(dense, n, y, x.in * c), n * y.out, x, c);
  INFO(n << " images, " << y.in << "x" << x.in << "x" << c << " to " << y.out << "x" << x.out << ", taps " << y.taps << "x" << x.taps);
  std::vector<float> got(size_t(n * y.out * x.out * y_pixel), kGuard);
  for (int thread = 0; thread < 2; ++thread)
    resize<down, across>({thread, 2}, from.data(), got.data(),
                         {.n = n, .h = y.in, .w = x.in, .c = c, .x_pixel = x_pixel, .y_pixel = y_pixel, .y = y.axis(), .x = x.axis()});
  int64_t wrong = 0;
  for (int64_t i = 0; i < n * y.out * x.out; ++i) {
    for (int64_t ch = 0; ch < y_pixel; ++ch) {
      const float value = got[size_t(i * y_pixel + ch)];
      wrong += ch < c ? !is_near(value, wanted[size_t(i * c + ch)]) : value != kGuard;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("planes are resized along both axes at once") {
  // Enlarged a little and a lot; reduced so far that a vector reaches over two registers or more; rows shorter than a
  // vector.
  for (const auto& [in, out] : std::initializer_list<std::pair<int64_t, int64_t>>{{1, 5},
                                                                                  {3, 3},
                                                                                  {5, 40},
                                                                                  {7, 3},
                                                                                  {16, 17},
                                                                                  {17, 33},
                                                                                  {31, 16},
                                                                                  {32, 15},
                                                                                  {33, 17},
                                                                                  {40, 7},
                                                                                  {64, 512},
                                                                                  {100, 333},
                                                                                  {300, 141},
                                                                                  {300, 20}}) {
    check_planes<2, 2>(3, {5, 8, Filter::linear}, {in, out, Filter::linear});
    check_planes<2, 2>(2, {in, out, Filter::linear}, {19, 38, Filter::linear});
    check_planes<4, 4>(2, {6, 9, Filter::cubic}, {in, out, Filter::cubic});
    check_planes<1, 1>(2, {6, 9, Filter::floor}, {in, out, Filter::round_prefer_floor});
    check_planes<1, 2>(2, Axis(3), {in, out, Filter::linear});
    check_planes<2, kStays>(2, {in, out, Filter::linear}, Axis(21));
    check_planes<1, kStays>(2, {in, out, Filter::ceil}, Axis(5));
    check_planes<1, kAnyTaps>(2, Axis(2), {in, out, Filter::linear, true});
    check_planes<kAnyTaps, kStays>(2, {in, out, Filter::cubic, true}, Axis(37));
    check_planes<4, kAnyTaps>(1, {9, 4, Filter::cubic}, {in, out, Filter::linear, true});
  }
}

TEST_CASE("what is copied stays as it is, bit for bit") {
  const float odd[] = {std::numeric_limits<float>::quiet_NaN(), -0.0f, std::numeric_limits<float>::infinity(), 1e-40f, 3.0f};
  const Axis y(1, 2, Filter::floor), x(5, 11, Filter::floor);
  float got[22];
  resize_planar<1, 1>({}, odd, got, {.planes = 1, .h = 1, .w = 5, .y = y.axis(), .x = x.axis()});
  for (int64_t i = 0; i < 22; ++i) CHECK(std::memcmp(&got[i], &odd[x.index[size_t(i % 11)]], sizeof(float)) == 0);
}

TEST_CASE("planes without rows, without columns, or none at all are left as they are") {
  const float image[12] = {1, 2, 3};
  float got[4] = {kGuard, kGuard, kGuard, kGuard};
  const Axis some(3, 2, Filter::linear), none(0);
  resize_planar<2, kStays>({}, image, got, {.planes = 2, .h = 0, .w = 3, .y = none.axis(), .x = Axis(3).axis()});
  resize_planar<2, kStays>({}, image, got, {.planes = 2, .h = 3, .w = 0, .y = some.axis(), .x = none.axis()});
  resize_planar<2, 2>({}, image, got, {.planes = 2, .h = 3, .w = 0, .y = some.axis(), .x = none.axis()});
  resize_planar<2, 2>({}, image, got, {.planes = 0, .h = 3, .w = 3, .y = some.axis(), .x = some.axis()});
  for (float g : got) CHECK(g == kGuard);
}

TEST_CASE("channels-last images are resized pixel by pixel") {
  for (int64_t c : std::initializer_list<int64_t>{1, Vec::width, Vec::width + 3}) {
    check_pixels<2, 2>(2, {3, 5, Filter::linear}, {4, 3, Filter::linear}, c);
    check_pixels<4, 4>(1, {5, 7, Filter::cubic}, {6, 4, Filter::cubic}, c);
    check_pixels<1, 1>(2, {3, 5, Filter::floor}, {4, 3, Filter::ceil}, c);
    check_pixels<1, 2>(2, Axis(3), {4, 9, Filter::linear}, c);
    check_pixels<2, 1>(2, {3, 4, Filter::linear}, Axis(6), c);
    check_pixels<kAnyTaps, kAnyTaps>(2, {9, 4, Filter::linear, true}, Axis(3), c);
    check_pixels<kAnyTaps, kAnyTaps>(1, {9, 4, Filter::linear, true}, {17, 5, Filter::cubic, true}, c);
  }
}
