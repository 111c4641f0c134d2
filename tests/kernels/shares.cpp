// Kernels that can be divided give the same bits in any number of shares as in one: that is how threads of a GPU run
// them. Of what they write, each byte is written by one share alone.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <onnxc/map_scalar.hpp>
#include <onnxc/scalar/affine_grid.hpp>
#include <onnxc/scalar/arg_max.hpp>
#include <onnxc/scalar/bit_cast.hpp>
#include <onnxc/scalar/byte_table.hpp>
#include <onnxc/scalar/col2im.hpp>
#include <onnxc/scalar/conv.hpp>
#include <onnxc/scalar/cumulative.hpp>
#include <onnxc/scalar/deform_conv.hpp>
#include <onnxc/scalar/det.hpp>
#include <onnxc/scalar/dft.hpp>
#include <onnxc/scalar/distances.hpp>
#include <onnxc/scalar/einsum.hpp>
#include <onnxc/scalar/fill.hpp>
#include <onnxc/scalar/gather.hpp>
#include <onnxc/scalar/gather_elements.hpp>
#include <onnxc/scalar/grid_sample.hpp>
#include <onnxc/scalar/inverse.hpp>
#include <onnxc/scalar/linear_attention.hpp>
#include <onnxc/scalar/lrn.hpp>
#include <onnxc/scalar/matmul.hpp>
#include <onnxc/scalar/mel_weight_matrix.hpp>
#include <onnxc/scalar/ml/lookup.hpp>
#include <onnxc/scalar/ml/normalizer.hpp>
#include <onnxc/scalar/ml/scores.hpp>
#include <onnxc/scalar/ml/svm.hpp>
#include <onnxc/scalar/one_hot.hpp>
#include <onnxc/scalar/pad.hpp>
#include <onnxc/scalar/random.hpp>
#include <onnxc/scalar/resize.hpp>
#include <onnxc/scalar/reverse_sequence.hpp>
#include <onnxc/scalar/roi.hpp>
#include <onnxc/scalar/scatter.hpp>
#include <onnxc/scalar/tf_idf.hpp>
#include <onnxc/scalar/top_k.hpp>
#include <onnxc/scalar/trilu.hpp>
#include <onnxc/strided_copy.hpp>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// What kernels write: arrays of any types, one behind the other.
class Outputs {
 public:
  explicit Outputs(unsigned char fill) : fill_(fill) {}
  /// The next array. A kernel asks for the same ones in each run.
  template <class T>
  T* array(int64_t count) {
    if (next_ == arrays_.size()) arrays_.emplace_back(static_cast<size_t>(count) * sizeof(T), fill_);
    return reinterpret_cast<T*>(arrays_[next_++].data());
  }
  template <class T>
  Tensor<T> tensor(const Shape& shape) {
    return {array<T>(shape.count()), shape};
  }
  void rewind() { next_ = 0; }
  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all;
    for (const auto& a : arrays_) all.insert(all.end(), a.begin(), a.end());
    return all;
  }

 private:
  unsigned char fill_;
  size_t next_ = 0;
  std::vector<std::vector<unsigned char>> arrays_;
};

template <class Call>
int32_t run(Call& call, Outputs& to, Share share) {
  to.rewind();
  if constexpr (std::is_void_v<decltype(call(to, share))>) {
    call(to, share);
    return ONNXC_OK;
  } else {
    return call(to, share).code;
  }
}

