// Constants that are stored in types narrower than float. Every code is read as the float that it stands for.
// Products, convolutions, recurrences and gathered rows are bit for bit those of the floats.
#include <onnxc/conv.hpp>
#include <onnxc/conv_windows.hpp>
#include <onnxc/gather_rows.hpp>
#include <onnxc/recurrent.hpp>
#include <onnxc/scalar/gather.hpp>
#include <onnxc/winograd.hpp>
#include <onnxc/winograd_stride2.hpp>

#include <cstring>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// Narrow elements, their scales, and the floats that they stand for.
template <class T>
struct Stored {
  std::vector<T> codes;
  std::vector<float> scales, floats;
};

/// Numbers that the type represents exactly, before a scale.
template <class T>
std::vector<float> narrow_numbers(int64_t count, uint32_t seed) {
  auto numbers_of = numbers(count, seed);
  for (size_t i = 0; i < numbers_of.size(); ++i) {
    float& x = numbers_of[i];
    x = std::is_same_v<T, int8_t> ? std::round(x * 127.5f - 0.5f) + 0.0f            // -128 to 127, and no -0
                                  : float(T(i % 7 == 0 ? x * 3e-6f : x * 900.0f));  // subnormals of f16 among them
  }
  return numbers_of;
}

template <class T>
std::vector<float> scales_of(int64_t n) {
  auto scales = numbers(n, 5);
  for (float& x : scales) x = std::is_same_v<T, int8_t> ? std::fabs(x) + 0.01f : 1.0f;
  return scales;
}

