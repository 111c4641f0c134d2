// Kernels that move or make values, in shares (shares.hpp).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <onnxc/map_scalar.hpp>
#include <onnxc/scalar/bit_cast.hpp>
#include <onnxc/scalar/byte_table.hpp>
#include <onnxc/scalar/fill.hpp>
#include <onnxc/scalar/gather.hpp>
#include <onnxc/scalar/gather_elements.hpp>
#include <onnxc/scalar/mel_weight_matrix.hpp>
#include <onnxc/scalar/ml/lookup.hpp>
#include <onnxc/scalar/one_hot.hpp>
#include <onnxc/scalar/pad.hpp>
#include <onnxc/scalar/random.hpp>
#include <onnxc/scalar/reverse_sequence.hpp>
#include <onnxc/scalar/scatter.hpp>
#include <onnxc/scalar/trilu.hpp>
#include <onnxc/strided_copy.hpp>

#include "shares.hpp"

using namespace onnxc;
using namespace onnxc::test;

TEST_CASE("gather in shares") {
  for_types<float, double, float16, bool, int8_t, int64_t, complex64>([]<class T>() {
    const auto check = [](const Shape& shape, int axis, const Shape& index_shape, int64_t bad, int32_t code) {
      const std::unique_ptr<T[]> x(new T[static_cast<size_t>(shape.count()) + 1]);  // a vector of bool has no data
      const std::vector<float> numbers = values<float>(shape.count());
      for (size_t k = 0; k < numbers.size(); ++k) {
        if constexpr (std::is_same_v<T, complex64>) x[k] = {numbers[k], -numbers[k]};
        else x[k] = fn::cast<T>(k % 3 == 0 ? 0.0f : numbers[k]);
      }
      std::vector<int32_t> indices = places<int32_t>(index_shape.count(), shape[axis]);
      if (bad >= 0) indices[static_cast<size_t>(bad)] = static_cast<int32_t>(shape[axis]);
      Shape out = shape;
      out[axis] = index_shape.count();
      CHECK(check_shares(out.count(), [&](Outputs& to, Share share) {
              return scalar::gather(to.tensor<T>(out), Tensor<const T>{x.get(), shape}, of(indices, index_shape), {.axis = axis}, share);
            }) == code);
    };
    check({3, 5, 4}, 0, {2, 3}, -1, ONNXC_OK);
    check({3, 5, 4}, 1, {7}, -1, ONNXC_OK);
    check({3, 5, 4}, 2, {1}, -1, ONNXC_OK);
    check({3, 5}, 1, {6}, -1, ONNXC_OK);
    check({3, 5}, 1, {6}, 4, ONNXC_INDEX_OUT_OF_RANGE);
    check({3, 5, 0}, 1, {6}, 5, ONNXC_INDEX_OUT_OF_RANGE);
    check({0, 5}, 1, {6}, 0, ONNXC_INDEX_OUT_OF_RANGE);
    check({3, 5}, 1, {0}, -1, ONNXC_OK);
  });
}

