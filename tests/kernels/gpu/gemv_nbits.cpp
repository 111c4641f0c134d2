// Products with weights of few bits against sums in double, in the emulator: blocks of all lengths, every kind of zero point, tails of m, n
// and k, values that are not finite.
#include <onnxc/gpu/gemv_nbits.hpp>

#include <random>

#include "tests/kernels/gpu/product_cases.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

enum class Zero { None, Codes, Floats };

struct Case {
  int64_t m, n, k, block;
  Zero zero = Zero::None;
  int64_t skip = 0;  ///< floats before a, so that it is not aligned
};

std::size_t us(int64_t v) { return static_cast<std::size_t>(v); }

template <int kBits, int kMostRows>
std::vector<float> check(const Case& t) {
  CAPTURE(kBits, kMostRows, t.m, t.n, t.k, t.block, static_cast<int>(t.zero), t.skip);
  std::mt19937 random(static_cast<unsigned>(t.k + t.n));
  const int64_t blocks = (t.k + t.block - 1) / t.block, bytes = t.block * kBits / 8;
  std::vector<uint8_t> codes(us(t.n * blocks * bytes)), zero_codes(us(t.n * ((blocks * kBits + 7) / 8)));
  for (uint8_t& c : codes) c = static_cast<uint8_t>(random() % 4 == 0 ? random() % 2 * 255 : random());
  for (uint8_t& z : zero_codes) z = static_cast<uint8_t>(random());
  std::vector<float> scales(us(t.n * blocks)), zeros(scales.size());
  for (float& s : scales) s = (static_cast<float>(random() % 2000) - 500) / 640;
  for (float& z : zeros) z = static_cast<float>(random() % 1000) / 77;
  const auto a = numbers<float>(us(t.m * t.k + t.skip), 1), bias = numbers<float>(us(t.n), 2);
  const auto weight = [&](int64_t col, int64_t k) {
    const int64_t number = k / t.block;
    const int code = scalar::detail::packed_code<kBits>(codes.data() + (col * blocks + number) * bytes, k % t.block);
    const float zero = t.zero == Zero::None    ? scalar::detail::zero_of<kBits>(nullptr, col, number, blocks)
                       : t.zero == Zero::Codes ? scalar::detail::zero_of<kBits>(zero_codes.data(), col, number, blocks)
                                               : scalar::detail::zero_of<kBits>(zeros.data(), col, number, blocks);
    return static_cast<double>((static_cast<float>(code) - zero) * scales[us(col * blocks + number)]);
  };

  const OnDevice<uint8_t> dcodes(codes), dzero_codes(zero_codes);
  const OnDevice<float> dscales(scales), dzeros(zeros), da(a), dbias(bias), dy(std::vector<float>(us(t.m * t.n + 1), 77.0f));
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  const auto run = [&](auto of_zeros) {
    gemv_nbits<kBits, kMostRows>(queue, dy.data(), da.data() + t.skip, dcodes.data(), dscales.data(), of_zeros,
                                 {.m = t.m, .n = t.n, .k = t.k, .block = t.block}, Epilogue<AddRelu, PerCol<float>>{{dbias.data()}});
  };
  if (t.zero == Zero::None) run(nullptr);
  else if (t.zero == Zero::Codes) run(static_cast<const uint8_t*>(dzero_codes.data()));
  else run(static_cast<const float*>(dzeros.data()));
  REQUIRE(!queue.result());
  const auto y = dy.host();
  REQUIRE(y.back() == 77.0f);
  for (int64_t row = 0; row < t.m; ++row) {
    for (int64_t col = 0; col < t.n; ++col) {
      double sum = static_cast<double>(bias[us(col)]), size = std::abs(sum);
      for (int64_t k = 0; k < t.k; ++k) {
        const double product = static_cast<double>(a[us(t.skip + row * t.k + k)]) * weight(col, k);
        sum += product;
        size += std::abs(product);
      }
      const double got = static_cast<double>(y[us(row * t.n + col)]);
      CAPTURE(row, col, got, sum);
      // A thread adds 16 products in each of its turns; then lanes, warps and the bias are added.
      const double turns = std::ceil(static_cast<double>(t.k) / 2048);
      REQUIRE(std::abs(got - std::max(0.0, sum)) <= size * (16 * turns + 10) * std::ldexp(1, -24));
    }
  }
  return y;
}

template <int kBits>
void check_bits() {
  for (const Zero zero : {Zero::None, Zero::Codes, Zero::Floats}) {
    check<kBits, 1>({1, 9, 256, 32, zero});
    check<kBits, 1>({1, 4, 4096 + 16, 16, zero});
    check<kBits, 2>({2, 6, 100, 64, zero});
    check<kBits, 4>({3, 5, 129, 128, zero});
    check<kBits, 8>({8, 13, 1100, 32, zero});
    check<kBits, 8>({5, 1, 37, 16, zero});
    check<kBits, 8>({21, 6, 96, 32, zero});
    check<kBits, 8>({1, 6, 96, 32, zero});
    check<kBits, 8>({2, 6, 96, 32, zero, 1});
  }
  check<kBits, 1>({0, 4, 32, 32});
  check<kBits, 4>({7, 3, 1, 16});
}

}  // namespace

TEST_CASE("products with weights of few bits on a GPU") {
  check_bits<2>();
  check_bits<4>();
  check_bits<8>();
}

TEST_CASE("the order of blocks and threads does not change a product with weights of few bits on a GPU") {
  std::vector<float> first;
  for_orders([&] {
    const auto y = check<4, 4>({11, 7, 600, 32, Zero::Codes});
    if (first.empty()) first = y;
    REQUIRE(y == first);
  });
}

TEST_CASE("weights of few bits that lie behind the end of k meet nothing, and values that are not finite their own row") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  // One block of 32 codes of 9, of which 20 count. Behind a come values that are no numbers.
  std::vector<float> values(2 * 20 + 16, kNan);
  for (std::size_t i = 0; i < 40; ++i) values[i] = i == 25 ? kInfinity : 1.0f;
  const OnDevice<float> a(values), scale(std::vector<float>{0.5f}), y(std::vector<float>(2));
  const OnDevice<uint8_t> codes(std::vector<uint8_t>(16, 0x99));
  const OnDevice<unsigned> words(std::vector<unsigned>(1));
  Queue queue(nullptr, words.data());
  gemv_nbits<4, 2>(queue, y.data(), a.data(), codes.data(), scale.data(), nullptr, {.m = 2, .n = 1, .k = 20, .block = 32});
  REQUIRE(!queue.result());
  CHECK(y.host() == std::vector<float>{10.0f, kInfinity});
}