/// call(outputs, share) in shares is the whole, for `count` elements or lines that can be told apart. Returns the code
/// of the whole.
template <class Call>
int32_t check_shares(int64_t count, Call call) {
  Outputs expected(0x5a);
  const int32_t code = run(call, expected, Share{});
  for (const int64_t shares : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, count, count + 5}) {
    if (shares < 1) continue;
    const int n = static_cast<int>(shares);
    CAPTURE(n);
    Outputs together(0x5a);
    int32_t found = ONNXC_OK;
    for (int i = 0; i < n; ++i) {
      const int32_t one = run(call, together, Share{n - 1 - i, n});  // in no particular order
      if (one != ONNXC_OK) {
        CHECK(one == code);
        found = one;
      }
    }
    CHECK(found == code);
    if (code != ONNXC_OK) continue;
    const std::vector<unsigned char> whole = expected.bytes();
    CHECK((together.bytes() == whole));
    // A byte that does not depend on what was there is one that the share has written.
    std::vector<int> writers(whole.size());
    for (int i = 0; i < n; ++i) {
      Outputs one(0x5a), other(0xa5);
      run(call, one, Share{i, n});
      run(call, other, Share{i, n});
      const std::vector<unsigned char> a = one.bytes(), b = other.bytes();
      for (size_t k = 0; k < whole.size(); ++k) writers[k] += a[k] == b[k];
    }
    CHECK(std::all_of(writers.begin(), writers.end(), [](int w) { return w == 1; }));
  }
  return code;
}

template <class T>
std::vector<T> values(int64_t n, uint32_t seed = 1, float scale = 8) {
  std::vector<T> v;
  for (float x : numbers(n, seed)) v.push_back(fn::cast<T>(x * scale));
  return v;
}
/// Indices in [-extent, extent).
template <class I>
std::vector<I> places(int64_t n, int64_t extent, uint32_t seed = 5) {
  std::vector<I> v;
  for (float x : numbers(n, seed)) v.push_back(static_cast<I>(std::floor(x * static_cast<float>(extent))));
  return v;
}
template <class T>
Tensor<const T> of(const std::vector<T>& v, const Shape& shape) {
  REQUIRE(static_cast<int64_t>(v.size()) == shape.count());
  return {v.data(), shape};
}
template <class... T, class F>
void for_types(F f) {
  (f.template operator()<T>(), ...);
}
template <class F>
void for_numbers(F f) {
  for_types<float, double, float16, bfloat16, int8_t, uint8_t, int32_t, int64_t, uint64_t>(f);
}
template <class F>
void for_floats(F f) {
  for_types<float, double, float16, bfloat16>(f);
}

}  // namespace

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

TEST_CASE("products in shares") {
  for_numbers([]<class T>() {
    const auto a = values<T>(2 * 3 * 4 * 5), b = values<T>(3 * 5 * 6, 2);
    const scalar::MatMulParams p{.m = 4, .n = 6, .k = 5, .batch = {2, 3}, .a_strides = {60, 20}, .b_strides = {0, 30}};
    check_shares(2 * 3 * 4 * 6, [&](Outputs& to, Share share) { scalar::matmul(to.array<T>(144), a.data(), b.data(), p, share); });
    for (int columns : {1, 5}) {  // of a vector, with and without b
      check_shares(4 * columns, [&](Outputs& to, Share share) {
        scalar::einsum(to.array<T>(4 * columns), 2, {columns, 4, 5}, a.data(), {0, 5, 1}, b.data(), {1, 0, 6}, share);
      });
    }
    check_shares(
        12, [&](Outputs& to, Share share) { scalar::einsum(to.array<T>(12), 2, {3, 4, 5}, a.data(), {20, 1, 4}, nullptr, {}, share); });
    check_shares(1, [&](Outputs& to, Share share) { scalar::einsum(to.array<T>(1), 0, {3, 4}, a.data(), {4, 1}, nullptr, {}, share); });
  });
  const auto a = values<uint8_t>(3 * 4, 1, 100);
  const auto b = values<int8_t>(4 * 5, 2, 100);
  const std::vector<int32_t> start{1, 2, 3, 4, 5};
  const uint8_t a_zero = 100;
  const scalar::MatMulParams p{.m = 3, .n = 5, .k = 4, .batch = {}, .a_strides = {}, .b_strides = {}};
  check_shares(15, [&](Outputs& to, Share share) {
    scalar::centred_matmul(to.array<int32_t>(15), a.data(), reinterpret_cast<const uint8_t*>(b.data()), &a_zero,
                           static_cast<const uint8_t*>(nullptr), p, share);
  });
  check_shares(15, [&](Outputs& to, Share share) { scalar::matmul(to.array<int32_t>(15), a.data(), b.data(), p, start.data(), share); });
}

