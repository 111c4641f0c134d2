// LSTM on bytes: one step by hand, and the fast kernel against the scalar one to the bit, with activations that both compute alike.
#include <onnxc/recurrent_bytes.hpp>

#include <cstring>
#include <random>

#include "common.hpp"
#include "compiler/select/weights/pack.h"

using namespace onnxc;
using namespace onnxc::test;

namespace {

using scalar::Activation;

struct Form {
  int64_t batch, hidden, directions = 1;
  std::vector<int32_t> lengths{};
  bool with_zeros = false;
  float largest = 1;  ///< of the initial h
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <int MR, int NV>
void check(const Form& f, uint32_t seed, float first_h = 0.25f) {
  INFO("batch " << f.batch << ", hidden " << f.hidden << ", tile " << MR << " x " << NV);
  constexpr int64_t kSteps = 4, NR = NV * Vec::width;
  const int64_t columns = 4 * f.hidden, matrix = f.hidden * columns, all_columns = f.directions * columns;
  std::mt19937 random(seed);
  std::vector<int8_t> r(size_t(f.directions * matrix)), packed;
  for (auto& code : r) code = random() % 5 == 0 ? int8_t(random() % 2 == 0 ? -128 : 127) : int8_t(random());
  std::vector<int32_t> zeros(size_t(all_columns), 0), padded_zeros, sums;
  for (auto& zero : zeros) zero = f.with_zeros ? int32_t(int8_t(random())) : 0;
  std::vector<float> scales = numbers(all_columns, seed), padded_scales;
  for (auto& scale : scales) scale = 0.002f + 0.001f * scale;
  for (int64_t d = 0; d < f.directions; ++d) {
    const std::vector<int8_t> one(r.begin() + d * matrix, r.begin() + (d + 1) * matrix);
    const auto quads = pack::quads(one, {.k = f.hidden, .n = columns, .nr = NR});
    packed.insert(packed.end(), quads.begin(), quads.end());
    for (int64_t j = 0; j < (columns + NR - 1) / NR * NR; ++j) {
      const auto at = size_t(d * columns + j);
      padded_scales.push_back(j < columns ? scales[at] : 0);
      padded_zeros.push_back(j < columns ? zeros[at] : 0);
      int32_t sum = 0;
      for (int64_t k = 0; j < columns && k < f.hidden; ++k) sum += one[size_t(k * columns + j)] - zeros[at];
      sums.push_back(sum);
    }
  }
  const AlignedCopy<int8_t> codes(packed);
  const int64_t state = f.directions * f.batch * f.hidden;
  const auto x = numbers(kSteps * f.batch * all_columns, seed + 1), c0 = numbers(state, seed + 2),
             peepholes = numbers(f.directions * 3 * f.hidden, seed + 3);
  auto h0 = numbers(state, seed + 4);
  for (auto& h : h0) h *= f.largest;
  h0[0] = first_h;
  scalar::RecurrentParams p{
      .steps = kSteps, .batch = f.batch, .directions = f.directions, .hidden = f.hidden, .scales = scales.data(), .zeros = zeros.data()};
  for (auto& a : p.activations) a = {Activation::hard_sigmoid, 0.2, 0.5};
  p.activations[1] = p.activations[4] = {Activation::softsign};
  p.activations[2] = p.activations[5] = {Activation::relu};
  const int32_t* const lengths = f.lengths.empty() ? nullptr : f.lengths.data();
  std::vector<float> y(size_t(kSteps * state)), h(size_t(state), 0.0f), c = h, wanted_y = y, wanted_h = h, wanted_c = h;
  std::vector<float> gates(size_t(4 * f.batch * f.hidden));
  scalar::lstm_bytes(wanted_y.data(), wanted_h.data(), wanted_c.data(), x.data(), r.data(), peepholes.data(), h0.data(), c0.data(), lengths,
                     gates.data(), p);
  p.scales = padded_scales.data();
  p.zeros = padded_zeros.data();
  p.sums = sums.data();
  const Scratch work(1, 4 * f.batch * f.hidden), bytes(1, f.batch * contract::recurrent_bytes_pitch(f.hidden) / 4), row_sums(1, f.batch);
  lstm_bytes<MR, NV>(y.data(), h.data(), c.data(), x.data(), codes, peepholes.data(), h0.data(), c0.data(), lengths, work.of(0),
                     reinterpret_cast<uint8_t*>(bytes.of(0)), reinterpret_cast<int32_t*>(row_sums.of(0)), p);
  CHECK(same_bits(y, wanted_y));
  CHECK(same_bits(h, wanted_h));
  CHECK(same_bits(c, wanted_c));
}

template <int MR, int NV>
void check_forms() {
  uint32_t seed = 1;
  constexpr int64_t kLanes = Vec::width;
  for (const int64_t hidden : {int64_t{1}, int64_t{kPartLanes}, kLanes, kLanes + 1, 3 * kLanes + 2, int64_t{131}}) {
    for (const int64_t batch : {1, 3, 9}) {
      check<MR, NV>({.batch = batch, .hidden = hidden}, seed++);
      check<MR, NV>({.batch = batch, .hidden = hidden, .directions = 2, .with_zeros = true}, seed++);
    }
  }
  check<MR, NV>({.batch = 3, .hidden = 13, .directions = 2, .lengths = {4, 0, 2}, .largest = 30}, seed++);
  check<MR, NV>({.batch = 2, .hidden = 13, .lengths = {1, 3}, .with_zeros = true}, seed++);
  check<MR, NV>({.batch = 2, .hidden = 7, .largest = 0}, seed++, 0.0f);
}

}  // namespace

TEST_CASE("lstm on bytes is the scalar one") {
  check_forms<1, 4>();
  check_forms<1, 8>();
  check_forms<5, 2>();
  check_forms<8, 1>();
}

TEST_CASE("lstm on bytes is defined where h is no number or infinite") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float h : {inf, -inf, nan, 3e38f}) {
    constexpr int64_t n = Vec::width + 1, NR = 2 * Vec::width, wide = (4 * n + NR - 1) / NR * NR;
    const std::vector<int8_t> r(size_t(4 * n * n), 3);
    const AlignedCopy<int8_t> codes(pack::quads(r, {.k = n, .n = 4 * n, .nr = NR}));
    const std::vector<float> scales(wide, 0.01f), h0(n, h), x(4 * n, 0.5f);
    const std::vector<int32_t> zeros(wide, 0), sums(wide, 3 * n);
    std::vector<float> y(n), state(n), c(n), gates(4 * n);
    std::vector<uint8_t> bytes(size_t(contract::recurrent_bytes_pitch(n)));
    int32_t row_sum = 0;
    const scalar::RecurrentParams p{.steps = 1,
                                    .batch = 1,
                                    .directions = 1,
                                    .hidden = n,
                                    .activations = {{Activation::sigmoid}, {}, {}},
                                    .scales = scales.data(),
                                    .zeros = zeros.data(),
                                    .sums = sums.data()};
    lstm_bytes<1, 2>(y.data(), state.data(), c.data(), x.data(), codes, nullptr, h0.data(), nullptr, nullptr, gates.data(), bytes.data(),
                     &row_sum, p);
    // NaN counts for no range, so that all bytes are 0; the others make every gate's argument infinite, or no number where inf * 0 is added.
    if (std::isnan(h)) CHECK(y[0] == Approx(1 / (1 + std::exp(-0.5)) * std::tanh(1 / (1 + std::exp(-0.5)) * std::tanh(0.5))).epsilon(1e-5));
  }
}

// hidden = 1, h = 0.5, c = 0: the range [0, 0.5] gives scale 0.5 / 255, zero 0 and the byte 255, so h R = 255 * 2 * (0.5 / 255 * 0.25) = 0.25 for every gate.
TEST_CASE("one step of an lstm on bytes by hand") {
  const int8_t r[] = {2, 2, 2, 2};
  const float scales[] = {0.25f, 0.25f, 0.25f, 0.25f}, x[] = {0.25f, 0.25f, 0.25f, 0.25f}, h0 = 0.5f;
  const int32_t zeros[] = {0, 0, 0, 0};
  float y = 0, h = 0, c = 0, gates[4];
  const scalar::RecurrentParams p{.steps = 1,
                                  .batch = 1,
                                  .directions = 1,
                                  .hidden = 1,
                                  .activations = {{Activation::relu}, {Activation::relu}, {Activation::relu}},
                                  .scales = scales,
                                  .zeros = zeros};
  scalar::lstm_bytes(&y, &h, &c, x, r, nullptr, &h0, nullptr, nullptr, gates, p);
  CHECK(c == Approx(0.25));   // i n = 0.5 * 0.5
  CHECK(y == Approx(0.125));  // o c = 0.5 * 0.25
}
