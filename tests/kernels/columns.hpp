// Convolutions by columns against sums in 64 bits, to the bit: for this machine's tests, and for programs that run on a microcontroller.
#pragma once
#include <onnxc/conv_columns.hpp>
#include <onnxc/depthwise_columns.hpp>

#include <cstring>
#include <vector>

#include "compiler/select/weights/pack.h"
#include "tests/kernels/byte_convolution.hpp"

namespace onnxc::test {

/// quantize<u8>(x0 * x1, 1, 3)
struct ToByte {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::quantize<uint8_t>(fn::mul(fn::cast<float>(x0), x1), lanes(1.0f), lanes(3.0f));
  }
};

/// Numbers that depend on the seed alone, with the least and the greatest byte more often than others.
struct Bytes {
  uint32_t state;
  uint32_t next() { return (state = state * 1664525u + 1013904223u) >> 8; }
  uint8_t byte() {
    const uint32_t r = next();
    return static_cast<uint8_t>(r % 5 == 0 ? r / 5 % 2 * 255 : r >> 8);
  }
};

/// Memory that ends where it is said to: what is beyond changes no result, and nothing is written there.
template <class T>
struct Fenced {
  std::vector<T> all;
  T fence;
  Fenced(std::size_t n, T value, T outside) : all(n + 16, value), fence(outside) {
    for (std::size_t i = 0; i < 8; ++i) all[i] = all[n + 8 + i] = outside;
  }
  T* data() { return all.data() + 8; }
  T& operator[](std::size_t i) { return all[i + 8]; }
  bool is_whole() const {
    bool whole = true;
    for (std::size_t i = 0; i < 8; ++i) whole = whole && all[i] == fence && all[all.size() - 1 - i] == fence;
    return whole;
  }
};

/// The number of elements that conv_columns, or depthwise_columns, computes wrongly. `gap`: between pixels of x. `depthwise`: cin, cout and
/// group are equal.
template <class Columns>
int wrong_columns(const ByteConvolution& g, int64_t gap, int threads, uint32_t seed, bool depthwise = false) {
  Bytes random{seed};
  const int64_t oh = g.oh(), ow = g.ow(), x_pixel = g.cin + gap, y_pixel = g.cout + 3, channels = g.cin / g.group;
  const auto outside = random.byte();
  std::vector<uint8_t> x(static_cast<std::size_t>((g.n * g.h * g.w - 1) * x_pixel + g.cin));
  for (auto& v : x) v = random.byte();
  std::vector<int8_t> w(static_cast<std::size_t>(g.cout * channels * g.taps()));
  for (auto& v : w) {
    v = static_cast<int8_t>(random.byte());
    if (!depthwise && Columns::kForm.bytes == 2 && v == -128) v = -127;
  }
  std::vector<int32_t> start(static_cast<std::size_t>(g.cout));
  for (auto& v : start) v = static_cast<int32_t>(random.next() % 20001) - 10000;
  std::vector<float> factors(static_cast<std::size_t>(g.cout));
  for (auto& v : factors) v = 1e-4f * static_cast<float>(random.next() % 100);

  const bool joined = g.group == 1 && gap == 0 && g.dilation == 1;
  const pack::ColumnShape shape{
      .form = Columns::kForm, .cout = g.cout, .cin = channels, .kh = g.kh, .kw = g.kw, .group = g.group, .joined = joined};
  const std::vector<int8_t> packed = depthwise ? pack::depthwise_columns(w, Columns::kForm, g.cout, g.taps()) : pack::columns(w, shape);
  const std::vector<int32_t> starts =
      depthwise ? pack::depthwise_start(start, Columns::kForm, g.cout) : pack::column_start(start, w, shape);
  std::vector<int32_t> words(packed.size() / 4 + 1);  // aligned as weights are
  std::memcpy(words.data(), packed.data(), packed.size());
  const auto* const weights = reinterpret_cast<const int8_t*>(words.data());
  const int64_t scratch_bytes = depthwise ? contract::depthwise_columns_scratch(g.taps(), g.cout, sizeof(void*))
                                          : contract::column_scratch(Columns::kForm, contract::window_runs(g.kh, g.kw, channels, joined));
  Fenced<int64_t> scratch(static_cast<std::size_t>(scratch_bytes + 7) / 8, 0x5555555555555555, -1);
  const ColumnConvParams p{.n = g.n,
                           .h = g.h,
                           .w = g.w,
                           .cin = g.cin,
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
                           .x_pixel = x_pixel,
                           .y_pixel = y_pixel,
                           .start = starts.data(),
                           .outside = outside};
  Fenced<int32_t> sums(static_cast<std::size_t>(g.n * oh * ow * y_pixel), -77, -78);
  Fenced<uint8_t> bytes(static_cast<std::size_t>(g.n * oh * ow * y_pixel), 77, 78);
  for (int t = 0; t < threads; ++t) {
    auto* const memory = reinterpret_cast<uint8_t*>(scratch.data());
    const Epilogue<ToByte, PerCol<float>> to_byte{{factors.data()}};
    if (depthwise) {
      depthwise_columns<Columns>({t, threads}, x.data(), weights, sums.data(), memory, p);
      depthwise_columns<Columns>({t, threads}, x.data(), weights, bytes.data(), memory, p, to_byte);
    } else {
      conv_columns<Columns>({t, threads}, x.data(), weights, sums.data(), memory, p);
      conv_columns<Columns>({t, threads}, x.data(), weights, bytes.data(), memory, p, to_byte);
    }
  }
  int wrong = !scratch.is_whole() + !sums.is_whole() + !bytes.is_whole();
  for (int64_t pixel = 0; pixel < g.n * oh * ow; ++pixel) {
    for (int64_t c = 0; c < y_pixel; ++c) {
      const auto at = static_cast<std::size_t>(pixel * y_pixel + c);
      if (c >= g.cout) {
        wrong += sums[at] != -77 || bytes[at] != 77;
        continue;
      }
      const auto sum = static_cast<int32_t>(start[static_cast<std::size_t>(c)] + g.sum(x.data(), x_pixel, outside, w, pixel, c));
      const float rounded = __builtin_nearbyintf(static_cast<float>(sum) * factors[static_cast<std::size_t>(c)]) + 3;
      wrong += sums[at] != sum;
      wrong += bytes[at] != static_cast<uint8_t>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
    }
  }
  return wrong;
}

