// Elementwise maps against a loop: sizes around the vector width, broadcasting, bools, integers, threads, guard
// values around the output.
#include <onnxc/map.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

struct Less {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L, X0 x0, X1 x1) {
    return fn::less(x0, x1);
  }
};
struct Where {
  template <class L, class C, class X0, class X1>
  static ONNXC_INLINE auto apply(L, C c, X0 x0, X1 x1) {
    return fn::where(c, x0, x1);
  }
};
struct Scale {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L lanes, X0 x0) {
    return fn::mul(x0, lanes(fn::cast<X0>(3)));
  }
};
/// x0 - x1 * (x0 + 5)
struct LessProducts {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::sub(x0, fn::mul(x1, fn::add(x0, lanes(5))));
  }
};
struct Constants {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L lanes, X0 x0) {
    return fn::where(fn::less(x0, lanes(0.0f)), lanes(1.0f), lanes(2.0f));
  }
};

const int64_t kLengths[] = {1, kPartLanes, Vec::width, Vec::width + 1, 2 * Vec::width + 3, 1000};

/// To T and back to the type of y.
template <class T, class Y>
struct Through {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L lanes, X0 x0) {
    return fn::cast<Y>(fn::mul(fn::cast<float>(fn::cast<T>(x0)), lanes(0.5f)));
  }
};
template <class T>
struct Convert {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L, X0 x0) {
    return fn::cast<T>(x0);
  }
};

/// y = Expr(x) for all lengths, on vectors as on single values, to the bit.
template <class Expr, class Y, class X>
void check_as_scalar(const std::vector<X>& values) {
  for (int64_t n : kLengths) {
    std::vector<X> x(size_t(n) + 1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = values[i % values.size()];
    std::vector<Y> y(size_t(n) + 2, Y(77)), expected = y, repeated = y;
    map<Expr>({0, 1}, {n}, Stream{y.data() + 1}, Stream{x.data() + 1});
    map_scalar<Expr>({0, 1}, {n}, Stream{expected.data() + 1}, Stream{x.data() + 1});
    CHECK(std::memcmp(y.data(), expected.data(), y.size() * sizeof(Y)) == 0);
    map<Expr>({0, 1}, {n}, Stream{repeated.data() + 1}, Fixed{x.data()});
    for (int64_t i = 0; i < n; ++i) REQUIRE(std::memcmp(&repeated[size_t(i) + 1], &repeated[1], sizeof(Y)) == 0);
    CHECK(repeated[1] == Expr::apply(Scalar{}, x[0]));
  }
}

template <class T>
void check_integers() {
  std::vector<T> integers;
  for (int64_t i = 0; i < 300; ++i) integers.push_back(static_cast<T>(i * 2654435761));
  integers.insert(integers.end(), {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0)});
  std::vector<float> floats{0.0f,  -0.0f, 0.5f,   -0.5f,         0.99f,         -0.99f,         1.0f,     -1.0f,     1e-42f, 3e9f,
                            -3e9f, 1e38f, -1e38f, 2147483520.0f, 2147483648.0f, -2147483648.0f, INFINITY, -INFINITY, NAN,    -NAN};
  for (int i = 0; i < 200; ++i) floats.push_back((float(i * 7919 % 2001) - 1000.0f) * 0.37f);
  for (double at : {double(std::numeric_limits<T>::min()), double(std::numeric_limits<T>::max())}) {
    for (double by : {-1.0, -0.6, -0.4, 0.0, 0.4, 0.6, 1.0}) floats.push_back(float(at + by));
  }
  check_as_scalar<Convert<float>, float>(integers);
  check_as_scalar<Convert<T>, T>(floats);
  check_as_scalar<Through<uint8_t, float>, float>(integers);
  check_as_scalar<Through<T, int8_t>, int8_t>(floats);
  check_as_scalar<Convert<uint8_t>, uint8_t>(integers);
  check_as_scalar<Convert<int16_t>, int16_t>(integers);
}

}  // namespace

TEST_CASE("map broadcasts rows and values and writes only its rows") {
  for (int64_t n : kLengths) {
    for (int threads : {1, 3, 7}) {
      const int64_t rows = 3, pitch = n + 5;
      std::vector<float> x(size_t(rows * pitch) + 1), bias(size_t(n), 0.0f), row_value(rows), y(size_t(rows * pitch) + 1, -77.0f), z = y;
      for (size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 37 % 23)) - 11.0f;
      for (size_t i = 0; i < bias.size(); ++i) bias[i] = float(i % 5) - 2.0f;
      for (int64_t r = 0; r < rows; ++r) row_value[size_t(r)] = float(r);
      for (int p = 0; p < threads; ++p) {
        map<AddRelu>({p, threads}, {rows, n}, Stream{y.data() + 1, {pitch}}, Stream{x.data() + 1, {pitch}}, Stream{bias.data(), {0}});
        map<AddRelu>({p, threads}, {rows, n}, Stream{z.data() + 1, {pitch}}, Stream{x.data() + 1, {pitch}}, Fixed{row_value.data(), {1}});
      }
      CHECK(y[0] == -77.0f);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < pitch; ++i) {
          const size_t at = size_t(r * pitch + i) + 1;
          CHECK(y[at] == (i < n ? std::fmax(x[at] + bias[size_t(i)], 0.0f) : -77.0f));
          CHECK(z[at] == (i < n ? std::fmax(x[at] + float(r), 0.0f) : -77.0f));
        }
      }
    }
  }
}

