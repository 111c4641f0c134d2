// The scalar functions of expressions: the cases that C++ leaves undefined, and plain values everywhere else.
#include <onnxc/fn.hpp>

#include <catch2/catch.hpp>
#include <cmath>

using namespace onnxc;

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
void check_integer_edges() {
  using L = std::numeric_limits<T>;
  CHECK(fn::add(L::max(), T(1)) == L::min());
  CHECK(fn::sub(L::min(), T(1)) == L::max());
  CHECK(fn::mul(L::max(), L::max()) == T(1));
  CHECK(fn::div(T(7), T(0)) == T(0));
  CHECK(fn::mod(T(7), T(0)) == T(0));
  CHECK(fn::fmod(T(7), T(0)) == T(0));
  CHECK(fn::div(T(7), T(2)) == T(3));
  CHECK(fn::mod(T(7), T(4)) == T(3));
  CHECK(fn::max(T(3), T(5)) == T(5));
  CHECK(fn::min(T(3), T(5)) == T(3));
  CHECK(fn::clip(T(9), T(2), T(4)) == T(4));
  CHECK(fn::shift_left(T(1), T(sizeof(T) * 8)) == T(0));
  CHECK(fn::shift_right(L::max(), T(sizeof(T) * 8)) == T(0));
  CHECK(fn::shift_left(T(3), T(2)) == T(12));
  CHECK(fn::shift_right(T(12), T(2)) == T(3));
  CHECK(fn::bit_not(T(0)) == static_cast<T>(~T(0)));
  CHECK(fn::pow(T(3), T(4)) == T(81));
  CHECK(fn::pow(T(2), 0.5f) == T(1));
  CHECK(fn::sign(T(5)) == T(1));
  if constexpr (std::is_signed_v<T>) {
    CHECK(fn::div(L::min(), T(-1)) == L::min());
    CHECK(fn::fmod(L::min(), T(-1)) == T(0));
    CHECK(fn::mod(T(-7), T(4)) == T(1));
    CHECK(fn::mod(T(7), T(-4)) == T(-1));
    CHECK(fn::fmod(T(-7), T(4)) == T(-3));
    CHECK(fn::neg(L::min()) == L::min());
    CHECK(fn::abs(L::min()) == L::min());
    CHECK(fn::abs(T(-5)) == T(5));
    CHECK(fn::sign(T(-5)) == T(-1));
    CHECK(fn::pow(T(-1), T(-3)) == T(-1));
    CHECK(fn::pow(T(2), T(-1)) == T(0));
    CHECK(fn::pow(T(0), T(-1)) == T(0));
    CHECK(fn::shift_right(T(-8), T(1)) == T(-4));  // BitShift keeps the sign
    CHECK(fn::shift_right(T(-1), T(sizeof(T) * 8 - 1)) == T(-1));
    CHECK(fn::shift_right(T(-8), T(100)) == T(-1));
    CHECK(fn::shift_right(T(8), T(-1)) == T(0));
    CHECK(fn::shift_left(T(1), T(-1)) == T(0));
  }
}
}  // namespace

TEST_CASE("a gate by an exponent is as exact as that exponent") {
  for (const float u : {-3e38f, -104.3f, -1.0f, 0.0f, 0.7f, 24.2f, 105.0f, 120.6f}) {
    INFO(u);
    const float x = u * -0.693147182f;
    CHECK(double(fn::gate_exp2(x, x, u)) == Approx(double(x) / (1 + std::exp2(double(u)))).epsilon(4e-7));
  }
  CHECK(std::isnan(fn::gate_exp2(1.0f, kNan, kNan)));
  CHECK(fn::gate_exp2(-3.0f, -kInf, kInf) == 0.0f);
}

TEST_CASE("integer arithmetic wraps and is defined at its edges") {
  check_integer_edges<int8_t>();
  check_integer_edges<int16_t>();
  check_integer_edges<int32_t>();
  check_integer_edges<int64_t>();
  check_integer_edges<uint8_t>();
  check_integer_edges<uint16_t>();
  check_integer_edges<uint32_t>();
  check_integer_edges<uint64_t>();
}

TEST_CASE("casts saturate, round and wrap") {
  CHECK(fn::cast<int32_t>(3e9f) == 2147483647);
  CHECK(fn::cast<int32_t>(2147483648.0f) == 2147483647);
  CHECK(fn::cast<int32_t>(2147483520.0f) == 2147483520);
  CHECK(fn::cast<int32_t>(-3e9f) == -2147483648);
  CHECK(fn::cast<int32_t>(-2147483648.0f) == -2147483648);
  CHECK(fn::cast<int32_t>(kNan) == 0);
  CHECK(fn::cast<int64_t>(1e30) == INT64_MAX);
  CHECK(fn::cast<uint64_t>(1e30) == UINT64_MAX);
  CHECK(fn::cast<uint64_t>(-1.0) == 0);
  CHECK(fn::cast<uint8_t>(-0.5f) == 0);
  CHECK(fn::cast<uint8_t>(255.9f) == 255);
  CHECK(fn::cast<int8_t>(-128.9f) == -128);
  CHECK(fn::cast<int8_t>(127.9f) == 127);
  CHECK(fn::cast<int8_t>(-1.9f) == -1);
  CHECK(fn::cast<uint8_t>(int32_t(-1)) == 255);
  CHECK(fn::cast<int8_t>(int64_t(300)) == 44);
  CHECK(fn::cast<bool>(0.25f));
  CHECK(fn::cast<bool>(kNan));
  CHECK_FALSE(fn::cast<bool>(-0.0f));
  CHECK(fn::cast<float>(true) == 1.0f);
  CHECK(fn::cast<float16>(1e6f).bits == 0x7c00);
  CHECK(fn::cast<float16>(int32_t(3)).bits == 0x4200);
  CHECK(fn::cast<float8e4m3fn>(1e6f).bits == 0x7e);
  CHECK(fn::cast<float8e4m3fn, Overflow::special>(1e6f).bits == 0x7f);
  CHECK(fn::cast<bfloat16>(float16(1.5f)).bits == 0x3fc0);
  CHECK(fn::cast<int32_t>(float16(-2.5f)) == -2);
  CHECK(fn::cast<bool>(float16(-0.0f)) == false);
}

