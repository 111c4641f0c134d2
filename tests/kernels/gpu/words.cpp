// Each word of the vocabulary of GPU kernels, in the emulator: what it gives is what device.hpp says, whatever the order of
// blocks and threads.
#include <onnxc/types.hpp>

#include <cmath>
#include <limits>
#include <set>

#include "tests/kernels/gpu/common.hpp"
#include "tests/kernels/gpu/words.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

double value_of(Tf32, uint32_t word, int) { return std::bit_cast<float>(word); }
double value_of(Bf16, uint32_t word, int i) { return static_cast<float>(bfloat16::from_bits(static_cast<uint16_t>(word >> (16 * i)))); }
double value_of(F16, uint32_t word, int i) { return static_cast<float>(float16::from_bits(static_cast<uint16_t>(word >> (16 * i)))); }
/// Value i of a word of the left side, and of the right side.
template <class Kind>
double left_of(Kind kind, uint32_t word, int i) {
  return value_of(kind, word, i);
}
template <class Kind>
double right_of(Kind kind, uint32_t word, int i) {
  return value_of(kind, word, i);
}
double byte_of(bool has_sign, uint32_t word, int i) {
  const auto byte = static_cast<uint8_t>(word >> (8 * i));
  return has_sign ? static_cast<int8_t>(byte) : byte;
}
template <bool kLeft, bool kRight>
double left_of(Bytes<kLeft, kRight>, uint32_t word, int i) {
  return byte_of(kLeft, word, i);
}
template <bool kLeft, bool kRight>
double right_of(Bytes<kLeft, kRight>, uint32_t word, int i) {
  return byte_of(kRight, word, i);
}

uint32_t word_of(Tf32, int v) { return std::bit_cast<uint32_t>(static_cast<float>(v) / 8); }
uint32_t word_of(Bf16, int v) {
  return bfloat16(static_cast<float>(v) / 8).bits | static_cast<uint32_t>(bfloat16(static_cast<float>(v % 7) / 2).bits) << 16;
}
uint32_t word_of(F16, int v) {
  return float16(static_cast<float>(v) / 8).bits | static_cast<uint32_t>(float16(static_cast<float>(v % 7) / 2).bits) << 16;
}
template <bool kLeft, bool kRight>
uint32_t word_of(Bytes<kLeft, kRight>, int v) {
  return static_cast<uint32_t>(v) * 2654435761u;
}

/// Operands are such that sums are exact.
template <class Kind, int M, int N>
void check_product() {
  CAPTURE(M, N, Kind::kValues);
  std::vector<uint32_t> a(16 * M * 8), b(8 * N * 8);
  std::vector<typename Kind::Sum> c(16 * M * 8 * N);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = word_of(Kind{}, static_cast<int>(i * 37 % 61) - 30);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = word_of(Kind{}, static_cast<int>(i * 53 % 59) - 29);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<typename Kind::Sum>(static_cast<int>(i % 13) - 6);
  const OnDevice<uint32_t> left(a), right(b);
  const OnDevice<typename Kind::Sum> sums(c);
  REQUIRE(!launch(nullptr, Product<Kind, M, N>{sums.data(), left.data(), right.data()}, {1, 1, 1}));
  const auto got = sums.host();
  for (int row = 0; row < 16 * M; ++row) {
    for (int col = 0; col < 8 * N; ++col) {
      double sum = c[static_cast<std::size_t>(row * 8 * N + col)];
      for (int word = 0; word < 8; ++word) {
        for (int v = 0; v < Kind::kValues; ++v) {
          sum += left_of(Kind{}, a[static_cast<std::size_t>(row * 8 + word)], v) *
                 right_of(Kind{}, b[static_cast<std::size_t>(col * 8 + word)], v);
        }
      }
      REQUIRE(got[static_cast<std::size_t>(row * 8 * N + col)] == sum);
    }
  }
}

}  // namespace

TEST_CASE("threads, lanes, warps and blocks know where they are") {
  for_orders([] {
    const OnDevice<int> seen(3 * 2 * 2 * 64);
    REQUIRE(!launch(nullptr, Places{seen.data()}, {3, 2, 2}));
    const auto got = seen.host();
    for (int i = 0; i < 3 * 2 * 2 * 64; ++i) {
      const int t = i % 64, b = i / 64;
      REQUIRE(got[static_cast<std::size_t>(i)] ==
              b % 3 + 10 * (b / 3 % 2) + 100 * (b / 6) + 1000 * (t % 32) + 100000 * (t / 32) + 223000000);
    }
  });
}

