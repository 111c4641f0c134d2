// Packing elements and unpacking them: every code, odd counts, on several threads.
#include <onnxc/packed.hpp>

#include <catch2/catch.hpp>
#include <vector>

using namespace onnxc;

namespace {

template <class T>
void check(int bits) {
  const int per_byte = 8 / bits, codes = 1 << bits;
  for (int64_t n : {0, 1, 2, 3, 5, 31, 32, 33, 257}) {
    const auto bytes = static_cast<std::size_t>((n + per_byte - 1) / per_byte);
    std::vector<T> elements(static_cast<std::size_t>(n)), back(elements.size());
    for (int64_t i = 0; i < n; ++i) elements[static_cast<std::size_t>(i)] = T::from_bits(static_cast<uint8_t>(i * 7 % codes));
    std::vector<uint8_t> packed(bytes, 0xff);
    for (int thread = 0; thread < 3; ++thread) pack(Share{thread, 3}, packed.data(), elements.data(), n);
    for (int64_t i = 0; i < n; ++i)
      REQUIRE(((packed[static_cast<std::size_t>(i / per_byte)] >> (i % per_byte * bits)) & (codes - 1)) == i * 7 % codes);
    if (n % per_byte != 0) REQUIRE((packed.back() >> (n % per_byte * bits)) == 0);
    for (int thread = 0; thread < 3; ++thread) unpack(Share{thread, 3}, back.data(), packed.data(), n);
    for (std::size_t i = 0; i < elements.size(); ++i) REQUIRE(back[i].bits == elements[i].bits);
  }
}

}  // namespace

TEST_CASE("packed elements come back") {
  check<int4>(4);
  check<uint4>(4);
  check<float4e2m1>(4);
  check<int2>(2);
  check<uint2>(2);
}

TEST_CASE("integers of few bits keep the low ones, with their sign") {
  CHECK(static_cast<int>(int4(7)) == 7);
  CHECK(static_cast<int>(int4(8)) == -8);
  CHECK(static_cast<int>(int4(-9)) == 7);
  CHECK(static_cast<int>(uint4(-1)) == 15);
  CHECK(static_cast<int>(int2(2)) == -2);
  CHECK(static_cast<int>(uint2(5)) == 1);
}
