// The end of image classifiers as one kernel: a 1x1 convolution, one sum of all pixels for each of its channels, and
// the product of these rows with a large matrix.
//
//   classifier<9, 3, 3>(part, x, w, v, sums, {.images = 1, .pixels = 49, .cin = 320, .channels = 1280, .n = 1000, .x_pixel = 320},
//                       Epilogue<Relu>{}, Epilogue<Mean>{});
//
//   sums[i, g, j] = over the channels c of group g:
//                   epilogue2(over the pixels p of image i: epilogue1(bias[c] + x[i, p, :] w[:, c])) v[c, j]
//
// The product waits for its matrix, which comes from L3 or from memory, while the convolution is bound by multiply-adds
// alone. So a panel of channels is convolved while the rows of v that it will meet are prefetched.
//
// Channels form kClassifierGroups groups, whatever the number of threads, so that results do not depend on it. A
// reduce_middle adds these up.
//
//   x     [images, pixels, cin], x_pixel floats from one pixel to the next
//   w     as gemm packs it; v as pack::slices does, in slices of NR rows
//   sums  [images, kClassifierGroups, n], with rows as long as whole panels of v; those of the first group begin with p.start
#pragma once
#include "contract/classifier.hpp"
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ClassifierParams {
  int64_t images = 1, pixels, cin, channels, n;
  int64_t x_pixel;
  const float* bias = nullptr;         // channels values, padded to whole panels, or null
  const float* start = nullptr;        // n values, padded to whole panels of v, or null
  const float* weights_end = nullptr;  // see GemmParams
};

namespace detail {

/// Prefetches two streams of constants: the next panel, and the rows of v that this panel meets.
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

/// sums[j] = the sum over all pixels of an image of epilogue(bias[j] + x[i, :] panel[:, j]), for the channels from
/// `col` on.
template <int MR, int NV, class Epi>
ONNXC_ONE_COPY void summed_panel(const float* x, const float* panel, const float* bias, int64_t col, float* sums, const ClassifierParams& p,
                                 AheadOfBoth& ahead, const Epi& epi) {
  ONNXC_UNROLL for (int j = 0; j < NV; ++j) Vec::all(0.0f).store(sums + j * Vec::width);
  for_each_tile<MR>(x, p.x_pixel, p.pixels, TileOrder{}, [&]<int R>(const auto& pixels, int64_t i) ONNXC_INLINE_LAMBDA {
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

/// rows[i, 0..pitch) += factors[i, 0..count) v, for R rows that lie `apart` floats apart. v consists of panels
/// [pitch / NR][count][NR]. `first`: the rows hold nothing yet, and begin with `start`, or with zeros where that is
/// null.
template <int R, int NV>
ONNXC_ONE_COPY void add_product(const float* factors, int64_t factors_pitch, int64_t count, const float* v, float* rows, int64_t apart,
                                int64_t pitch, bool first, const float* start) {
  constexpr int NR = NV * Vec::width;
  const Ahead ahead(v);
  for (int64_t col = 0; col < pitch; col += NR, v += count * NR) {
    const auto at = [&](int64_t i) { return rows + i * apart + col; };
    Tile<R, NV> tile;
    if (first) tile.start(start != nullptr ? start + col : kZeros);
    else tile.load(at);
    tile.add(EvenRows{factors, factors_pitch}, count, v, ahead);
    tile.store(at, R);
  }
}

}  // namespace detail

/// See the head of the file. MR, NV: the tile of the convolution; NV2: vectors of a panel of v.
template <int MR, int NV, int NV2, class Epi1 = Epilogue<Keep>, class Epi2 = Epilogue<Keep>>
void classifier(Part part, const float* x, const float* w, const float* v, float* sums, ClassifierParams p, Epi1 epi1 = {},
                Epi2 epi2 = {}) {
  constexpr int NR = NV * Vec::width, NR2 = NV2 * Vec::width, kRows = 4;
  constexpr int64_t kTogether = 16;  // images, whose rows meet v while it is in the cache
  const int64_t panels = (p.channels + NR - 1) / NR, pitch = contract::classifier_pitch(p.n, NR2),
                apart = contract::classifier_sums(p.n, NR2);
  const int64_t steps = (p.pixels + MR - 1) / MR * p.cin, panel_bytes = NR * p.cin * int64_t{sizeof(float)},
                rows_bytes = NR * pitch * int64_t{sizeof(float)};
  const auto [begin, end] = part.slice((p.images + kTogether - 1) / kTogether * contract::kClassifierGroups);
  detail::AheadOfBoth ahead{Ahead(w + panels * NR * p.cin, nullptr), AheadBy<4>(v + p.channels * pitch, p.weights_end)};
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t group = unit % contract::kClassifierGroups, image = unit / contract::kClassifierGroups * kTogether,
                  images = p.images - image < kTogether ? p.images - image : kTogether;
    const int64_t first = panels * group / contract::kClassifierGroups, last = panels * (group + 1) / contract::kClassifierGroups;
    const float* const start = group == 0 ? p.start : nullptr;
    float* const rows = sums + image * apart + group * pitch;
    for (int64_t i = 0; first == last && i < images; ++i) {
      for (int64_t j = 0; j < pitch; ++j) rows[i * apart + j] = start != nullptr ? start[j] : 0.0f;
    }
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t col = panel * NR, count = p.channels - col < NR ? p.channels - col : NR;
      const float* const meets = v + col * pitch;
      alignas(64) float factors[kTogether * NR];
      ahead.w.move(w + (panel + 1) * NR * p.cin, p.cin, panel_bytes / (steps * images));
      ahead.v.move(meets, p.cin, rows_bytes / (steps * images));
      for (int64_t i = 0; i < images; ++i) {
        float* const of_image = factors + i * NR;
        detail::summed_panel<MR, NV>(x + (image + i) * p.pixels * p.x_pixel, w + col * p.cin, p.bias != nullptr ? p.bias + col : kZeros,
                                     col, of_image, p, ahead, epi1);
        finish_row(epi2, of_image, 0, col, of_image, count);
      }
      int64_t i = 0;
      for (; i + kRows <= images; i += kRows)
        detail::add_product<kRows, NV2>(factors + i * NR, NR, count, meets, rows + i * apart, apart, pitch, panel == first, start);
      for (; i < images; ++i)
        detail::add_product<1, NV2>(factors + i * NR, NR, count, meets, rows + i * apart, apart, pitch, panel == first, start);
    }
  }
}

}  // namespace onnxc