TEST_CASE("map reads and writes bools as masks") {
  for (int64_t n : kLengths) {
    std::vector<float> a(static_cast<size_t>(n)), b(a.size()), y(a.size() + 1, -77.0f);
    std::vector<uint8_t> less(a.size() + 1, 7);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = float(i % 7);
      b[i] = float(i % 5);
    }
    auto* flags = reinterpret_cast<bool*>(less.data());
    map<Less>({}, {n}, Stream{flags}, Stream{a.data()}, Stream{b.data()});
    map<Where>({}, {n}, Stream{y.data()}, Stream{flags}, Stream{a.data()}, Stream{b.data()});
    for (size_t i = 0; i < a.size(); ++i) {
      CHECK(less[i] == (a[i] < b[i] ? 1 : 0));
      CHECK(y[i] == std::fmin(a[i], b[i]));
    }
    CHECK(less[a.size()] == 7);
    CHECK(y[a.size()] == -77.0f);
    const bool yes = true;
    map<Where>({}, {n}, Stream{y.data()}, Fixed{&yes}, Stream{a.data()}, Stream{b.data()});
    CHECK(y == [&] {
      auto all = a;
      all.push_back(-77.0f);
      return all;
    }());
    map<Constants>({}, {n}, Stream{y.data()}, Stream{a.data()});
    CHECK(y[0] == 2.0f);
  }
}

TEST_CASE("map casts integers on vectors as on single values") {
  check_integers<uint8_t>();
  check_integers<int8_t>();
  check_integers<uint16_t>();
  check_integers<int16_t>();
  check_integers<int32_t>();
}

TEST_CASE("map adds, subtracts and multiplies i32 on vectors, which wrap") {
  for (int64_t n : kLengths) {
    std::vector<int32_t> a(static_cast<size_t>(n)), b(a.size()), y(a.size() + 1, -77);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<int32_t>(i * 2654435761u);
      b[i] = static_cast<int32_t>(i * 40503u) - 70000;
    }
    map<LessProducts>({}, {n}, Stream{y.data()}, Stream{a.data()}, Stream{b.data()});
    for (size_t i = 0; i < a.size(); ++i)
      CHECK(y[i] == static_cast<int32_t>(static_cast<uint32_t>(a[i]) - static_cast<uint32_t>(b[i]) * (static_cast<uint32_t>(a[i]) + 5u)));
    CHECK(y[a.size()] == -77);
  }
}

TEST_CASE("map_scalar takes any types, strides and ranks") {
  const int64_t a[6] = {1, 2, 3, 4, 5, 6}, b[2] = {3, 4};
  bool less[6] = {};
  map_scalar<Less>({}, {2, 3}, Stream{less, {3}}, Stream{a, {3}}, Fixed{b, {1}});
  CHECK((less[0] && less[1] && !less[2] && !less[3] && !less[4] && !less[5]));
  int64_t columns[6] = {};  // the transpose
  map_scalar<Scale>({}, {3, 2}, Stream{columns, {2}}, Strided{a, 3, {1}});
  CHECK((columns[0] == 3 && columns[1] == 12 && columns[2] == 6 && columns[3] == 15 && columns[4] == 9 && columns[5] == 18));
  const float16 h[3] = {float16(1.0f), float16(2.0f), float16(0.5f)};
  float16 out[3];
  map_scalar<Scale>({}, {3}, Stream{out}, Stream{h});
  CHECK(float(out[2]) == 1.5f);
  int32_t scalar = 5, result = 0;
  map_scalar<Scale>({}, {}, Stream{&result}, Stream{&scalar});
  CHECK(result == 15);
  int32_t none = 9;
  map_scalar<Scale>({}, {0, 4}, Stream{&none, {4}}, Stream{&scalar, {4}});
  CHECK(none == 9);
  // rank 4 with a broadcast axis in the middle: y[i, j, k, l] = 3 x[i, 0, k, l]
  std::vector<int32_t> x(2 * 3 * 4), y(2 * 5 * 3 * 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = int32_t(i);
  for (int p = 0; p < 3; ++p) map_scalar<Scale>({p, 3}, {2, 5, 3, 4}, Stream{y.data(), {60, 12, 4}}, Stream{x.data(), {12, 0, 4}});
  for (size_t i = 0; i < y.size(); ++i) CHECK(y[i] == 3 * x[i / 60 * 12 + i % 12]);
}
