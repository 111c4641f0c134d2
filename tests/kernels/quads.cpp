// Products and convolutions of bytes against sums in 64 bits, to the bit: sizes around tiles and quads, borders, strides, groups, threads,
// guard values around the output, and the extremes of both operands.
#include <onnxc/conv_quads.hpp>
#include <onnxc/gemm_quads.hpp>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/kernels/byte_convolution.hpp"
#include "tests/kernels/common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// x0 * x1 + x2 + 3, as a Y
template <class Y>
struct Requantise {
  template <class L, class X0, class X1, class X2>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1, X2 x2) {
    return fn::quantize<Y>(fn::add(fn::mul(fn::cast<float>(x0), x1), fn::cast<float>(x2)), lanes(1.0f), lanes(3.0f));
  }
};

struct ToFloat {
  template <class L, class X0>
  static ONNXC_INLINE auto apply(L, X0 x0) {
    return fn::cast<float>(x0);
  }
};

struct Bytes {
  std::mt19937 random;
  uint8_t u() { return random() % 5 == 0 ? uint8_t(random() % 2 * 255) : uint8_t(random()); }
  int8_t s() { return random() % 5 == 0 ? int8_t(random() % 2 == 0 ? -128 : 127) : int8_t(random()); }
};

/// [panels][steps][NR][4] of w(column, row).
template <class Weights>
void pack(std::vector<int8_t>& to, int64_t columns, int64_t rows, int64_t nr, Weights w) {
  for (int64_t panel = 0; panel * nr < columns; ++panel) {
    for (int64_t step = 0; step < contract::quads(rows); ++step) {
      for (int64_t i = 0; i < nr; ++i) {
        for (int64_t b = 0; b < 4; ++b) {
          const int64_t column = panel * nr + i, row = 4 * step + b;
          to.push_back(column < columns && row < rows ? w(column, row) : int8_t(0));
        }
      }
    }
  }
}

template <class Y>
Y requantised(int64_t sum, float factor, uint8_t addend) {
  return Requantise<Y>::apply(Scalar{}, static_cast<int32_t>(sum), factor, addend);
}

template <int MR, int NV>
void check_gemm(int64_t m, int64_t n, int64_t k, int threads, bool with_start, unsigned seed) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  Bytes bytes{std::mt19937(seed)};
  const int64_t lda = k + (seed % 3 == 0 ? 0 : 5), ldc = n + 3;
  std::vector<uint8_t> a(size_t(m * lda)), addend(size_t(m * ldc));
  std::vector<int8_t> w(size_t(n * k)), packed;
  std::vector<int32_t> start(static_cast<size_t>(n));
  std::vector<float> factors(static_cast<size_t>(n));
  for (auto& v : a) v = bytes.u();
  for (auto& v : addend) v = bytes.u();
  for (auto& v : w) v = bytes.s();
  for (auto& v : start) v = int32_t(bytes.random() % 20001) - 10000;
  for (auto& v : factors) v = 1e-4f * float(bytes.random() % 100);
  pack(packed, n, k, NR, [&](int64_t column, int64_t row) { return w[size_t(row * n + column)]; });
  const AlignedCopy<int8_t> panels(packed);
  const QuadGemmParams p{.m = m, .n = n, .k = k, .lda = lda, .ldc = ldc, .start = with_start ? start.data() : nullptr};
  std::vector<int32_t> sums(size_t(m * ldc), -77);
  std::vector<uint8_t> unsigned_bytes(sums.size(), 77);
  std::vector<int8_t> signed_bytes(sums.size(), 77);
  std::vector<float> floats(sums.size(), -77.0f);
  for (int t = 0; t < threads; ++t) {
    const Share share{t, threads};
    const auto epilogue = [&]<class Y>(Y) {
      return Epilogue<Requantise<Y>, PerCol<float>, Rows<uint8_t>>{{factors.data()}, {addend.data(), ldc}};
    };
    gemm_quads<MR, NV>(share, a.data(), panels, sums.data(), p);
    gemm_quads<MR, NV>(share, a.data(), panels, floats.data(), p, Epilogue<ToFloat>{});
    gemm_quads<MR, NV>(share, a.data(), panels, unsigned_bytes.data(), p, epilogue(uint8_t()));
    gemm_quads<MR, NV>(share, a.data(), panels, signed_bytes.data(), p, epilogue(int8_t()));
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<size_t>(i * ldc + j);
      if (j >= n) {
        REQUIRE((sums[at] == -77 && unsigned_bytes[at] == 77 && signed_bytes[at] == 77 && floats[at] == -77.0f));
        continue;
      }
      int64_t sum = with_start ? start[size_t(j)] : 0;
      for (int64_t r = 0; r < k; ++r) sum += int64_t{a[size_t(i * lda + r)]} * w[size_t(r * n + j)];
      REQUIRE(sums[at] == sum);
      REQUIRE(floats[at] == static_cast<float>(sum));
      REQUIRE(unsigned_bytes[at] == requantised<uint8_t>(sum, factors[size_t(j)], addend[at]));
      REQUIRE(signed_bytes[at] == requantised<int8_t>(sum, factors[size_t(j)], addend[at]));
    }
  }
}

