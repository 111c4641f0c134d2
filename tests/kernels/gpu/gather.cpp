// Rows and elements that indices pick, in the emulator: the bits and the codes of the reference kernels.
#include <onnxc/gpu/gather.hpp>
#include <onnxc/scalar/gather_elements.hpp>

#include <complex>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::test;
using gpu::Queue;

namespace {

template <class T>
std::vector<T> some(int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<float>(i * 37 % 251) - 125);
  return v;
}

/// Indices of both signs, in [-n, n).
template <class I>
std::vector<I> some_indices(int64_t count, int64_t n) {
  std::vector<I> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i * 7 + i / 3) % n;
    v[i] = static_cast<I>(i % 4 == 1 ? index - n : index);
  }
  return v;
}

/// enqueue(queue, y) on the device says what compute(y) says here, and if that is nothing gives the same. `skip`: y's distance in
/// elements from where memory is aligned.
template <class T, class Enqueue, class Compute>
void check_same(int64_t count, int64_t skip, Enqueue enqueue, Compute compute) {
  const std::vector<T> before(static_cast<std::size_t>(count + skip + 3), T(77));
  std::vector<T> expected = before;
  const Status status = compute(expected.data() + skip);
  for_orders([&] {
    const OnDevice<T> y(before);
    const OnDevice<unsigned> words(std::vector<unsigned>(2));
    Queue queue(nullptr, words.data());
    enqueue(queue, y.data() + skip);
    REQUIRE(!queue.result());
    CHECK(words.host()[0] == static_cast<unsigned>(status.code));
    if (!status) CHECK(y.host() == expected);
  });
}

template <class T, class I>
void check_gather(Shape data, Shape at, int64_t axis, const std::vector<I>& indices, int64_t skip_x = 0, int64_t skip_y = 0) {
  CAPTURE(sizeof(T), sizeof(I), axis, data.count(), at.count(), skip_x, skip_y);
  Shape shape;
  for (int k = 0; k < axis; ++k) shape[shape.rank++] = data[k];
  for (int k = 0; k < at.rank; ++k) shape[shape.rank++] = at[k];
  for (int k = static_cast<int>(axis) + 1; k < data.rank; ++k) shape[shape.rank++] = data[k];
  const std::vector<T> host = some<T>(data.count() + skip_x);
  const OnDevice<T> device(host);
  const OnDevice<I> device_indices(indices);
  check_same<T>(
      shape.count(), skip_y,
      [&](Queue& q, T* y) {
        gpu::gather(q, Tensor<T>{y, shape}, Tensor<const T>{device.data() + skip_x, data}, Tensor<const I>{device_indices.data(), at},
                    {.axis = axis});
      },
      [&](T* y) {
        return scalar::gather(Tensor<T>{y, shape}, Tensor<const T>{host.data() + skip_x, data}, Tensor<const I>{indices.data(), at},
                              {.axis = axis});
      });
}

template <class T, class I>
void check_gather_nd(Shape data, Shape at, int64_t batch_axes, const std::vector<I>& indices) {
  CAPTURE(sizeof(T), sizeof(I), batch_axes, data.count(), at.count());
  const int width = static_cast<int>(at[at.rank - 1]);
  Shape shape;
  for (int k = 0; k + 1 < at.rank; ++k) shape[shape.rank++] = at[k];
  for (int k = static_cast<int>(batch_axes) + width; k < data.rank; ++k) shape[shape.rank++] = data[k];
  const std::vector<T> host = some<T>(data.count());
  const OnDevice<T> device(host);
  const OnDevice<I> device_indices(indices);
  check_same<T>(
      shape.count(), 0,
      [&](Queue& q, T* y) {
        gpu::gather_nd(q, Tensor<T>{y, shape}, Tensor<const T>{device.data(), data}, Tensor<const I>{device_indices.data(), at},
                       batch_axes);
      },
      [&](T* y) {
        return scalar::gather_nd(Tensor<T>{y, shape}, Tensor<const T>{host.data(), data}, Tensor<const I>{indices.data(), at}, batch_axes);
      });
}

template <class T, class I>
void check_gather_elements(Shape data, Shape at, int64_t axis, const std::vector<I>& indices) {
  CAPTURE(sizeof(T), sizeof(I), axis, data.count(), at.count());
  const std::vector<T> host = some<T>(data.count());
  const OnDevice<T> device(host);
  const OnDevice<I> device_indices(indices);
  check_same<T>(
      at.count(), 0,
      [&](Queue& q, T* y) {
        gpu::gather_elements(q, Tensor<T>{y, at}, Tensor<const T>{device.data(), data}, Tensor<const I>{device_indices.data(), at}, axis);
      },
      [&](T* y) {
        return scalar::gather_elements(Tensor<T>{y, at}, Tensor<const T>{host.data(), data}, Tensor<const I>{indices.data(), at}, axis);
      });
}

/// check(T{}, I{}) for elements of all sizes and both types of indices.
template <class Check>
void for_types(Check check) {
  const auto for_element = [&](auto element) {
    check(element, int64_t{});
    check(element, int32_t{});
  };
  for_element(int8_t{});
  for_element(int16_t{});
  for_element(float{});
  for_element(int64_t{});
  for_element(std::complex<double>{});
}

struct Gathered {
  Shape data, at;
  int64_t axis;
};
struct GatheredND {
  Shape data, at;
  int64_t batch_axes;
};

}  // namespace

