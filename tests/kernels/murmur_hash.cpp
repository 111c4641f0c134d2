// MurmurHash3 against published values. Further values come from another implementation, which gives the published
// ones too.
#include <onnxc/scalar/text/murmur_hash.hpp>

#include <string_view>

#include "common.hpp"

using namespace onnxc;

namespace {

uint32_t hash_of(std::string_view text, uint32_t seed = 0) {
  const onnxc_string x{text.data(), text.size()};
  uint32_t y = 0;
  scalar::murmur_hash<uint32_t, onnxc_string>(&y, {&x, {}}, seed);
  return y;
}

template <class T>
uint32_t hash_of_number(T x, uint32_t seed = 0) {
  uint32_t y = 0;
  scalar::murmur_hash<uint32_t, T>(&y, {&x, {}}, seed);
  return y;
}

}  // namespace

TEST_CASE("MurmurHash3 gives the published values") {
  // From https://stackoverflow.com/a/31929528, made with the author's own test program: the values down to the hash
  // of one zero byte, and those from "aaaa" to the end that have a seed.
  using namespace std::string_view_literals;
  CHECK(hash_of("") == 0);
  CHECK(hash_of("", 1) == 0x514e28b7);
  CHECK(hash_of("", 0xffffffff) == 0x81f16f39);
  CHECK(hash_of("\xff\xff\xff\xff") == 0x76293b50);
  CHECK(hash_of("\x21\x43\x65\x87") == 0xf55b516b);
  CHECK(hash_of("\x21\x43\x65\x87", 0x5082edee) == 0x2362f9de);
  CHECK(hash_of("\x21\x43\x65") == 0x7e4a8634);
  CHECK(hash_of("\x21\x43") == 0xa0f7b07a);
  CHECK(hash_of("\x21") == 0x72661cf4);
  CHECK(hash_of("\0\0\0\0"sv) == 0x2362f9de);
  CHECK(hash_of("\0\0\0"sv) == 0x85f0b427);
  CHECK(hash_of("\0\0"sv) == 0x30f4c306);
  CHECK(hash_of("\0"sv) == 0x514e28b7);
  CHECK(hash_of("aaaa", 0x9747b28c) == 0x5a97808a);
  CHECK(hash_of("abc", 0x9747b28c) == 0xc84a62dd);
  CHECK(hash_of("hello") == 0x248bfa47);
  CHECK(hash_of("hello, world") == 0x149bbb7f);
  CHECK(hash_of("Hello, world!", 0x9747b28c) == 0x24884cba);
  CHECK(hash_of("The quick brown fox jumps over the lazy dog") == 0x2e4ff723);
  CHECK(hash_of("The quick brown fox jumps over the lazy dog", 0x9747b28c) == 0x2fa826cd);
}

TEST_CASE("MurmurHash3 of 0 to 8 bytes") {
  constexpr uint32_t kOfLength[] = {0, 0x3c2569b2, 0x9bbfd75f, 0xb3dd93fa, 0x43ed676a, 0xe89b9af6, 0x6181c085, 0x883c9b06, 0x49ddccc4};
  constexpr uint32_t kWithSeed[] = {0xebb6c228, 0x7fa09ea6, 0x74875592, 0xc84a62dd, 0xf0478627,
                                    0xe915b832, 0x53f930c5, 0xbf71efb0, 0xcf0266e4};
  // Bytes above 127 are not negative.
  constexpr uint32_t kOfHighBytes[] = {0, 0x3233c4aa, 0xeb9673fa, 0x5a7f8421, 0xb155c48e, 0x5fe4d366, 0x03e2c0e5, 0x2df2d794};
  for (std::size_t length = 0; length <= 8; ++length) {
    INFO(length << " bytes");
    CHECK(hash_of(std::string_view("abcdefgh", length)) == kOfLength[length]);
    CHECK(hash_of(std::string_view("abcdefgh", length), 0x9747b28c) == kWithSeed[length]);
    if (length < 8) CHECK(hash_of(std::string_view("\xf8\xf9\xfa\xfb\xfc\xfd\xfe", length)) == kOfHighBytes[length]);
  }
}

TEST_CASE("MurmurHash3 of numbers is that of their bytes") {
  CHECK(hash_of_number<int32_t>(3) == 847579505u);  // this and the next are in scikit-learn's tests
  CHECK(hash_of_number<int32_t>(3, 42) == static_cast<uint32_t>(-1823081949));
  CHECK(hash_of_number<int32_t>(-1) == 0x76293b50);
  CHECK(hash_of_number<int32_t>(-1, 42) == 0xa0590e3d);
  CHECK(hash_of_number<int32_t>(-3) == 0x724e08ac);
  CHECK(hash_of_number<int32_t>(INT32_MIN) == 0x9994d794);
  CHECK(hash_of_number<uint32_t>(UINT32_MAX) == 0x76293b50);
  CHECK(hash_of_number<int64_t>(-1) == 0x627564e8);
  CHECK(hash_of_number<int64_t>(-1, 42) == 0xc8008529);
  CHECK(hash_of_number<int64_t>(-3) == 0x94dd1bad);
  CHECK(hash_of_number<int64_t>(INT64_MIN) == 0x516faf25);
  CHECK(hash_of_number<float>(-1.5f) == 0x84994087);
  CHECK(hash_of_number<double>(-1.5) == 0x802ecead);
}

TEST_CASE("MurmurHash3 of a tensor, with a sign where it is asked for") {
  const int32_t x[] = {3, -1, -3};
  int32_t y[3] = {};
  scalar::murmur_hash<int32_t, int32_t>(y, {x, {3}}, 42);
  CHECK(y[0] == -1823081949);
  CHECK(static_cast<uint32_t>(y[1]) == 0xa0590e3d);
  CHECK(static_cast<uint32_t>(y[2]) == 0xa238e5fa);
}