/// For panels [number][k][nr], with the scales of their columns.
template <class T>
Stored<T> stored(const std::vector<float>& panels, int64_t k, int64_t nr, std::vector<float> scales) {
  Stored<T> m{{}, std::move(scales), {}};
  for (size_t i = 0; i < panels.size(); ++i) {
    m.codes.push_back(T(panels[i]));
    m.floats.push_back(std::is_same_v<T, int8_t> ? panels[i] * m.scales[i / size_t(k * nr) * size_t(nr) + i % size_t(nr)] : panels[i]);
  }
  return m;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Compares run(share, a, b, c, params) with narrow panels and with panels of floats. Where nr is not a whole number
/// of vectors, also with pairs.
template <class T, class Run>
void check_same(int64_t m, int64_t n, int64_t k, int64_t nr, int threads, Run run) {
  INFO("m " << m << " n " << n << " k " << k << " nr " << nr);
  const auto panels = pack::panels(narrow_numbers<T>(k * n, 2), {.k = k, .n = n, .nr = nr});
  auto b = stored<T>(panels, k, nr, pack::padded(scales_of<T>(n), nr));
  if (nr % Vec::width != 0) {
    b.codes = stored<T>(pack::pairs(panels, nr, Vec::width), k, nr, b.scales).codes;
    b.floats = pack::pairs(b.floats, nr, Vec::width);
  }
  const auto a = numbers(m * k, 1), bias = pack::padded(numbers(n, 3), nr);
  std::vector<float> narrow(size_t(m * n) + 1, kGuard), wide = narrow;
  const GemmParams p{.m = m, .n = n, .k = k, .lda = k, .ldc = n, .bias = bias.data(), .scales = b.scales.data()};
  for (int i = 0; i < threads; ++i) {
    run(Share{i, threads}, a.data(), b.codes.data(), narrow.data(), p);
    run(Share{i, threads}, a.data(), b.floats.data(), wide.data(), p);
  }
  CHECK(same(narrow, wide));
  CHECK(wide.back() == kGuard);
}

template <class T, int MR, int NV>
void check_tile() {
  constexpr int NR = NV * Vec::width;
  std::vector<float> sums(size_t(2 * 3 * MR * NR));
  for (int64_t m : {1, MR - 1, MR, 2 * MR + 1}) {
    if (m == 0) continue;
    for (int64_t n : {1, NR - 1, NR, 2 * NR + 5}) {
      for (int64_t k : {1, 4, 31}) {
        check_same<T>(m, n, k, NR, int(k % 3) + 1,
                      [](Share share, const float* x, const auto* w, float* y, GemmParams p) { gemm<MR, NV>(share, x, w, y, p); });
        check_same<T>(m, n, k, NR, 1,
                      [](Share share, const float* x, const auto* w, float* y, GemmParams p) { gemm_any<MR, NV>(share, x, w, y, p); });
        check_same<T>(m, n, k, NR, 2, [&](Share share, const float* x, const auto* w, float* y, GemmParams p) {
          p.slices = {sums.data(), 7, 3 * MR};
          gemm<MR, NV>(share, x, w, y, p);
        });
      }
    }
  }
}

template <class T, int MR, int NV>
void check_pairs() {
  if constexpr (!kHasPairs) return;
  else {
    constexpr int NR = NV * Vec::width - Vec::width / 2;
    for (int64_t n : {1, NR - 1, NR, 2 * NR + 5}) {
      for (int64_t k : {2, 30})
        check_same<T>(2 * MR + 1, n, k, NR, 2,
                      [](Share share, const float* x, const auto* w, float* y, GemmParams p) { gemm<MR, NV, true>(share, x, w, y, p); });
    }
  }
}

template <class T, int NV>
void check_gemv() {
  constexpr int NR = NV * Vec::width;
  for (int64_t n : {1, NR - 1, NR, 3 * NR + 5}) {
    for (int64_t k : {0, 1, 3, 4, 257})
      check_same<T>(1, n, k, NR, int(k % 2) + 1,
                    [](Share share, const float* x, const auto* w, float* y, GemmParams p) { gemv<NV>(share, x, w, y, p); });
  }
}

template <class T, int MR, int NV>
void check_conv(ConvParams p, int threads = 1) {
  constexpr int NR = NV * Vec::width;
  p.oh = (p.h + 2 * p.pad_top - (p.kh - 1) * p.dilation_y - 1) / p.stride_y + 1;
  p.ow = (p.w + 2 * p.pad_left - (p.kw - 1) * p.dilation_x - 1) / p.stride_x + 1;
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout;
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin / p.group, .kh = p.kh, .kw = p.kw, .group = p.group, .nr = NR};
  const int64_t k = shape.cin * p.kh * p.kw;
  const auto w = stored<T>(pack::conv(narrow_numbers<T>(p.cout * k, 2), shape), k, NR, pack::conv_bias(scales_of<T>(p.cout), shape));
  const auto x = numbers(p.n * p.h * p.w * p.x_pixel, 1), bias = pack::conv_bias(numbers(p.cout, 3), shape);
  p.bias = bias.data();
  p.scales = w.scales.data();
  std::vector<float> narrow(size_t(p.n * p.oh * p.ow * p.cout) + 1, kGuard), wide = narrow, sums(size_t(threads * 3 * MR * NR));
  for (const int64_t steps : {0, 1, 7}) {
    p.slices = {sums.data(), steps, 3 * MR};
    for (int i = 0; i < threads; ++i) {
      conv<MR, NV>(Share{i, threads}, x.data(), w.codes.data(), narrow.data(), p);
      conv<MR, NV>(Share{i, threads}, x.data(), w.floats.data(), wide.data(), p);
    }
    CHECK(same(narrow, wide));
    CHECK(wide.back() == kGuard);
  }
  const Scratch few(threads, contract::window_floats(MR, k)),
      many(threads, contract::window_floats(MR * contract::tiles_at_once(Vec::width, false), k));
  narrow.assign(narrow.size(), kGuard);
  for (int i = 0; i < threads; ++i) {
    conv_windows<MR, NV>(Share{i, threads}, x.data(), w.codes.data(), narrow.data(), many.of(i), p);
    conv_windows<MR, NV>(Share{i, threads}, x.data(), w.floats.data(), wide.data(), few.of(i), p);
  }
  CHECK(same(narrow, wide));
}

template <class T, int MR, int NV>
void check_convs() {
  check_conv<T, MR, NV>({.h = 9, .w = 11, .cin = 5, .cout = 37, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1});
  check_conv<T, MR, NV>(
      {.n = 2, .h = 7, .w = 7, .cin = 16, .cout = 70, .kh = 3, .kw = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1}, 2);
  check_conv<T, MR, NV>({.h = 8, .w = 8, .cin = 12, .cout = 18, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .group = 3}, 3);
  check_conv<T, MR, NV>({.h = 11, .w = 13, .cin = 3, .cout = 17, .kh = 5, .kw = 3, .stride_x = 3, .dilation_y = 2, .pad_top = 4});
  check_conv<T, MR, NV>({.h = 1, .w = 1, .cin = 33, .cout = 9});
}