TEST_CASE("convolutions in shares") {
  for_numbers([]<class T>() {
    const auto x = values<T>(2 * 4 * 7 * 5), w = values<T>(6 * 2 * 3 * 2, 2), bias = values<T>(6, 3);
    const scalar::ConvParams p{.strides = {2, 1}, .dilations = {1, 2}, .pads = {1, 0}, .group = 2};
    check_shares(2 * 6 * 4 * 3, [&](Outputs& to, Share share) {
      scalar::conv(to.tensor<T>({2, 6, 4, 3}), of(x, {2, 4, 7, 5}), of(w, {6, 2, 3, 2}), bias.data(), p, share);
    });
    check_shares(2 * 3 * 33, [&](Outputs& to, Share share) {
      scalar::conv(to.tensor<T>({2, 3, 33}), of(x, {2, 4, 35}), Tensor<const T>{w.data(), {3, 4, 3}}, static_cast<const T*>(nullptr),
                   {.strides = {1}, .dilations = {1}, .pads = {0}, .outside = 3}, share);
    });
    check_shares(2 * 3 * 2 * 2 * 2, [&](Outputs& to, Share share) {
      scalar::conv(to.tensor<T>({2, 3, 2, 2, 2}), Tensor<const T>{x.data(), {2, 2, 3, 3, 3}}, Tensor<const T>{w.data(), {3, 2, 2, 2, 2}},
                   bias.data(), {.strides = {1, 1, 1}, .dilations = {1, 1, 1}, .pads = {0, 0, 0}}, share);
    });
    // Blocks of 2 x 3 at 3 x 4 places of an image of 5 x 7.
    const auto columns = values<T>(2 * 2 * 6 * 12);
    check_shares(2 * 2, [&](Outputs& to, Share share) {
      scalar::col2im(to.tensor<T>({2, 2, 5, 7}), columns.data(),
                     {.block = {2, 3}, .columns = {3, 4}, .strides = {1, 2}, .dilations = {2, 1}, .pads = {0, 1}}, share);
    });
  });
  for_floats([]<class T>() {
    const auto x = values<T>(2 * 4 * 5 * 6), w = values<T>(4 * 2 * 2 * 3, 2), bias = values<T>(4, 3);
    const auto offset = values<T>(2 * 2 * 6 * 2 * 4 * 4, 4, 2), mask = values<T>(2 * 2 * 6 * 4 * 4, 5, 1);
    for (const bool masked : {false, true}) {
      check_shares(2 * 16, [&](Outputs& to, Share share) {
        std::vector<double> work(4 * 6);
        scalar::deform_conv(to.tensor<T>({2, 4, 4, 4}), of(x, {2, 4, 5, 6}), of(w, {4, 2, 2, 3}), offset.data(), bias.data(),
                            masked ? mask.data() : nullptr, work.data(),
                            {.strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0}, .group = 2, .offset_group = 2}, share);
      });
    }
  });
}

