// Vectors of float16 and bfloat16 against the scalar types: every code, floats of all sizes and those halfway between two codes, maps with tails.
#include <onnxc/map.hpp>

#include <bit>
#include <cstring>
#include <random>

#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// Codes may differ for NaN alone.
template <class T>
bool same(T a, T b) {
  return a.bits == b.bits || (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b)));
}

/// cast<T>(cast<float>(x0) * x1 + cast<float>(cast<T>(x1)))
template <class T>
struct Mixed {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L, X0 x0, X1 x1) {
    return fn::cast<T>(fn::add(fn::mul(fn::cast<float>(x0), x1), fn::cast<float>(fn::cast<T>(x1))));
  }
};
template <class T>
struct Round {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L, X0 x0) {
    return fn::cast<T>(x0);
  }
};
struct Widen {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L, X0 x0) {
    return fn::cast<float>(x0);
  }
};

template <class T>
void check_codes() {
  std::vector<T> codes(65536);
  for (uint32_t i = 0; i < 65536; ++i) codes[i] = T::from_bits(static_cast<uint16_t>(i));
  std::vector<float> wide(codes.size());
  std::vector<T> back(codes.size());
  map<Widen>({}, {65536}, Stream{wide.data()}, Stream{codes.data()});
  map<Round<T>>({}, {65536}, Stream{back.data()}, Stream{wide.data()});
  int64_t wrong = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto value = static_cast<float>(codes[i]);
    wrong += std::bit_cast<uint32_t>(value) != std::bit_cast<uint32_t>(wide[i]) && !(std::isnan(value) && std::isnan(wide[i]));
    wrong += !same(codes[i], back[i]);
  }
  CHECK(wrong == 0);
}

template <class T>
void check_rounding() {
  std::vector<float> x;
  for (uint32_t i = 0; i < 65536; ++i) {  // each code and what is around the middle between it and the next
    const float a = static_cast<float>(T::from_bits(static_cast<uint16_t>(i)));
    const auto half = std::bit_cast<uint32_t>(a) + (std::is_same_v<T, bfloat16> ? 0x8000u : 0x1000u);
    for (const uint32_t bits : {half - 1, half, half + 1}) x.push_back(std::bit_cast<float>(bits));
  }
  std::mt19937 random(5);
  for (int i = 0; i < 100003; ++i) x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (int i = 0; i < 2000; ++i) x.push_back(float(int(random() % 4001) - 2000) * 0x1p-25f);  // around the subnormals of float16
  const auto n = static_cast<int64_t>(x.size());
  std::vector<T> y(x.size());
  map<Round<T>>({}, {n}, Stream{y.data()}, Stream{x.data()});
  int64_t wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) wrong += !same(y[i], T(x[i]));
  CHECK(wrong == 0);
}

template <class T>
void check_map() {
  for (const int64_t n : {1, kPartLanes, Vec::width, Vec::width + 1, 3 * Vec::width + 2}) {
    std::vector<T> a(size_t(n) + 1), y(size_t(n) + 2, T(77.0f));
    const auto x = numbers(n, 3), other = numbers(n, 4);
    for (int64_t i = 0; i < n; ++i) a[size_t(i) + 1] = T(other[size_t(i)]);
    map<Mixed<T>>({}, {n}, Stream{y.data() + 1}, Stream{a.data() + 1}, Stream{x.data()});
    CHECK(y[0].bits == T(77.0f).bits);
    CHECK(y[size_t(n) + 1].bits == T(77.0f).bits);
    for (int64_t i = 0; i < n; ++i) CHECK(same(y[size_t(i) + 1], Mixed<T>::apply(Scalar{}, a[size_t(i) + 1], x[size_t(i)])));
    map<Mixed<T>>({}, {n}, Stream{y.data() + 1}, Fixed{a.data() + 1}, Stream{x.data()});
    for (int64_t i = 0; i < n; ++i) CHECK(same(y[size_t(i) + 1], Mixed<T>::apply(Scalar{}, a[1], x[size_t(i)])));
  }
}

}  // namespace

TEST_CASE("halves: every code is read and written") {
  check_codes<float16>();
  check_codes<bfloat16>();
}
TEST_CASE("halves: floats are rounded half to even") {
  check_rounding<float16>();
  check_rounding<bfloat16>();
}
TEST_CASE("halves: maps compute in floats") {
  check_map<float16>();
  check_map<bfloat16>();
}