TEST_CASE("a barrier shows what all threads of the block wrote") {
  for_orders([] {
    const OnDevice<int> y(5 * 96);
    REQUIRE(!launch(nullptr, Barriers{y.data()}, {5, 1, 1}));
    const auto got = y.host();
    for (int b = 0; b < 5; ++b) {
      for (int t = 0; t < 96; ++t) REQUIRE(got[static_cast<std::size_t>(b * 96 + t)] == t * (t + 1) / 2 + b * (t + 1));
    }
  });
}

TEMPLATE_TEST_CASE("lanes see each other's values", "", float, int32_t, uint32_t, double, int64_t) {
  for_orders([] {
    const OnDevice<TestType> mirrored(64), rotated(64);
    const OnDevice<unsigned> odd(64);
    REQUIRE(!launch(nullptr, Shuffles<TestType>{mirrored.data(), rotated.data(), odd.data()}, {1, 1, 1}));
    const auto m = mirrored.host(), r = rotated.host();
    const auto o = odd.host();
    for (int t = 0; t < 64; ++t) {
      const auto i = static_cast<std::size_t>(t);
      REQUIRE(m[i] == static_cast<TestType>((t / 32 * 32 + (t % 32 ^ 31)) * 3));
      REQUIRE(r[i] == static_cast<TestType>((t / 32 * 32 + (t + 5) % 32) * 3));
      REQUIRE(o[i] == (t < 32 ? 0u : 0x49249249u));
    }
  });
}