TEST_CASE("samples of images in shares") {
  for_floats([]<class T>() {
    const auto x = values<T>(2 * 3 * 5 * 6), grid = values<T>(2 * 3 * 4 * 2, 2, 1.5f);
    for (const GridMode mode : {GridMode::nearest, GridMode::linear, GridMode::cubic}) {
      for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
        check_shares(2 * 12, [&](Outputs& to, Share share) {
          scalar::grid_sample(to.tensor<T>({2, 3, 3, 4}), of(x, {2, 3, 5, 6}), of(grid, {2, 3, 4, 2}), {.mode = mode, .padding = padding},
                              share);
        });
      }
    }
    const auto theta = values<T>(2 * 12, 3);
    for (const bool corners : {false, true}) {
      check_shares(2 * 12,
                   [&](Outputs& to, Share share) { scalar::affine_grid(to.tensor<T>({2, 3, 4, 2}), theta.data(), corners, share); });
      check_shares(2 * 6,
                   [&](Outputs& to, Share share) { scalar::affine_grid(to.tensor<T>({2, 1, 2, 3, 3}), theta.data(), corners, share); });
    }
  });
  for_types<float, double>([]<class T>() {
    const auto x = values<T>(2 * 3 * 8 * 9);
    std::vector<T> rois{0, 0, 5, 6, 1, 2, 8, 7, 3, 3, 4, 4};
    for (const bool maximum : {false, true}) {
      for (int64_t bad : {0, 2}) {
        const std::vector<int64_t> batch{0, bad, 1};
        const int32_t code = check_shares(3 * 3 * 4, [&](Outputs& to, Share share) {
          return scalar::roi_align(to.tensor<T>({3, 3, 2, 2}), of(x, {2, 3, 8, 9}), of(rois, {3, 4}), batch.data(), {.maximum = maximum},
                                   share);
        });
        CHECK(code == (bad == 0 ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
        CHECK(check_shares(3, [&](Outputs& to, Share share) {  // no results, but the regions are looked at
                return scalar::roi_align(to.tensor<T>({3, 0, 2, 2}), Tensor<const T>{x.data(), {2, 0, 8, 9}}, of(rois, {3, 4}),
                                         batch.data(), {.maximum = maximum}, share);
              }) == code);
      }
    }
    for (T bad : {T(1), T(2)}) {
      const std::vector<T> regions{0, 0, 0, 5, 6, bad, 1, 2, 8, 7, 1, 3, 3, 4, 4};
      const int32_t code = check_shares(3 * 3 * 6, [&](Outputs& to, Share share) {
        return scalar::max_roi_pool(to.tensor<T>({3, 3, 2, 3}), of(x, {2, 3, 8, 9}), of(regions, {3, 5}), 1.0, share);
      });
      CHECK(code == (bad == T(1) ? ONNXC_OK : ONNXC_INDEX_OUT_OF_RANGE));
    }
    for (const bool last : {false, true}) {  // channels first, channels last
      const scalar::WindowParams p =
          last ? scalar::WindowParams{12, 7, 1, 7, 1, 1, 7, 1, 1, 1, 2} : scalar::WindowParams{2, 7, 6, 42, 6, 1, 42, 6, 1, 1, 2};
      check_shares(84, [&](Outputs& to, Share share) { scalar::window_squares(share, to.array<T>(84), x.data(), p); });
    }
    for (const Filter filter : {Filter::floor, Filter::linear, Filter::cubic}) {
      const int64_t taps = resize_taps(filter, true, 0.5);
      check_shares(5, [&](Outputs& to, Share share) {
        int32_t* const index = to.array<int32_t>(5 * taps);
        T* const weight = taps > 1 ? to.array<T>(5 * taps) : nullptr;
        resize_table<T>({.in = 10, .out = 5, .taps = taps, .filter = filter, .antialias = true}, index, weight, share);
      });
    }
  });
}

TEST_CASE("lines in shares") {
  for_numbers([]<class T>() {
    const auto x = values<T>(3 * 5 * 4, 1, 3);  // with equal elements
    for (const bool flag : {false, true}) {
      for (const bool other : {false, true}) {
        const scalar::ArgParams p{.outer = 3, .n = 5, .inner = 4, .least = flag, .last = other};
        check_shares(12, [&](Outputs& to, Share share) { return scalar::arg_max(to.array<int64_t>(12), x.data(), p, share); });
        for (const int32_t axis : {0, 1, -1}) {
          const std::vector<int32_t> number{axis};
          const Tensor<const int32_t> which{number.data(), {}};
          const int64_t lines = 60 / std::array<int64_t, 3>{3, 5, 4}[static_cast<size_t>((axis + 3) % 3)];
          check_shares(lines, [&](Outputs& to, Share share) {
            return scalar::cum_sum(to.tensor<T>({3, 5, 4}), of(x, {3, 5, 4}), which, {.exclusive = flag, .reverse = other}, share);
          });
          check_shares(lines, [&](Outputs& to, Share share) {
            return scalar::cum_prod(to.tensor<T>({3, 5, 4}), of(x, {3, 5, 4}), which, {.exclusive = flag, .reverse = other}, share);
          });
        }
      }
      for (int64_t axis : {0, 1, 2}) {
        Shape out{3, 5, 4};
        out[static_cast<int>(axis)] = 2;
        check_shares(out.count() / 2, [&](Outputs& to, Share share) {
          const Tensor<T> best = to.tensor<T>(out);
          return scalar::top_k(best, to.tensor<int64_t>(out), of(x, {3, 5, 4}), axis, flag, share);
        });
      }
    }
    check_shares(12,
                 [&](Outputs& to, Share share) { scalar::hardmax(to.array<T>(60), x.data(), {.outer = 3, .n = 5, .inner = 4}, share); });
    CHECK(check_shares(12, [&](Outputs& to, Share share) {
            return scalar::arg_max(to.array<int64_t>(12), x.data(), {.outer = 3, .n = 0, .inner = 4}, share);
          }) == ONNXC_BAD_DIMENSION);
    const std::vector<int64_t> far{3};
    CHECK(check_shares(12, [&](Outputs& to, Share share) {
            return scalar::cum_sum(to.tensor<T>({3, 5, 4}), of(x, {3, 5, 4}), Tensor<const int64_t>{far.data(), {}}, {}, share);
          }) == ONNXC_INDEX_OUT_OF_RANGE);
    CHECK(check_shares(12, [&](Outputs& to, Share share) {
            const Tensor<T> best = to.tensor<T>({3, 6, 4});
            return scalar::top_k(best, to.tensor<int64_t>({3, 6, 4}), of(x, {3, 5, 4}), 1, true, share);
          }) == ONNXC_INDEX_OUT_OF_RANGE);
  });
}

TEST_CASE("matrices, transforms and states in shares") {
  for_floats([]<class T>() {
    const auto x = values<T>(5 * 9);
    check_shares(5, [&](Outputs& to, Share share) {
      std::vector<double> scratch(9);
      scalar::det(to.array<T>(5), x.data(), scratch.data(), 5, 3, share);
    });
    check_shares(5, [&](Outputs& to, Share share) {
      std::vector<double> scratch(18);
      scalar::inverse(to.array<T>(45), x.data(), scratch.data(), 5, 3, share);
    });
  });
  for_types<float, double>([]<class T>() {
    for (const int64_t n : {1, 6, 7, 223}) {  // 223 is a prime that goes by Bluestein's transform
      for (const int64_t parts : {1, 2}) {
        const auto x = values<T>(2 * n * 3 * parts);
        const std::vector<int64_t> axis{1};
        check_shares(6, [&](Outputs& to, Share share) {
          std::vector<double> work(static_cast<size_t>(scalar::fft_numbers(n)));
          return scalar::dft(to.tensor<T>({2, n, 3, 2}), of(x, {2, n, 3, parts}), Tensor<const int64_t>{axis.data(), {}}, work.data(),
                             {.chirp = true}, share);
        });
      }
    }
    const auto x = values<T>(2 * 20), window = values<T>(6, 2);
    check_shares(2 * 5, [&](Outputs& to, Share share) {
      std::vector<double> work(36);
      scalar::stft(to.tensor<T>({2, 5, 4, 2}), of(x, {2, 20}), window.data(), work.data(), 6, 3, false, share);
    });
    const std::vector<int64_t> bad{3};
    CHECK(check_shares(6, [&](Outputs& to, Share share) {
            std::vector<double> work(12);
            return scalar::dft(to.tensor<T>({2, 20, 2}), of(x, {2, 20, 1}), Tensor<const int64_t>{bad.data(), {}}, work.data(), {}, share);
          }) == ONNXC_INDEX_OUT_OF_RANGE);
  });
  for_types<float, float16>([]<class T>() {
    const auto q = values<T>(2 * 3 * 4 * 2, 1, 1), k = values<T>(2 * 3 * 2 * 2, 2, 1), v = values<T>(2 * 3 * 2 * 5, 3, 1);
    const auto past = values<float>(2 * 2 * 2 * 5, 4), decay = values<float>(2 * 3 * 2, 5);
    std::vector<T> rate(decay.size());
    for (size_t i = 0; i < rate.size(); ++i) rate[i] = fn::cast<T>(-std::fabs(decay[i]));
    check_shares(2 * 2, [&](Outputs& to, Share share) {
      std::vector<float> work(3 * 5);
      const Tensor<T> y = to.tensor<T>({2, 3, 4 * 5});
      scalar::linear_attention(y, to.tensor<float>({2, 2, 2, 5}), of(q, {2, 3, 8}), of(k, {2, 3, 4}), of(v, {2, 3, 10}),
                               of(past, {2, 2, 2, 5}), of(rate, {2, 3, 2}), of(rate, {2, 3, 2}), work.data(),
                               {.q_heads = 4, .k_heads = 2, .kv_heads = 2, .scale = 0.5}, share);
    });
  });
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

TEST_CASE("rows of classical models in shares") {
  const auto x = values<float>(5 * 3, 1, 2);
  const Tensor<const float> rows = of(x, {5, 3}), column{x.data(), {5, 1}};
  for (const scalar::PostTransform post : {scalar::PostTransform::none, scalar::PostTransform::softmax, scalar::PostTransform::logistic,
                                           scalar::PostTransform::softmax_zero, scalar::PostTransform::probit}) {
    check_shares(5, [&](Outputs& to, Share share) { scalar::transform_rows(to.tensor<float>({5, 3}), rows, {post}, share); });
    check_shares(5, [&](Outputs& to, Share share) {
      const Tensor<float> y = to.tensor<float>({5, 3});
      scalar::class_scores(y, to.array<int64_t>(5), rows, {post}, share);
    });
    check_shares(5, [&](Outputs& to, Share share) {
      const Tensor<float> y = to.tensor<float>({5, 2});
      scalar::class_scores(y, to.array<int64_t>(5), column, {post}, share);
    });
  }
  check_shares(5, [&](Outputs& to, Share share) { scalar::best_class(to.array<int64_t>(5), rows, share); });
  check_shares(5, [&](Outputs& to, Share share) { scalar::normalizer(to.array<float>(15), x.data(), 5, 3, share); });
  const auto vectors = values<float>(4 * 3, 2, 1), coefficients = values<float>(2 * 4 * 3, 3, 1), rho = values<float>(3, 4, 1);
  for (const scalar::SvmKernel kernel : {scalar::SvmKernel::linear, scalar::SvmKernel::rbf, scalar::SvmKernel::sigmoid}) {
    const scalar::Svm svm{kernel, 0.5f, 0.1f, 2, vectors.data(), 4, coefficients.data(), rho.data()};
    for (const bool one_class : {false, true})
      check_shares(5, [&](Outputs& to, Share share) { scalar::svm_regressor(to.tensor<float>({5, 1}), rows, svm, one_class, share); });
    const std::vector<int64_t> vectors_of{1, 2, 1};
    check_shares(5, [&](Outputs& to, Share share) {
      std::vector<float> room(4 + 4 * 9 + 4 * 3);
      const Tensor<float> y = to.tensor<float>({5, 3});
      scalar::svm_classifier(y, to.array<int64_t>(5), rows, svm, {.classes = 3, .vectors_of = vectors_of.data()}, room.data(), share);
    });
  }
  for (const scalar::Metric metric :
       {scalar::Metric::sqeuclidean, scalar::Metric::euclidean, scalar::Metric::cityblock, scalar::Metric::chebyshev})
    check_shares(20,
                 [&](Outputs& to, Share share) { scalar::distances(to.tensor<float>({5, 4}), rows, of(vectors, {4, 3}), metric, share); });
  // The items 0, 1, 2 and the pair (1, 2).
  const std::vector<int64_t> keys{-1, 0, 1, 2, 2}, begin{1, 4, 4, 5, 5, 5}, columns{-1, 0, 1, 2, 3},
      text{0, 1, 2, 2, 1, 1, 2, 1, 2, 0, 0, 0};
  for (const bool counts : {false, true}) {
    check_shares(3, [&](Outputs& to, Share share) {
      scalar::tf_idf(to.tensor<float>({3, 4}), of(text, {3, 4}), {.keys = keys.data(), .begin = begin.data(), .column = columns.data()},
                     static_cast<const float*>(nullptr), {.least = 1, .most = 2, .skips = 1, .counts = counts}, share);
    });
  }
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