template <int MR, int NV>
void check_conv(const ByteConvolution& g, int threads, unsigned seed) {
  constexpr int NR = QuadTile<MR, NV>::NR;
  Bytes bytes{std::mt19937(seed)};
  const int64_t oh = g.oh(), ow = g.ow(), cin = g.cin / g.group, cout = g.cout / g.group, x_pixel = (g.cin + 3) / 4 * 4 + 8,
                y_pixel = g.cout + 2, taps = g.taps(), quad_channels = (cin + 3) / 4 * 4;
  const uint8_t zero = bytes.u();
  std::vector<uint8_t> x(size_t(g.n * g.h * g.w * x_pixel)), rows;
  std::vector<int8_t> w(size_t(g.cout * cin * taps)), packed;
  std::vector<int32_t> start(size_t(g.cout));
  for (auto& v : x) v = bytes.u();
  for (auto& v : w) v = bytes.s();
  for (auto& v : start) v = int32_t(bytes.random() % 20001) - 10000;
  for (int64_t group = 0; group < g.group; ++group) {
    pack(packed, cout, taps * quad_channels, NR, [&](int64_t column, int64_t row) {
      const int64_t tap = row / quad_channels, channel = row % quad_channels;
      return channel < cin ? w[size_t(((group * cout + column) * cin + channel) * taps + tap)] : int8_t(0);
    });
  }
  const AlignedCopy<int8_t> panels(packed);
  std::vector<int32_t> y(size_t(g.n * oh * ow * y_pixel), -77);
  const int64_t band = 1 + seed % 4;
  if (g.pad > 0)
    rows.resize(size_t(4 * quad_channels / 4 * g.group * contract::inputs_under(band, g.stride, g.kh, g.dilation) *
                       contract::inputs_under(ow, g.stride, g.kw, g.dilation)));
  for (int t = 0; t < threads; ++t) {
    conv_quads<MR, NV>({t, threads}, x.data(), panels, y.data(), g.pad > 0 ? rows.data() : nullptr,
                       {.n = g.n,
                        .h = g.h,
                        .w = g.w,
                        .cin = quad_channels / 4 * g.group,
                        .oh = oh,
                        .ow = ow,
                        .cout = g.cout,
                        .kh = g.kh,
                        .kw = g.kw,
                        .stride_y = g.stride,
                        .stride_x = g.stride,
                        .dilation_y = g.dilation,
                        .dilation_x = g.dilation,
                        .pad_top = g.pad,
                        .pad_left = g.pad,
                        .group = g.group,
                        .x_pixel = x_pixel / 4,
                        .y_pixel = y_pixel,
                        .start = start.data(),
                        .outside = zero,
                        .band = band});
  }
  for (int64_t pixel = 0; pixel < g.n * oh * ow; ++pixel) {
    for (int64_t c = 0; c < y_pixel; ++c) {
      const int32_t found = y[size_t(pixel * y_pixel + c)];
      if (c >= g.cout) {
        REQUIRE(found == -77);
        continue;
      }
      REQUIRE(found == start[size_t(c)] + g.sum(x.data(), x_pixel, zero, w, pixel, c));
    }
  }
}

}  // namespace

TEST_CASE("quads: products of bytes are exact") {
  unsigned seed = 0;
  for (int64_t m : {1, 2, 13, 14, 15, 40}) {
    for (int64_t n : {1, Vec::width, 2 * Vec::width, 2 * Vec::width + 5}) {
      for (int64_t k : {1, 3, 4, 8, 37, 300}) {
        for (int threads : {1, 3}) {
          check_gemm<14, 2>(m, n, k, threads, seed % 2 == 0, seed);
          check_gemm<6, 1>(m, n, k, threads, seed % 3 == 0, seed + 500);
          ++seed;
        }
      }
    }
  }
  check_gemm<4, 4>(8, 4 * Vec::width, 20, 1, true, 899);
  check_gemm<4, 3>(9, 3 * Vec::width + 1, 20, 2, true, 900);
  check_gemm<14, 2>(5, 7, 70000 / 4, 1, true, 901);  // sums near 2^31
}
TEST_CASE("quads: convolutions of bytes are exact") {
  unsigned seed = 1000;
  for (const ByteConvolution& g :
       {ByteConvolution{1, 9, 20, 8, 40, 3, 3, 1, 1, 1, 1}, ByteConvolution{2, 7, 5, 3, 5, 3, 3, 2, 1, 1, 1},
        ByteConvolution{1, 16, 33, 16, 2 * Vec::width, 1, 1, 1, 1, 0, 1}, ByteConvolution{1, 12, 31, 5, 17, 5, 3, 1, 2, 2, 1},
        ByteConvolution{2, 6, 17, 16, 24, 3, 3, 1, 1, 1, 2}, ByteConvolution{1, 4, 4, 1028, 3, 3, 3, 1, 1, 2, 1},
        ByteConvolution{1, 15, 15, 4, 6, 7, 7, 2, 1, 3, 1}, ByteConvolution{1, 3, 50, 4, 4, 1, 1, 2, 1, 0, 1}}) {
    for (int threads : {1, 2, 5}) {
      check_conv<14, 2>(g, threads, seed++);
      check_conv<6, 1>(g, threads, seed++);
    }
  }
}
