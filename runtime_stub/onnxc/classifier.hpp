// How networks for images end: a 1x1 convolution, one sum of all pixels for each of its channels, and the product of that row with a large matrix. As one kernel:
//
//   classifier<9, 3, 3>(part, x, w, v, sums, {.pixels = 49, .cin = 320, .channels = 1280, .n = 1000, .x_pixel = 320}, Epilogue<Relu>{}, Epilogue<Mean>{});
//
//   sums[g, j] = over the channels c of group g:  epilogue2(over pixels i: epilogue1(bias[c] + x[i, :] w[:, c])) v[c, j]
//
// The matrix comes from L3 or from memory, and while it does nothing else happens, whereas the convolution waits for multiply-adds alone. So a panel of channels is
// convolved while the rows of v that it will meet are fetched. 49 x 320 -> 1280 -> 1000, as MobileNetV2 ends: 520 us one after the other, 410 so (Zen 4).
//
// Channels are in kClassifierGroups groups, whatever the number of threads, so that results do not depend on it; a reduce_middle adds these up.
//
//   x     [pixels, cin] of one image, x_pixel floats from one pixel to the next
//   w     as gemm packs it, v as pack::slices does: of NR rows each
//   sums  [kClassifierGroups, n], rows as long as whole panels of v
#pragma once
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA {

inline constexpr int64_t kClassifierGroups = 4;

struct ClassifierParams {
  int64_t pixels, cin, channels, n;
  int64_t x_pixel;
  const float* bias = nullptr;         // channels values, padded to whole panels, or null
  const float* weights_end = nullptr;  // as of GemmParams
};

namespace detail {

/// Two streams of constants: the next panel, and the rows that this one meets.
struct AheadOfBoth {
  Ahead w;
  AheadBy<4> v;
  ONNXC_INLINE void fetch(int64_t later = 0) const {
    w.fetch(later);
    v.fetch(later);
  }
  ONNXC_INLINE void pass(int64_t steps = 1) {
    w.pass(steps);
    v.pass(steps);
  }
  ONNXC_INLINE void advance(int64_t steps) {
    w.advance(steps);
    v.advance(steps);
  }
};

/// sums[j] = over all pixels, epilogue(bias[j] + x[i, :] panel[:, j]), for the channels from `col` on.
template <int MR, int NV, class Epi>
ONNXC_ONE_COPY void summed_panel(const float* x, const float* panel, const float* bias, int64_t col, float* sums, const ClassifierParams& p, AheadOfBoth& ahead, const Epi& epi) {
  ONNXC_UNROLL for (int j = 0; j < NV; ++j) Vec::all(0.0f).store(sums + j * Vec::width);
  for_each_tile<MR>(x, p.x_pixel, p.pixels, [&]<int R>(const auto& pixels, int64_t i) ONNXC_INLINE_LAMBDA {
    Tile<R, NV> tile;
    tile.start(bias);
    tile.add(pixels, p.cin, panel, ahead);
    ahead.advance(p.cin);
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      const int64_t channel = col + j * Vec::width, left = p.channels - channel;
      alignas(64) float scratch[Vec::width];
      Vec sum = Vec::load(sums + j * Vec::width);
      ONNXC_UNROLL for (int r = 0; r < R; ++r) {
        if (R < MR && i + r >= p.pixels) break;
        if (left >= Vec::width) sum = sum + finish_vector(epi, tile.acc[r][j], i + r, channel, scratch);
        else if (left > 0) sum = sum + finish_vector(epi, tile.acc[r][j], i + r, channel, scratch, left);
      }
      sum.store(sums + j * Vec::width);
    }
  });
}

/// row[0..pitch) += factors[0..count) v, of panels [pitch / NR][count][NR]; `first`: row is what was 0 before.
template <int NV>
ONNXC_ONE_COPY void add_rows(const float* factors, int64_t count, const float* v, float* row, int64_t pitch, bool first) {
  constexpr int NR = NV * Vec::width, kChains = NV >= 4 ? 1 : 2;
  for (int64_t col = 0; col < pitch; col += NR) {
    Vec acc[kChains][NV];
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      acc[0][j] = first ? Vec::all(0.0f) : Vec::load(row + col + j * Vec::width);
      if (kChains > 1) acc[kChains - 1][j] = Vec::all(0.0f);
    }
    int64_t c = 0;
    for (; c + kChains <= count; c += kChains) {
      ONNXC_UNROLL for (int u = 0; u < kChains; ++u, v += NR) {
        const Vec factor = Vec::all(factors[c + u]);
        ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[u][j] = fma(factor, Vec::load(v + j * Vec::width), acc[u][j]);
      }
    }
    for (; c < count; ++c, v += NR) {
      const Vec factor = Vec::all(factors[c]);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[0][j] = fma(factor, Vec::load(v + j * Vec::width), acc[0][j]);
    }
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) (kChains > 1 ? acc[0][j] + acc[kChains - 1][j] : acc[0][j]).store(row + col + j * Vec::width);
  }
}

}  // namespace detail

/// See the head of the file. MR, NV: the tile of the convolution; NV2: vectors of a panel of v.
template <int MR, int NV, int NV2, class Epi1 = Epilogue<Keep>, class Epi2 = Epilogue<Keep>>
void classifier(Part part, const float* x, const float* w, const float* v, float* sums, ClassifierParams p, Epi1 epi1 = {}, Epi2 epi2 = {}) {
  constexpr int NR = NV * Vec::width, NR2 = NV2 * Vec::width;
  const int64_t panels = (p.channels + NR - 1) / NR, pitch = (p.n + NR2 - 1) / NR2 * NR2;
  const int64_t steps = (p.pixels + MR - 1) / MR * p.cin, panel_bytes = NR * p.cin * int64_t{sizeof(float)}, rows_bytes = NR * pitch * int64_t{sizeof(float)};
  const auto [first_group, last_group] = part.slice(kClassifierGroups);
  detail::AheadOfBoth ahead{Ahead(w + panels * NR * p.cin, nullptr), AheadBy<4>(v + p.channels * pitch, p.weights_end)};
  for (int64_t group = first_group; group < last_group; ++group) {
    const int64_t first = panels * group / kClassifierGroups, last = panels * (group + 1) / kClassifierGroups;
    float* const row = sums + group * pitch;
    if (first == last) {
      for (int64_t j = 0; j < pitch; ++j) row[j] = 0.0f;
    }
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t col = panel * NR, count = p.channels - col < NR ? p.channels - col : NR;
      const float* const meets = v + col * pitch;
      alignas(64) float factors[NR];
      ahead.w.move(w + (panel + 1) * NR * p.cin, p.cin, panel_bytes / steps);
      ahead.v.move(meets, p.cin, rows_bytes / steps);
      detail::summed_panel<MR, NV>(x, w + col * p.cin, p.bias != nullptr ? p.bias + col : kZeros, col, factors, p, ahead, epi1);
      finish_row(epi2, factors, 0, col, factors, count);
      detail::add_rows<NV2>(factors, count, meets, row, pitch, panel == first);
    }
  }
}

}  // namespace onnxc