/// visit(wrong, index) for convolutions with borders, strides, dilations, groups, tails of outputs and of k, and long k.
template <class Columns, class Visit>
void for_each_column_case(Visit visit) {
  static constexpr ByteConvolution kCases[] = {
      // n  h  w cin cout kh kw stride dilation pad group
      {1, 1, 1, 640, 128, 1, 1, 1, 1, 0, 1}, {1, 1, 1, 7, 5, 1, 1, 1, 1, 0, 1},  {1, 1, 3, 261, 6, 1, 1, 1, 1, 0, 1},
      {1, 5, 5, 64, 64, 1, 1, 1, 1, 0, 1},   {2, 4, 4, 5, 3, 1, 1, 2, 1, 0, 1},  {1, 8, 8, 3, 8, 3, 3, 2, 1, 1, 1},
      {1, 9, 7, 16, 16, 3, 3, 1, 1, 1, 1},   {1, 5, 4, 33, 9, 3, 3, 1, 2, 2, 1}, {1, 6, 6, 8, 8, 3, 3, 1, 1, 1, 2},
      {1, 12, 9, 1, 10, 5, 4, 2, 1, 2, 1},   {2, 3, 2, 4, 4, 3, 3, 1, 1, 4, 1},  {1, 4, 4, 100, 3, 3, 3, 1, 1, 1, 1},
      {1, 2, 3, 12, 15, 2, 1, 1, 1, 0, 3},   {1, 1, 9, 6, 4, 1, 3, 1, 1, 1, 1},
  };
  static constexpr ByteConvolution kDepthwise[] = {
      {1, 7, 9, 64, 64, 3, 3, 1, 1, 1, 64}, {2, 9, 12, 8, 8, 3, 3, 2, 1, 1, 8},     {1, 6, 5, 35, 35, 3, 3, 1, 2, 2, 35},
      {1, 3, 2, 5, 5, 3, 3, 1, 1, 5, 5},    {1, 25, 5, 16, 16, 25, 5, 1, 1, 0, 16}, {1, 2, 2, 1, 1, 2, 2, 1, 1, 0, 1},
      {1, 3, 3, 67, 67, 1, 3, 1, 1, 1, 67},
  };
  uint32_t seed = 1;
  int index = 0;
  for (const ByteConvolution& g : kCases) {
    for (int64_t gap : {0, 4}) {
      for (int threads : {1, 3}) visit(wrong_columns<Columns>(g, gap, threads, seed++), index);
    }
    ++index;
  }
  for (const ByteConvolution& g : kDepthwise) {
    for (int64_t gap : {0, 3}) {
      for (int threads : {1, 3}) visit(wrong_columns<Columns>(g, gap, threads, seed++, true), index);
    }
    ++index;
  }
}

}  // namespace onnxc::test