TEST_CASE("min and max propagate NaN") {
  CHECK(fn::is_nan(fn::max(kNan, 1.0f)));
  CHECK(fn::is_nan(fn::max(1.0f, kNan)));
  CHECK(fn::is_nan(fn::min(kNan, 1.0f)));
  CHECK(fn::is_nan(fn::min(1.0f, kNan)));
  CHECK(fn::is_nan(fn::relu(kNan)));
  CHECK(fn::is_nan(fn::relu(float16(kNan))));
  CHECK(fn::relu(-1.0f) == 0.0f);
  CHECK(fn::clip(5.0f, 0.0f, 3.0f) == 3.0f);
  CHECK(fn::clip(5.0f, 4.0f, 3.0f) == 3.0f);
}

TEST_CASE("rounding is half to even") {
  const float cases[][2] = {{0.5f, 0}, {1.5f, 2}, {2.5f, 2}, {-0.5f, 0}, {-1.5f, -2}, {2.4f, 2}, {2.6f, 3}};
  for (const auto& [x, expected] : cases) {
    CHECK(fn::round(x) == expected);
    CHECK(fn::round(double(x)) == expected);
    CHECK(float(fn::round(bfloat16(x))) == (x == 2.6f || x == 2.4f ? fn::round(float(bfloat16(x))) : expected));
  }
}

TEST_CASE("sigmoid and softplus do not overflow") {
  CHECK(fn::sigmoid(-1000.0f) == 0.0f);
  CHECK(fn::sigmoid(1000.0f) == 1.0f);
  CHECK(fn::sigmoid(-90.0f) == Approx(std::exp(-90.0)).epsilon(1e-2));
  CHECK(fn::sigmoid(0.0) == 0.5);
  CHECK(fn::softplus(1000.0f) == 1000.0f);
  CHECK(fn::softplus(-1000.0f) == 0.0f);
  CHECK(fn::softplus(0.0) == Approx(std::log(2.0)));
  CHECK(fn::is_nan(fn::softplus(kNan)));
  CHECK(fn::is_nan(fn::sigmoid(kNan)));
}

TEST_CASE("tests for infinity and sign") {
  CHECK(fn::is_inf(kInf));
  CHECK(fn::is_inf(-kInf));
  CHECK(fn::is_pos_inf(kInf));
  CHECK_FALSE(fn::is_pos_inf(-kInf));
  CHECK(fn::is_neg_inf(-kInf));
  CHECK_FALSE(fn::is_inf(kNan));
  CHECK(fn::is_inf(float16(-kInf)));
  CHECK(fn::is_nan(fn::sign(kNan)));
  CHECK(fn::sign(-0.0f) == 0.0f);
  CHECK(fn::sign(-3.0) == -1.0);
}

TEST_CASE("remainders and powers of floats") {
  CHECK(fn::fmod(-7.0f, 4.0f) == -3.0f);
  CHECK(fn::mod(-7.0f, 4.0f) == 1.0f);
  CHECK(fn::mod(7.0, -4.0) == -1.0);
  CHECK(fn::pow(2.0f, 3) == 8.0f);
  CHECK(fn::pow(2.0f, int64_t(-2)) == 0.25f);
  CHECK(fn::pow(4.0f, 0.5) == 2.0f);
  CHECK(fn::pow(int32_t(4), 0.5f) == 2);
  CHECK(float(fn::pow(float16(3.0f), int32_t(2))) == 9.0f);
  CHECK(float(fn::add(float16(1.0f), float16(2.0f))) == 3.0f);
}

TEST_CASE("comparison and choice on all types") {
  CHECK(fn::equal(true, true));
  CHECK(fn::less(int8_t(-1), int8_t(1)));
  CHECK(fn::greater_equal(float16(1.0f), bfloat16(1.0f).bits == 0 ? float16(2.0f) : float16(1.0f)));
  CHECK_FALSE(fn::equal(kNan, kNan));
  CHECK(fn::where(true, 1, 2) == 1);
  CHECK(fn::where(false, float16(1.0f), float16(2.0f)).bits == 0x4000);
  CHECK(fn::logical_xor(true, false));
}