TEST_CASE("gathered rows of all lengths") {
  for_types([]<class T, class I>(T, I) {
    for (const auto& [data, at, axis] :
         {Gathered{{9, 64}, {5}, 0}, Gathered{{9, 40}, {2, 3}, 0}, Gathered{{9, 7}, {11}, 0}, Gathered{{3, 9, 12}, {4}, 1},
          Gathered{{3, 9, 5}, {2, 2}, 1}, Gathered{{6, 10}, {7}, 1}, Gathered{{10}, {700}, 0}, Gathered{{10, 6}, {}, 0},
          Gathered{{2, 3, 8, 16}, {1}, 2}, Gathered{{40, 700}, {3}, 0}})
      check_gather<T, I>(data, at, axis, some_indices<I>(at.count(), data[static_cast<int>(axis)]));
  });
}

TEST_CASE("gathered rows that are not aligned") {
  for_types([]<class T, class I>(T, I) {
    for (const auto& [x, y] : {std::pair<int64_t, int64_t>{1, 0}, {0, 1}, {2, 2}, {4, 8}})
      check_gather<T, I>({9, 32}, {5}, 0, some_indices<I>(5, 9), x, y);
  });
}

TEST_CASE("gathers of nothing, and from nothing") {
  for_types([]<class T, class I>(T, I) {
    check_gather<T, I>({4, 8}, {0}, 0, {});
    check_gather<T, I>({0, 8}, {0}, 0, {});
    check_gather<T, I>({4, 0}, {2}, 0, {3, -4});
    check_gather<T, I>({0, 4, 8}, {2}, 1, {3, 0});
    check_gather<T, I>({0, 4, 8}, {2}, 1, {3, 4});  // all that there is to say is that an index is wrong
    check_gather<T, I>({4, 0}, {2}, 0, {0, -5});
    check_gather<T, I>({0, 8}, {1}, 0, {0});
  });
}

TEST_CASE("gathers by indices out of range") {
  for (const int64_t wrong : {int64_t{9}, int64_t{-10}, int64_t{1} << 40, std::numeric_limits<int64_t>::min()}) {
    std::vector<int64_t> indices = some_indices<int64_t>(50, 9);
    indices[33] = wrong;
    check_gather<float, int64_t>({9, 8}, {50}, 0, indices);
    check_gather<int8_t, int64_t>({2, 9, 5}, {50}, 1, indices);
    check_gather_nd<float, int64_t>({9, 3}, {50, 1}, 0, indices);
    check_gather_nd<float, int64_t>({50, 9, 9}, {50, 1}, 1, indices);
    check_gather_nd<float, int64_t>({9, 9}, {25, 2}, 0, indices);
    check_gather_elements<float, int64_t>({9, 10}, {5, 10}, 0, indices);
  }
  check_gather<float, int32_t>({9, 8}, {2}, 0, {8, 9});
}

TEST_CASE("gathered rows whose offsets leave 32 bits") {
  const std::vector<float> host = some<float>(3 * 12);
  const OnDevice<float> x(host);
  const int64_t far = int64_t{1} << 32;  // of such an x only the first rows are there
  const std::vector<int64_t> indices{2, 0, -far + 1};
  const OnDevice<int64_t> at(indices);
  check_same<float>(
      36, 0,
      [&](Queue& q, float* y) {
        gpu::gather(q, Tensor<float>{y, {3, 12}}, Tensor<const float>{x.data(), {far, 12}}, Tensor<const int64_t>{at.data(), {3}}, {});
      },
      [&](float* y) {
        return scalar::gather(Tensor<float>{y, {3, 12}}, Tensor<const float>{host.data(), {far, 12}},
                              Tensor<const int64_t>{indices.data(), {3}}, {});
      });
}

TEST_CASE("gathered slices by tuples of indices") {
  for_types([]<class T, class I>(T, I) {
    for (const auto& [data, at, batch_axes] :
         {GatheredND{{4, 5, 6}, {7, 2}, 0}, GatheredND{{4, 5, 32}, {7, 2}, 0}, GatheredND{{4, 5, 6}, {3, 2, 3}, 0},
          GatheredND{{4, 5, 6}, {4, 2, 1}, 1}, GatheredND{{4, 5, 16}, {4, 3, 1}, 1}, GatheredND{{4, 4, 4}, {4, 4, 2, 1}, 2},
          GatheredND{{5, 7}, {3, 0}, 0}, GatheredND{{4, 0}, {3, 1}, 0}, GatheredND{{4, 5}, {0, 1}, 0}, GatheredND{{4, 4, 4, 4}, {9, 4}, 0}})
      check_gather_nd<T, I>(data, at, batch_axes, some_indices<I>(at.count(), 4));
    check_gather_nd<T, I>({4, 0}, {3, 1}, 0, {0, 4, 1});
  });
}

TEST_CASE("gathered elements") {
  for_types([]<class T, class I>(T, I) {
    for (const auto& [data, at, axis] :
         {Gathered{{9}, {700}, 0}, Gathered{{9, 10}, {5, 10}, 0}, Gathered{{9, 10}, {5, 4}, 0}, Gathered{{9, 10}, {9, 13}, 1},
          Gathered{{9, 10}, {2, 13}, 1}, Gathered{{3, 4, 5, 6}, {3, 4, 2, 6}, 2}, Gathered{{3, 4, 5, 6}, {2, 4, 2, 6}, 2},
          Gathered{{3, 4, 5, 6}, {3, 4, 9, 5}, 2}, Gathered{{3, 4, 5, 6}, {3, 3, 5, 6}, 3}, Gathered{{3, 4, 5}, {3, 4, 0}, 2},
          Gathered{{3, 4}, {4, 3}, 0}, Gathered{{3, 0, 4}, {3, 1, 4}, 0}, Gathered{{1, 4, 4}, {4, 4, 4}, 0}, Gathered{{3, 4}, {3, 5}, 0}})
      check_gather_elements<T, I>(data, at, axis, some_indices<I>(at.count(), max_of(data[static_cast<int>(axis)], 1)));
  });
}