/// Winograd with untransformed weights and stride S.
template <class T, int F, int MR, int NV, int S = 1>
void check_winograd(ConvParams p, int threads) {
  constexpr int NR = NV * Vec::width;
  p.kh = p.kw = 3;
  p.stride_y = p.stride_x = S;
  p.oh = (p.h + 2 * p.pad_top - 3) / S + 1;
  p.ow = (p.w + 2 * p.pad_left - 3) / S + 1;
  p.x_pixel = p.cin;
  p.y_pixel = p.cout;
  const pack::ConvShape shape{.cout = p.cout, .cin = p.cin, .kh = 3, .kw = 3, .nr = NR};
  const auto w = stored<T>(pack::conv_stem(narrow_numbers<T>(p.cout * p.cin * 9, 2), shape), p.cin * 9, NR,
                           pack::conv_bias(scales_of<T>(p.cout), shape));
  const auto x = numbers(p.n * p.h * p.w * p.x_pixel, 1);
  p.scales = w.scales.data();
  constexpr int64_t kBlock = 2 * MR;
  const int64_t room = S == 1 ? winograd_scratch<F, 3, NV, true>(p.cin, kBlock) : winograd_stride2_scratch<F, NV, true>(p.cin, kBlock);
  const Scratch scratch(threads, room);
  std::vector<float> narrow(size_t(p.n * p.oh * p.ow * p.cout) + 1, kGuard), wide = narrow;
  const auto run = [&](int i, const auto* weights, float* y) {
    if constexpr (S == 1) winograd<F, 3, MR, NV, true>(Share{i, threads}, x.data(), weights, y, scratch.of(i), p, kBlock);
    else winograd_stride2<F, MR, NV, true>(Share{i, threads}, x.data(), weights, y, scratch.of(i), p, kBlock);
  };
  for (int i = 0; i < threads; ++i) {
    run(i, w.codes.data(), narrow.data());
    run(i, w.floats.data(), wide.data());
  }
  CHECK(same(narrow, wide));
  CHECK(wide.back() == kGuard);
}

/// Compares the steps of all cells over two directions, with narrow matrices and with matrices of floats. `matrices`:
/// the columns of each matrix in one direction.
template <class T, class Run>
void check_recurrence(std::vector<int64_t> matrices, Run run) {
  constexpr int NV = 2, NR = NV * Vec::width;
  constexpr int64_t kHidden = 13, kSteps = 3, kBatch = 2, kDirections = 2;
  std::vector<float> panels, scales;
  for (int64_t d = 0; d < kDirections; ++d) {
    for (const int64_t columns : matrices) {
      const auto packed = pack::panels(narrow_numbers<T>(kHidden * columns, 2 + uint32_t(d)), {.k = kHidden, .n = columns, .nr = NR}),
                 share = pack::padded(scales_of<T>(columns), NR);
      panels.insert(panels.end(), packed.begin(), packed.end());
      scales.insert(scales.end(), share.begin(), share.end());
    }
  }
  const auto r = stored<T>(panels, kHidden, NR, scales);
  const auto x = numbers(kSteps * kBatch * kDirections * 4 * kHidden, 1);
  std::vector<float> gates(size_t(4 * kBatch * kHidden)), narrow(size_t(kSteps * kDirections * kBatch * kHidden)),
      wide = narrow, h(size_t(kDirections * kBatch * kHidden)), c = h;
  const scalar::RecurrentParams p{
      .steps = kSteps, .batch = kBatch, .directions = kDirections, .hidden = kHidden, .scales = r.scales.data()};
  run(narrow.data(), h.data(), c.data(), x.data(), r.codes.data(), gates.data(), p);
  run(wide.data(), h.data(), c.data(), x.data(), r.floats.data(), gates.data(), p);
  CHECK(same(narrow, wide));
  CHECK(std::fabs(wide[0]) > 0);
}

template <class T>
void check_recurrences() {
  check_recurrence<T>({13}, [](float* y, float* h, float*, const float* x, const auto* r, float* work, auto p) {
    rnn<6, 2>(y, h, x, r, nullptr, nullptr, work, p);
  });
  check_recurrence<T>({26, 13}, [](float* y, float* h, float*, const float* x, const auto* r, float* work, auto p) {
    gru<6, 2>(y, h, x, r, nullptr, nullptr, nullptr, work, p);
  });
  check_recurrence<T>({52}, [](float* y, float* h, float* c, const float* x, const auto* r, float* work, auto p) {
    lstm<6, 2>(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, work, p);
  });
}