TEST_CASE("reductions of warps and blocks give all threads the same bits") {
  std::vector<float> x(3 * 256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  std::vector<float> first;
  for_orders([&] {
    const OnDevice<float> from(x), by_warp(x.size()), by_block(x.size());
    REQUIRE(!launch(nullptr, Reductions{by_warp.data(), by_block.data(), from.data()}, {3, 1, 1}));
    const auto w = by_warp.host(), b = by_block.host();
    for (std::size_t i = 0; i < x.size(); ++i) {
      double warp_sum = 0, block_sum = 256;
      for (std::size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) warp_sum += x[k];
      for (std::size_t k = i / 256 * 256; k < i / 256 * 256 + 256; ++k) block_sum += x[k];
      REQUIRE(w[i] == Approx(warp_sum).epsilon(1e-6));
      REQUIRE(b[i] == Approx(block_sum).epsilon(1e-6));
      REQUIRE(w[i] == w[i / 32 * 32]);
      REQUIRE(b[i] == b[i / 256 * 256]);
    }
    if (first.empty()) first = b;
    REQUIRE(first == b);
  });
}

TEST_CASE("the last block to come adds up what all wrote") {
  std::vector<float> first;
  for_orders([&] {
    const OnDevice<float> y(64), parts(9 * 64);
    const OnDevice<unsigned> words(std::vector<unsigned>(3, 0));
    REQUIRE(!launch(nullptr, Tickets{y.data(), parts.data(), words.data(), words.data() + 1, words.data() + 2}, {9, 1, 1}));
    REQUIRE(words.host() == std::vector<unsigned>{0, 9 * 64, 4});
    const auto got = y.host();
    for (int t = 0; t < 64; ++t) {
      float sum = 0;
      for (int b = 0; b < 9; ++b) sum += 1.0f / static_cast<float>(b * 64 + t + 1);
      REQUIRE(got[static_cast<std::size_t>(t)] == sum);
    }
    if (first.empty()) first = got;
    REQUIRE(first == got);
  });
}

TEMPLATE_TEST_CASE("16 bytes move at once", "", int8_t, int16_t, int32_t, float, int64_t) {
  constexpr std::size_t n = 16 / sizeof(TestType);
  std::vector<TestType> x(32 * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TestType>(i % 100);
  const OnDevice<TestType> from(x), y(x.size());
  REQUIRE(!launch(nullptr, Packs<TestType>{y.data(), from.data()}, {1, 1, 1}));
  const auto got = y.host();
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(got[i] == static_cast<TestType>(i % 100 + i % n));
}

TEMPLATE_TEST_CASE("two neighbours are stored at once", "", int8_t, float16, float, int64_t) {
  std::vector<TestType> x(64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TestType>(static_cast<float>(i));
  const OnDevice<TestType> from(x), y(x.size());
  REQUIRE(!launch(nullptr, Pairs<TestType>{y.data(), from.data()}, {1, 1, 1}));
  const auto got = y.host();
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(static_cast<float>(got[i]) == static_cast<float>(i ^ 1));
}

TEST_CASE("asynchronous copies are there once they were waited for") {
  for (const int n : {0, 1, 2, 3, 7}) {
    std::vector<float> x(static_cast<std::size_t>(n) * 128);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    for_orders([&] {
      const OnDevice<float> from(x), y(x.size());
      REQUIRE(!launch(nullptr, Copies{y.data(), from.data(), n}, {1, 1, 1}));
      const auto got = y.host();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto stage = static_cast<int>(i) / 128, thread = static_cast<int>(i) % 128 / 4;
        REQUIRE(got[i] == ((stage + thread) % 5 != 0 ? x[i] : 0.0f));
      }
    });
  }
}

TEST_CASE("a warp multiplies matrices of every type") {
  for_orders([] {
    check_product<Tf32, 1, 1>();
    check_product<Tf32, 2, 3>();
    check_product<F16, 1, 2>();
    check_product<Bf16, 2, 1>();
    check_product<S8, 1, 1>();
    check_product<S8, 4, 2>();
    check_product<U8, 1, 2>();
    check_product<U8S8, 2, 1>();
    check_product<S8U8, 1, 1>();
  });
}

TEST_CASE("products of integers wrap around, sums of floats are cut") {
  std::vector<uint32_t> ones(128, 0x01010101u), one(128, 0);
  {
    const OnDevice<int32_t> c(std::vector<int32_t>(128, std::numeric_limits<int32_t>::max()));
    const OnDevice<uint32_t> a(ones), b(std::vector<uint32_t>(64, 0x01010101u));
    REQUIRE(!launch(nullptr, Product<S8, 1, 1>{c.data(), a.data(), b.data()}, {1, 1, 1}));
    REQUIRE(c.host()[0] == std::numeric_limits<int32_t>::min() + 31);
  }
  for (std::size_t i = 0; i < 16; ++i) one[i * 8] = std::bit_cast<uint32_t>(1.0f);
  const float near = std::ldexp(1.0f, -24) * 1.5f;  // three quarters of the last bit of 1: rounding would give the next number
  std::vector<uint32_t> small(64, 0);
  for (std::size_t i = 0; i < 8; ++i) small[i * 8] = std::bit_cast<uint32_t>(near);
  const OnDevice<float> c(std::vector<float>(128, 1.0f));
  const OnDevice<uint32_t> a(one), b(small);
  REQUIRE(!launch(nullptr, Product<Tf32, 1, 1>{c.data(), a.data(), b.data()}, {1, 1, 1}));
  REQUIRE(c.host() == std::vector<float>(128, 1.0f));
}

TEST_CASE("round_tf32 keeps 11 bits, to nearest, ties away from zero") {
  std::vector<uint32_t> x = {0x3F800000, 0x3F800FFF, 0x3F801000, 0xBF801000, 0x3FFFFFFF, 0x7F7FFFFF, 0x7F800000, 0x00000FFF, 0x80000000};
  std::vector<uint32_t> y = {0x3F800000, 0x3F800000, 0x3F802000, 0xBF802000, 0x40000000, 0x7F800000, 0x7F800000, 0x00000000, 0x80000000};
  x.resize(32);
  y.resize(32);
  x[31] = y[31] = 0x7FC00000;  // NaN
  std::vector<float> from(32);
  std::memcpy(from.data(), x.data(), 128);
  const OnDevice<float> to(32), given(from);
  REQUIRE(!launch(nullptr, Rounded{to.data(), given.data()}, {1, 1, 1}));
  std::vector<uint32_t> got(32);
  std::memcpy(got.data(), to.host().data(), 128);
  REQUIRE(got == y);
}

TEST_CASE("a grid without blocks is nothing to do, one of too many is refused") {
  const OnDevice<int> seen(std::vector<int>(64, -1));
  REQUIRE(!launch(nullptr, Places{seen.data()}, {0, 1, 1}));
  REQUIRE(!launch(nullptr, Places{seen.data()}, {1, 1, 0}));
  REQUIRE(seen.host() == std::vector<int>(64, -1));
  const Status s = launch(nullptr, Places{seen.data()}, {1, 65536, 1});
  REQUIRE(s.code == ONNXC_DEVICE_FAILED);
  REQUIRE(s.what != nullptr);
}

#if !defined(__CUDACC__)
TEST_CASE("seeds and workers do change the order of blocks and threads") {
  const SettingsKept kept;
  std::set<std::vector<unsigned>> orders;
  for (const unsigned seed : {0u, 1u, 2u, 3u, 1u, 0u}) {
    emulator::settings().seed = seed;
    emulator::settings().workers = 1;
    const OnDevice<unsigned> next(std::vector<unsigned>(1, 0)), came(8 * 32);
    REQUIRE(!launch(nullptr, Order{next.data(), came.data()}, {8, 1, 1}));
    orders.insert(came.host());
  }
  REQUIRE(orders.size() == 4);
}
#endif