TEST_CASE("gather_elements and gather_nd in shares") {
  for_types<float, uint8_t, int64_t, double>([]<class T>() {
    for (int bad : {-1, 0, 11}) {
      const auto x = values<T>(4 * 5 * 3);
      auto indices = places<int64_t>(2 * 5 * 2, 4);
      if (bad >= 0) indices[static_cast<size_t>(bad)] = bad == 0 ? -5 : 4;
      const int32_t code = check_shares(20, [&](Outputs& to, Share share) {
        return scalar::gather_elements(to.tensor<T>({2, 5, 2}), of(x, {4, 5, 3}), of(indices, {2, 5, 2}), 0, share);
      });
      CHECK(code == (bad < 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
    }
    const auto x = values<T>(2 * 3 * 4 * 5);
    const auto wide = places<int64_t>(2 * 4, 3);
    CHECK(check_shares(8, [&](Outputs& to, Share share) {
            return scalar::gather_elements(to.tensor<T>({2, 4}), Tensor<const T>{x.data(), {2, 3}}, of(wide, {2, 4}), 0, share);
          }) == ONNXC_BAD_DIMENSION);
    for (int64_t batch_axes : {0, 1}) {
      for (int bad : {-1, 0, 7}) {
        auto indices = places<int32_t>(2 * 3 * 2, 2);
        if (bad >= 0) indices[static_cast<size_t>(bad)] = 9;
        const Shape out = batch_axes == 0 ? Shape{2, 3, 4, 5} : Shape{2, 3, 5};
        const int32_t code = check_shares(out.count(), [&](Outputs& to, Share share) {
          return scalar::gather_nd(to.tensor<T>(out), of(x, {2, 3, 4, 5}), of(indices, {2, 3, 2}), batch_axes, share);
        });
        CHECK(code == (bad < 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
        const std::vector<T> none;  // nothing to gather, but the indices are looked at
        CHECK(check_shares(6, [&](Outputs& to, Share share) {
                return scalar::gather_nd(to.tensor<T>({2, 3, 0}), of(none, {2, 3, 4, 0}), of(indices, {2, 3, 2}), batch_axes, share);
              }) == code);
      }
    }
  });
}

TEST_CASE("pad, one_hot, reverse_sequence and trilu in shares") {
  for_types<float, bfloat16, int16_t, int64_t>([]<class T>() {
    const auto x = values<T>(3 * 4 * 5);
    for (const PadMode mode : {PadMode::edge, PadMode::reflect, PadMode::wrap}) {
      CHECK(check_shares(5 * 3 * 9, [&](Outputs& to, Share share) {
              return scalar::pad(to.tensor<T>({5, 3, 9}), of(x, {3, 4, 5}), {1, -1, 3}, mode, share);
            }) == ONNXC_OK);
      CHECK(check_shares(6, [&](Outputs& to, Share share) {
              return scalar::pad(to.tensor<T>({6}), Tensor<const T>{x.data(), {0}}, {3}, mode, share);
            }) == ONNXC_BAD_DIMENSION);
    }
    const std::vector<T> off_on = values<T>(2);
    const auto indices = places<int64_t>(2 * 3, 6);  // some of them are nowhere
    for (int axis : {0, 1, 2}) {
      Shape out{2, 3, 3};
      for (int k = 0, from = 0; k < 3; ++k) out[k] = k == axis ? 4 : from++ == 0 ? 2 : 3;
      check_shares(out.count(), [&](Outputs& to, Share share) {
        scalar::one_hot(to.tensor<T>(out), of(indices, {2, 3}), of(off_on, {2}), axis, share);
      });
    }
    for (const auto& [time, batch] : {std::pair{0, 1}, std::pair{1, 0}, std::pair{2, 1}}) {
      const Shape shape{3, 4, 5};
      for (int bad : {-1, 1}) {
        std::vector<int64_t> lengths(static_cast<size_t>(shape[batch]));
        for (size_t b = 0; b < lengths.size(); ++b) lengths[b] = static_cast<int64_t>(b) % (shape[time] + 1);
        if (bad >= 0) lengths[static_cast<size_t>(bad)] = shape[time] + 1;
        const int32_t code = check_shares(60, [&](Outputs& to, Share share) {
          return scalar::reverse_sequence(to.tensor<T>(shape), of(x, shape), of(lengths, {shape[batch]}), time, batch, share);
        });
        CHECK(code == (bad < 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
      }
    }
    for (const bool upper : {false, true}) {
      for (const int64_t k : {-2, 0, 1}) {
        const std::vector<int64_t> diagonal{k};
        check_shares(60, [&](Outputs& to, Share share) {
          scalar::trilu(to.tensor<T>({3, 4, 5}), of(x, {3, 4, 5}), Tensor<const int64_t>{diagonal.data(), {}}, upper, share);
        });
      }
    }
  });
  const std::vector<int64_t> bad{-1};  // a batch of sequences without elements: its lengths are looked at
  CHECK(check_shares(3, [&](Outputs& to, Share share) {
          return scalar::reverse_sequence(to.tensor<float>({1, 2, 0}), Tensor<const float>{nullptr, {1, 2, 0}}, of(bad, {1}), 1, 0, share);
        }) == ONNXC_INDEX_OUT_OF_RANGE);
}

TEST_CASE("fills, bits and random numbers in shares") {
  for_numbers([]<class T>() {
    for (const int64_t k : {-1, 0, 2})
      check_shares(12, [&](Outputs& to, Share share) { scalar::eye_like(to.tensor<T>({3, 4}), k, share); });
    const std::vector<T> start = values<T>(1), delta = values<T>(1, 2);
    check_shares(11, [&](Outputs& to, Share share) {
      scalar::range(to.tensor<T>({11}), Tensor<const T>{start.data(), {}}, Tensor<const T>{delta.data(), {}}, share);
    });
  });
  for_floats([]<class T>() {
    check_shares(10, [&](Outputs& to, Share share) { scalar::random_uniform(to.tensor<T>({2, 5}), 3, -1.0, 2.0, share); });
    check_shares(10, [&](Outputs& to, Share share) { scalar::random_normal(to.tensor<T>({2, 5}), 3, 1.0, 2.0, share); });
    for (const bool bad : {false, true}) {
      auto x = values<T>(3 * 4, 1, 2);
      if (bad) x[6] = fn::cast<T>(std::numeric_limits<float>::quiet_NaN());
      const int32_t code = check_shares(
          3, [&](Outputs& to, Share share) { return scalar::multinomial(to.tensor<int32_t>({3, 5}), of(x, {3, 4}), 7, share); });
      CHECK(code == (bad ? ONNXC_INDEX_OUT_OF_RANGE : ONNXC_OK));
    }
    for (const int64_t rate : {64, 4}) {
      const int64_t length = 32;
      const float low = 0, high = 32;
      const int32_t code = check_shares(4, [&](Outputs& to, Share share) {
        return scalar::mel_weight_matrix(to.tensor<T>({17, 4}), &length, &rate, &low, &high, share);
      });
      CHECK(code == (rate == 64 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
    }
  });
  const auto x = values<float>(13);
  const auto bytes = values<uint8_t>(13, 1, 2);
  check_shares(13, [&](Outputs& to, Share share) { scalar::bit_cast(to.array<int32_t>(13), x.data(), 13, share); });
  check_shares(13, [&](Outputs& to, Share share) { scalar::bit_cast(to.array<bool>(13), bytes.data(), 13, share); });
}

TEST_CASE("scatter in shares") {
  for_types<float, float16, int8_t, int64_t>([]<class T>() {
    const Shape shape{3, 4, 5}, index_shape{2, 4, 3};
    const auto x = values<T>(60), updates = values<T>(24, 2);
    for (const Reduction reduction : {Reduction::none, Reduction::add, Reduction::mul, Reduction::max, Reduction::min}) {
      for (const int axis : {0, 1, 2}) {
        for (const int bad : {-1, 0, 23}) {
          auto indices = places<int64_t>(24, shape[axis]);
          if (bad >= 0) indices[static_cast<size_t>(bad)] = shape[axis];
          const int32_t code = check_shares(60 / shape[axis], [&](Outputs& to, Share share) {
            return scalar::scatter_elements(to.tensor<T>(shape), of(x, shape), of(indices, index_shape), of(updates, index_shape), axis,
                                            reduction, share);
          });
          CHECK(code == (bad < 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
        }
      }
      for (const int bad : {-1, 2}) {
        auto indices = places<int32_t>(4 * 2, 3);
        if (bad >= 0) indices[static_cast<size_t>(bad)] = 7;
        for (const int64_t slice : {5, 0}) {
          const int32_t code = check_shares(std::max<int64_t>(slice, 1), [&](Outputs& to, Share share) {
            return scalar::scatter_nd(to.tensor<T>({3, 4, slice}), Tensor<const T>{x.data(), {3, 4, slice}}, of(indices, {4, 2}),
                                      Tensor<const T>{updates.data(), {4, slice}}, reduction, share);
          });
          CHECK(code == (bad < 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
        }
      }
    }
    // In place: the same memory is x and y.
    const auto indices = places<int64_t>(24, 4);
    std::vector<T> whole = x, shared = x;
    const auto scatter = [&](std::vector<T>& y, Share share) {
      return scalar::scatter_elements(Tensor<T>{y.data(), shape}, of(y, shape), of(indices, index_shape), of(updates, index_shape), 1,
                                      Reduction::add, share);
    };
    CHECK(!scatter(whole, {}));
    for (int i = 0; i < 4; ++i) CHECK(!scatter(shared, {i, 4}));
    CHECK(std::memcmp(whole.data(), shared.data(), 60 * sizeof(T)) == 0);
    for (const bool circular : {false, true}) {
      for (const bool bad : {false, true}) {
        const std::vector<int64_t> first{bad ? -9 : 1, circular ? 3 : 0, 0};
        const int32_t code = check_shares(60, [&](Outputs& to, Share share) {
          return scalar::tensor_scatter(to.tensor<T>(shape), of(x, shape), Tensor<const T>{updates.data(), {3, 2, 4}}, of(first, {3}), 1,
                                        circular, share);
        });
        // Another shape of the updates: the axis is the last one.
        const int32_t last = check_shares(60, [&](Outputs& to, Share share) {
          return scalar::tensor_scatter(to.tensor<T>(shape), of(x, shape), Tensor<const T>{updates.data(), {3, 4, 2}}, of(first, {3}), 2,
                                        circular, share);
        });
        CHECK(code == (bad && !circular ? ONNXC_INDEX_OUT_OF_RANGE : ONNXC_OK));
        CHECK(last == code);
      }
    }
  });
}

namespace {

/// Keys in the order of their buckets, as the compiler lays them out.
template <class K>
struct Keys {
  std::vector<K> sorted;
  std::vector<int32_t> first;
  int64_t bits;

  explicit Keys(std::vector<K> keys) : sorted(std::move(keys)), bits(contract::hash_bits(static_cast<int64_t>(sorted.size()))) {
    const auto bucket = [&](K key) { return contract::bucket_of(scalar::hash_of_key(key), bits); };
    std::sort(sorted.begin(), sorted.end(), [&](K a, K b) { return std::pair(bucket(a), a) < std::pair(bucket(b), b); });
    for (uint64_t b = 0; b <= uint64_t{1} << bits; ++b)
      first.push_back(static_cast<int32_t>(std::count_if(sorted.begin(), sorted.end(), [&](K key) { return bucket(key) < b; })));
  }
  scalar::KeyTable<K> table() const { return {sorted.data(), first.data(), bits}; }
};

}  // namespace

TEST_CASE("look-ups in shares") {
  for_types<float, double, int16_t, int64_t>([]<class K>() {
    const Keys<K> keys({K(3), K(-7), K(100), K(5), K(0)});
    std::vector<K> x{K(5), K(4), K(100), K(-7), K(3), K(0), K(2)};
    if constexpr (std::is_floating_point_v<K>) x[1] = std::numeric_limits<K>::quiet_NaN();
    const std::vector<int64_t> codes{10, 11, 12, 13, 14}, otherwise{-1}, nan{99};
    for (const int64_t* const of_nan : {nan.data(), static_cast<const int64_t*>(nullptr)}) {
      check_shares(7, [&](Outputs& to, Share share) {
        scalar::label_encoder(to.array<int64_t>(7), of(x, {7}), keys.table(), codes.data(), otherwise.data(), of_nan, share);
      });
    }
    std::vector<int64_t> y(7);
    scalar::label_encoder(y.data(), of(x, {7}), keys.table(), codes.data(), otherwise.data(), nan.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const auto found = std::find(keys.sorted.begin(), keys.sorted.end(), x[i]);
      const int64_t none = x[i] != x[i] ? 99 : -1;
      CHECK(y[i] == (found == keys.sorted.end() ? none : codes[static_cast<size_t>(found - keys.sorted.begin())]));
    }
  });
  const Keys<int64_t> keys({3, -7, 100});
  const std::vector<int64_t> known{100, 3, 3, -7}, unknown{100, 4, 3, -7}, positions{1, 2, 0};
  const auto check = [&](const std::vector<int64_t>& x, bool zeros) {
    return check_shares(4, [&](Outputs& to, Share share) {
      return scalar::one_hot_encoder(to.array<float>(12), of(x, {4}), keys.table(), positions.data(), 3, zeros, share);
    });
  };
  CHECK(check(known, false) == ONNXC_OK);
  CHECK(check(unknown, true) == ONNXC_OK);
  CHECK(check(unknown, false) == ONNXC_BAD_VALUE);
}

TEST_CASE("tables of bytes in shares") {
  std::vector<uint8_t> x(300);
  std::vector<int8_t> table(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(7 * i);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int8_t>(11 * i + 3);
  check_shares(300, [&](Outputs& to, Share share) { scalar::byte_table(to.array<int8_t>(300), x.data(), table.data(), 300, share); });
  std::vector<int8_t> y(300);
  scalar::byte_table(y.data(), reinterpret_cast<const int8_t*>(x.data()), table.data(), 300);
  for (size_t i = 0; i < y.size(); ++i) CHECK(y[i] == table[x[i]]);
}

namespace {
struct AddMul {
  template <class L, class A, class B, class C>
  static ONNXC_INLINE auto apply(L, A a, B b, C c) {
    return fn::mul(fn::add(a, b), c);
  }
};
}  // namespace

TEST_CASE("maps and copies in shares") {
  for_types<float, float16, int32_t>([]<class T>() {
    const auto x = values<T>(3 * 4 * 70), z = values<T>(4, 2), w = values<T>(3 * 70, 3);
    for (const int64_t columns : {1, 5, 70}) {
      for (const int64_t shares : {int64_t{12}, 12 * columns}) {  // rows; elements
        check_shares(shares, [&](Outputs& to, Share share) {
          map_scalar<AddMul>(share, {3, 4, columns}, Stream{to.array<T>(12 * columns), {4 * columns, columns}},
                             Stream{x.data(), {4 * columns, columns}}, Fixed{z.data(), {0, 1}}, Strided{w.data(), 3, {1, 0}});
        });
      }
      check_shares(12 * columns, [&](Outputs& to, Share share) {  // the transposed
        strided_copy(share, {3, 4, columns}, to.array<T>(12 * columns), {4, 1, 12}, x.data(), {4 * columns, columns, 1});
      });
      check_shares(12 * columns, [&](Outputs& to, Share share) {
        strided_copy(share, {3, 4, columns}, to.array<T>(12 * columns), {4 * columns, columns, 1}, x.data(), {4 * columns, columns, 1});
      });
    }
    check_shares(1, [&](Outputs& to, Share share) {
      map_scalar<AddMul>(share, {}, Stream{to.array<T>(1)}, Stream{x.data()}, Fixed{z.data()}, Strided{w.data(), 3});
    });
    check_shares(70, [&](Outputs& to, Share share) { strided_copy(share, {70}, to.array<T>(70), {1}, x.data() + 69, {-1}); });
  });
}