template <class T>
void check_rows() {
  for (const int64_t columns : {1, kPartLanes, Vec::width, 3 * Vec::width + 2}) {
    constexpr int64_t kRows = 9;
    const auto table = stored<T>(narrow_numbers<T>(kRows * columns, 2), columns, 1, scales_of<T>(kRows));
    const std::vector<int64_t> indices = {0, 8, -9, -1, 3, 3};
    const auto count = int64_t(indices.size());
    std::vector<float> narrow(size_t(count * columns) + 1, kGuard), wide = narrow;
    const GatherRowsParams p{.rows = kRows, .columns = columns, .count = count, .scales = table.scales.data()};
    CHECK(gather_rows(narrow.data(), table.codes.data(), indices.data(), p).code == 0);
    CHECK(scalar::gather<float, int64_t>({wide.data(), {count, columns}}, {table.floats.data(), {kRows, columns}},
                                         {indices.data(), {count}}, {})
              .code == 0);
    CHECK(same(narrow, wide));
    for (const int32_t wrong : {9, -10}) {
      const int32_t list[] = {1, wrong};
      CHECK(gather_rows(narrow.data(), table.codes.data(), list,
                        {.rows = kRows, .columns = columns, .count = 2, .scales = table.scales.data()})
                .code == ONNXC_INDEX_OUT_OF_RANGE);
    }
  }
}

template <class T>
void check_all() {
  check_pairs<T, 8, 1>();
  check_pairs<T, 8, 2>();
  check_pairs<T, 6, 4>();
  check_gemv<T, 1>();
  check_gemv<T, 2>();
  check_gemv<T, 4>();
  check_gemv<T, 8>();
  check_tile<T, 14, 2>();
  check_tile<T, 6, 2>();
  check_tile<T, 6, 4>();
  check_tile<T, 4, 3>();
  check_tile<T, 2, 4>();
  check_tile<T, 1, 4>();
  check_convs<T, 14, 2>();
  check_winograd<T, 2, 8, 2>({.h = 7, .w = 7, .cin = 80, .cout = 70, .pad_top = 1, .pad_left = 1}, 2);
  check_winograd<T, 4, 6, 2>({.n = 2, .h = 13, .w = 9, .cin = 21, .cout = 17, .pad_top = 1}, 1);
  check_winograd<T, 4, 6, 2, 2>({.n = 2, .h = 13, .w = 9, .cin = 21, .cout = 17, .pad_top = 1}, 1);
  check_convs<T, 6, 4>();
  check_convs<T, 4, 3>();
  check_recurrences<T>();
  check_rows<T>();
}

/// Wrong results over all 16-bit codes, read at each offset from an aligned address.
template <class T>
int64_t wrong_codes() {
  std::vector<T> codes;
  for (uint32_t code = 0; code < 0x10000 + 64; ++code) codes.push_back(T::from_bits(uint16_t(code)));
  int64_t wrong = 0;
  for (size_t first = 0; first + size_t(Vec::width) <= codes.size(); first += 7) {
    float read[Vec::width];
    widen(codes.data() + first).store(read);
    for (size_t i = 0; i < size_t(Vec::width); ++i) {
      const float expected = float(codes[first + i]);
      wrong += std::isnan(expected) ? !std::isnan(read[i]) : std::bit_cast<uint32_t>(read[i]) != std::bit_cast<uint32_t>(expected);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("every code is read as its float") {
  CHECK(wrong_codes<float16>() == 0);
  CHECK(wrong_codes<bfloat16>() == 0);
  std::vector<int8_t> codes;
  for (int code = -128; code < 128; ++code) codes.push_back(int8_t(code));
  const auto scales = numbers(Vec::width, 3);
  int64_t wrong = 0;
  for (size_t first = 0; first + size_t(Vec::width) <= codes.size(); ++first) {
    float read[Vec::width];
    load(Codes{codes.data() + first, scales.data()}, 0).store(read);
    for (size_t i = 0; i < size_t(Vec::width); ++i) wrong += read[i] != float(codes[first + i]) * scales[i];
  }
  CHECK(wrong == 0);
}

TEST_CASE("integers alone widen halves as the machine's instruction does") {
  int64_t wrong = 0;
  for (uint32_t code = 0; code < 0x10000; ++code) {
    float read[Vec::width];
    detail::widen_halves(IntVec::all(int32_t(code))).store(read);
    const float expected = float(float16::from_bits(uint16_t(code)));
    wrong += std::isnan(expected) ? !std::isnan(read[0]) : std::bit_cast<uint32_t>(read[0]) != std::bit_cast<uint32_t>(expected);
  }
  CHECK(wrong == 0);
}

TEST_CASE("products, recurrences and rows of f16 are those of their floats") { check_all<float16>(); }
TEST_CASE("products, recurrences and rows of bf16 are those of their floats") { check_all<bfloat16>(); }
TEST_CASE("products, recurrences and rows of 8 bits are those of their floats") { check_all<int8_t>(); }
