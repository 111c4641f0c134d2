// Rows and elements that indices place, in the emulator: the bits and the codes of the reference kernels, whatever places meet.
#include <onnxc/gpu/scatter.hpp>
#include <onnxc/scalar/scatter.hpp>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::test;
using gpu::Queue;

namespace {

template <class T>
std::vector<T> some(int64_t count, int64_t from) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>((static_cast<int64_t>(i) * 37 + from) % 113);
  return v;
}

/// Indices of both signs in [-n, n), of which many are the same.
template <class I>
std::vector<I> some_indices(int64_t count, int64_t n) {
  std::vector<I> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i * i + i / 3) % n;
    v[i] = static_cast<I>(i % 4 == 1 ? index - n : index);
  }
  return v;
}

/// enqueue(queue, y, x, updates, owners) on the device says what compute(y, x, updates) says here, and if that is nothing gives the same:
/// into memory of its own, and in place. `skip`: elements before y and updates.
template <class T, class Enqueue, class Compute>
void check_same(Shape data, int64_t updates_count, int64_t skip, Enqueue enqueue, Compute compute) {
  const std::vector<T> x = some<T>(data.count() + skip, 1), updates = some<T>(updates_count + skip, 50);
  std::vector<T> expected = x;
  for (T& value : expected) value = T(77);
  expected.insert(expected.end(), 3, T(77));
  const std::vector<T> before = expected;
  const Status status = compute(expected.data() + skip, x.data() + skip, updates.data() + skip);
  const OnDevice<T> dx(x), dupdates(updates);
  const OnDevice<unsigned> owners(std::vector<unsigned>(static_cast<std::size_t>(max_of(data.count(), data[0])), 12345u));
  for_orders([&] {
    for (const bool in_place : {false, true}) {
      CAPTURE(in_place);
      std::vector<T> begin = before;
      if (in_place) std::copy(x.begin() + skip, x.end(), begin.begin() + skip);
      const OnDevice<T> y(begin);
      const OnDevice<unsigned> words(std::vector<unsigned>(2));
      Queue queue(nullptr, words.data());
      enqueue(queue, y.data() + skip, static_cast<const T*>(in_place ? y.data() : dx.data()) + skip,
              static_cast<const T*>(dupdates.data()) + skip, owners.data());
      REQUIRE(!queue.result());
      CHECK(words.host()[0] == static_cast<unsigned>(status.code));
      if (!status) CHECK(y.host() == expected);
    }
  });
}

template <class T, class I>
void check_nd(Shape data, Shape at, const std::vector<I>& indices, int64_t skip = 0) {
  CAPTURE(sizeof(T), sizeof(I), data.count(), at.count(), skip);
  const int width = static_cast<int>(at[at.rank - 1]);
  const int64_t tuples = at.count(0, at.rank - 1);
  Shape shape{tuples};
  for (int k = width; k < data.rank; ++k) shape[shape.rank++] = data[k];
  const OnDevice<I> device(indices);
  check_same<T>(
      data, shape.count(), skip,
      [&](Queue& q, T* y, const T* x, const T* updates, unsigned* owners) {
        gpu::scatter_nd(q, Tensor<T>{y, data}, Tensor<const T>{x, data}, Tensor<const I>{device.data(), at},
                        Tensor<const T>{updates, shape}, owners);
      },
      [&](T* y, const T* x, const T* updates) {
        return scalar::scatter_nd(Tensor<T>{y, data}, Tensor<const T>{x, data}, Tensor<const I>{indices.data(), at},
                                  Tensor<const T>{updates, shape}, Reduction::none);
      });
}

template <class T, class I>
void check_elements(Shape data, Shape at, int64_t axis, const std::vector<I>& indices) {
  CAPTURE(sizeof(T), sizeof(I), axis, data.count(), at.count());
  const OnDevice<I> device(indices);
  check_same<T>(
      data, at.count(), 0,
      [&](Queue& q, T* y, const T* x, const T* updates, unsigned* owners) {
        gpu::scatter_elements(q, Tensor<T>{y, data}, Tensor<const T>{x, data}, Tensor<const I>{device.data(), at},
                              Tensor<const T>{updates, at}, axis, owners);
      },
      [&](T* y, const T* x, const T* updates) {
        return scalar::scatter_elements(Tensor<T>{y, data}, Tensor<const T>{x, data}, Tensor<const I>{indices.data(), at},
                                        Tensor<const T>{updates, at}, axis, Reduction::none);
      });
}

/// check(T{}, I{}) for elements of several sizes and both types of indices.
template <class Check>
void for_types(Check check) {
  const auto for_element = [&](auto element) {
    check(element, int64_t{});
    check(element, int32_t{});
  };
  for_element(int8_t{});
  for_element(int16_t{});
  for_element(float{});
  for_element(double{});
}

struct Placed {
  Shape data, at;
  int64_t axis = 0;
};

}  // namespace

TEST_CASE("rows that are placed by tuples of indices") {
  for_types([]<class T, class I>(T, I) {
    for (const auto& [data, at, axis] :
         {Placed{{9, 64}, {5, 1}}, Placed{{9, 7}, {40, 1}}, Placed{{4, 4, 10}, {30, 2}}, Placed{{4, 4, 16}, {3, 2, 2}},
          Placed{{5}, {600, 1}}, Placed{{5, 7}, {3, 0}}, Placed{{4, 0}, {3, 1}}, Placed{{4, 5}, {0, 1}}, Placed{{4, 4, 4}, {50, 3}}})
      check_nd<T, I>(data, at, some_indices<I>(at.count(), 4));
    check_nd<T, I>({9, 32}, {5, 1}, some_indices<I>(5, 9), 1);
  });
}

TEST_CASE("elements that are placed") {
  for_types([]<class T, class I>(T, I) {
    for (const auto& [data, at, axis] :
         {Placed{{9}, {700}, 0}, Placed{{9, 10}, {20, 10}, 0}, Placed{{9, 10}, {5, 4}, 0}, Placed{{9, 10}, {9, 33}, 1},
          Placed{{3, 4, 5, 6}, {2, 4, 9, 5}, 2}, Placed{{3, 4, 5}, {3, 4, 0}, 2}, Placed{{3, 4}, {3, 5}, 0}})
      check_elements<T, I>(data, at, axis, some_indices<I>(at.count(), data[static_cast<int>(axis)]));
  });
}

TEST_CASE("updates of no place") {
  for (const int64_t wrong : {int64_t{9}, int64_t{-10}, int64_t{1} << 40, std::numeric_limits<int64_t>::min()}) {
    std::vector<int64_t> indices = some_indices<int64_t>(40, 9);
    indices[33] = wrong;
    check_nd<float, int64_t>({9, 3}, {40, 1}, indices);
    check_nd<float, int64_t>({9, 9}, {20, 2}, indices);
    check_nd<float, int64_t>({9, 0}, {40, 1}, indices);
    check_elements<float, int64_t>({9, 10}, {4, 10}, 0, indices);
  }
}
