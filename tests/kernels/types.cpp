// Small floats against arithmetic in double: every code converted and back, ties, overflow.
#include <onnxc/scalar/bit_cast.hpp>
#include <onnxc/types.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace onnxc;

namespace {

/// The value of every code comes back as that code, and the midpoint of neighbours goes to the even one.
template <class F>
void check_all_codes() {
  for (uint32_t code = 0; code < F::kMax; ++code) {
    const F low = F::from_bits(decltype(F::bits)(code)), high = F::from_bits(decltype(F::bits)(code + 1));
    const double a = double(low), b = double(high);
    REQUIRE(a < b);
    REQUIRE(F(a).bits == code);
    REQUIRE(F(float(low)).bits == code);
    const double middle = (a + b) / 2;
    const uint32_t even = code % 2 == 0 ? code : code + 1;
    REQUIRE(F(middle).bits == even);
    REQUIRE(F(float(middle)).bits == even);
    REQUIRE(F(std::nextafter(middle, 0.0)).bits == code);
    REQUIRE(F(std::nextafter(middle, 1e300)).bits == code + 1);
    if (!F::kUnsignedZero || code != 0) REQUIRE(F(-a).bits == (code | F::kSignBit));
  }
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("every small float code converts exactly, ties to even") {
  check_all_codes<float16>();
  check_all_codes<bfloat16>();
  check_all_codes<float8e4m3fn>();
  check_all_codes<float8e4m3fnuz>();
  check_all_codes<float8e5m2>();
  check_all_codes<float8e5m2fnuz>();
  check_all_codes<float4e2m1>();
}

TEST_CASE("known values of the formats") {
  STATIC_REQUIRE(float(float8e4m3fn::from_bits(0x7e)) == 448.0f);
  STATIC_REQUIRE(float(float8e4m3fnuz::from_bits(0x7f)) == 240.0f);
  STATIC_REQUIRE(float(float8e5m2::from_bits(0x7b)) == 57344.0f);
  STATIC_REQUIRE(float(float8e5m2fnuz::from_bits(0x7f)) == 57344.0f);
  STATIC_REQUIRE(float(float4e2m1::from_bits(0x7)) == 6.0f);
  STATIC_REQUIRE(float(float16::from_bits(0x3c01)) == 1.0009765625f);
  STATIC_REQUIRE(float16(65504.0f).bits == 0x7bff);
  STATIC_REQUIRE(float16(65520.0f).bits == 0x7c00);
  STATIC_REQUIRE(bfloat16(1.0f).bits == 0x3f80);
}

TEST_CASE("overflow, infinity and NaN of the small floats") {
  CHECK(float8e4m3fn(1e9f, Overflow::saturate).bits == 0x7e);
  CHECK(float8e4m3fn(-kInf, Overflow::saturate).bits == 0xfe);
  CHECK(float8e4m3fn(kInf, Overflow::special).bits == 0x7f);
  CHECK(float8e5m2(kInf, Overflow::special).bits == 0x7c);
  CHECK(float8e5m2(-1e9f, Overflow::special).bits == 0xfc);
  CHECK(float8e5m2(kInf, Overflow::saturate).bits == 0x7b);
  CHECK(float8e4m3fnuz(1e9f, Overflow::special).bits == 0x80);
  CHECK(float8e4m3fnuz(-0.0f).bits == 0);
  CHECK(float8e5m2fnuz(-1e-30f).bits == 0);
  CHECK(std::isnan(float(float8e4m3fn(kNan))));
  CHECK(std::isnan(float(float8e5m2(kNan))));
  CHECK(std::isnan(float(float8e5m2fnuz(kNan))));
  CHECK(std::isnan(float(float16(kNan))));
  CHECK(std::isnan(float(bfloat16(kNan))));
  CHECK(std::isinf(float(bfloat16(3.4e38f))));
  CHECK(float(bfloat16(-kInf)) == -kInf);
  CHECK(float(float16(-kInf)) == -kInf);
}

TEST_CASE("the software conversions of float16 equal the hardware's") {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float16 x = float16::from_bits(uint16_t(code));
    const float soft = detail::decode<float16>(code);
    if (std::isnan(soft)) REQUIRE(std::isnan(float(x)));
    else REQUIRE(std::bit_cast<uint32_t>(float(x)) == std::bit_cast<uint32_t>(soft));
  }
  for (uint64_t bits = 0; bits < 0x100000000ull; bits += 9973) {
    const float x = std::bit_cast<float>(uint32_t(bits));
    if (!std::isnan(x)) REQUIRE(float16(x).bits == detail::encode<float16>(x, Overflow::special));
  }
}

TEST_CASE("double rounds to a small float once") {
  // 1 + 2^-11 is a tie in float16. A value a little above it must round up, although float would round it to the tie
  // first.
  CHECK(float16(1.0 + std::ldexp(1.0, -11)).bits == 0x3c00);
  CHECK(float16(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)).bits == 0x3c01);
}

TEST_CASE("float8e8m0 rounds up, down and to nearest") {
  using E = float8e8m0;
  CHECK(E(1.0f).bits == 127);
  CHECK(E(1.1f).bits == 128);
  CHECK(E(1.1f, E::Round::down).bits == 127);
  CHECK(E(1.49f, E::Round::nearest).bits == 127);
  CHECK(E(1.5f, E::Round::nearest).bits == 128);
  CHECK(E(kInf).bits == 0xfe);
  CHECK(E(kNan).bits == 0xff);
  CHECK(float(E::from_bits(0)) == std::ldexp(1.0f, -127));
  for (int code = 0; code < 255; ++code) CHECK(E(float(E::from_bits(uint8_t(code)))).bits == code);
}

TEST_CASE("bits become a bool that is true unless all are 0, and other types as they are") {
  const uint8_t bytes[] = {0, 1, 2, 0x80, 0xff};
  bool truths[5] = {};
  scalar::bit_cast(truths, bytes, 5);
  for (int i = 0; i < 5; ++i) CHECK(truths[i] == (i != 0));
  const float floats[] = {1.0f, -0.0f, -2.0f};
  uint32_t words[3] = {};
  scalar::bit_cast(words, floats, 3);
  CHECK(words[0] == 0x3f800000u);
  CHECK(words[1] == 0x80000000u);
  CHECK(words[2] == 0xc0000000u);
}

TEST_CASE("complex numbers are ordered by their real parts, and then by the imaginary ones") {
  const complex64 sorted[] = {{-1, 5}, {0, -3}, {0, 2}, {1, -1}, {1, 0}};
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 5; ++k) CHECK((sorted[i] < sorted[k]) == (i < k));
  }
}
