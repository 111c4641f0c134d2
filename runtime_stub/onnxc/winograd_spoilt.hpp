// Tiles that Winograd's convolutions would spoil, and how they are computed instead.
//
// The transforms of a tile add its pixels before they are multiplied, and take them apart again afterwards. An infinity
// or NaN would come out at all outputs of the tile. An outlier would leave a rounding error of its own size in the
// outputs whose windows do not hold it:
//
//   x:  1  2  -9999  1  2  1       F(4,3) adds  4 x0 - 5 x2 + x4, ...;
//                                  y3 = 1 w0 + 2 w1 + 1 w2 has lost the digits that -9999 took
//
// A tile is *spoilt* where it is not finite, or where the squares of its transformed values add up to far more than
// those of some window would: `all` > limit * window. A spoilt tile is computed directly: its outputs are sums over
// their windows. The taps are found from the transformed weights, since those are the only ones there are. There are
// T + R - 1 points, and R values are enough for that. Points 0 and infinity give the first and the last tap to the bit,
// others give the rest with a rounding error relative to the kernel's largest weight. Taps of less than 2^-20 of that
// count as zero, so that a zero by an infinity is NaN.
//
// To find spoilt tiles costs a multiply-add for each value that is probed, so few values are. One sum is over the
// columns' transformed values at points 0 and infinity, which hold every pixel of the tile once. The other sums are
// over one pixel of each window, every R-th, which holds less than its window does. Only a tile that is suspect by
// these is examined by its own pixels, window by window (winograd_is_spoilt).
//
// F(2, R) keeps windows apart by itself: points 0 and infinity have a part in one output each, and no other point holds
// a pixel that only one of the windows has. So only values that are not finite are looked for there, as an infinity
// must not become NaN.
//
// Windows of zeros do not count: they are common behind Relu, and have the small error of their tile.
#pragma once
#include "conv.hpp"
#include "winograd_transform.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

/// How far the squares of a tile of `cin` channels may be above those of a window, relative to a tile whose values are
/// all alike. With this limit the errors of windows stay within some 2^-16 of their norms. Channels average out, so a
/// tile of few channels needs a larger limit: edges in images of bytes, and strokes on an empty ground, are no
/// outliers.
inline float winograd_spread(int64_t cin) { return cin < 256 ? 0x1p13f / __builtin_sqrtf(static_cast<float>(cin)) : 512.0f; }

/// The probes of F(T, R) along one direction, with windows `stride` apart: pixels such that each window holds one.
template <int T, int R, int stride = 1>
struct WinogradProbes {
  static constexpr int each = (R + stride - 1) / stride;  // windows that hold a probe
  static constexpr int count = T > 2 ? (T + each - 1) / each : 0;
  static constexpr int pixel(int probe) { return (each * (probe + 1) < T ? each * (probe + 1) - 1 : T - 1) * stride; }
  /// The probe at this pixel, or -1.
  static constexpr int at(int place) {
    for (int i = 0; i < count; ++i) {
      if (pixel(i) == place) return i;
    }
    return -1;
  }
};

/// Whether frequency f of A is one of those whose squares are added: points 0 and infinity, and frequency 1 where
/// values that are all alike would add up to nothing at point 0.
template <int A, int T>
constexpr bool winograd_is_added(int f) {
  if constexpr (T > 2) {
    if (f == 1) return kWinograd<A>.all.at(1.0f) == 0.0f;
  }
  return f == 0 || f == A - 1;
}

/// The least share that the square of a pixel has in the sum of transformed squares: that of the pixel whose
/// coefficient is smallest.
template <int A>
constexpr float winograd_gain() {
  float least = 1;
  for (int k = 0; k <= kWinograd<A>.all.degree; ++k) {
    const float c = kWinograd<A>.all.c[k];
    least = c * c < least ? c * c : least;
  }
  return least;
}

/// Squares that are added up while a tile is transformed.
template <int kProbes>
struct WinogradSquares {
  Vec all = Vec::all(0.0f), probes[kProbes > 0 ? kProbes : 1];

  ONNXC_INLINE WinogradSquares() {
    for (Vec& probe : probes) probe = Vec::all(0.0f);
  }
  ONNXC_INLINE void add(Vec transformed) { all = fma(transformed, transformed, all); }
  ONNXC_INLINE void probe(int i, Vec pixel) { probes[i] = fma(pixel, pixel, probes[i]); }
  /// Whether one of the tiles may be spoilt, where each lane is a tile of its own.
  ONNXC_INLINE bool suspect_lanes(float limit) const {
    Mask doubtful = ~(all <= Vec::all(std::numeric_limits<float>::max()));
    ONNXC_UNROLL for (int i = 0; i < kProbes; ++i) doubtful = doubtful | (all > probes[i] * Vec::all(limit));
    return any(doubtful);
  }
  /// Whether the tile may be spoilt. Comparisons are written so that NaN makes it suspect.
  ONNXC_INLINE bool suspect(float limit) const {
    if constexpr (kProbes == 0) return !(sum(all) <= std::numeric_limits<float>::max());
    Vec least = probes[0];
    ONNXC_UNROLL for (int i = 1; i < kProbes; ++i) least = min(least, probes[i]);
    if (sum(fma(Vec::all(limit), least, Vec::all(0.0f) - all)) >= 0.0f) return false;  // even the least of each lane is enough
    const float total = sum(all);
    bool enough = total <= std::numeric_limits<float>::max();
    for (const Vec& probe : probes) enough &= sum(probe) * limit >= total;
    return !enough;
  }
  /// A lower bound of what the window with the least probe holds.
  ONNXC_INLINE float least() const {
    float least = std::numeric_limits<float>::max();
    for (const Vec& probe : probes) least = sum(probe) < least ? sum(probe) : least;
    return least;
  }
};

/// Whether a tile whose pixels have these squares is spoilt: `down` by `across` windows of kh x kw, `stride` apart.
template <int H, int W>
ONNXC_INLINE bool winograd_is_spoilt(const float (&squares)[H][W], int down, int across, int kh, int kw, int stride, float limit) {
  float all = 0;
  for (const auto& line : squares) {
    for (float square : line) all += square;
  }
  if (!(all <= std::numeric_limits<float>::max())) return true;
  float lines[H][W];  // sums of kw neighbours
  for (int y = 0; y < (down - 1) * stride + kh; ++y) {
    for (int j = 0; j < across; ++j) {
      lines[y][j] = 0;
      for (int x = 0; x < kw; ++x) lines[y][j] += squares[y][j * stride + x];
    }
  }
  for (int i = 0; i < down; ++i) {
    for (int j = 0; j < across; ++j) {
      float window = 0;
      for (int y = 0; y < kh; ++y) window += lines[i * stride + y][j];
      if (window > 0 && !(all <= limit * window)) return true;
    }
  }
  return false;
}

/// The sum of squares of a pixel's channels, times `scale` each.
ONNXC_INLINE float winograd_square(const float* pixel, int64_t cin, float scale) {
  Vec total = Vec::all(0.0f);
  int64_t c = 0;
  for (; c + Vec::width <= cin; c += Vec::width) {
    const Vec x = Vec::load(pixel + c) * Vec::all(scale);
    total = fma(x, x, total);
  }
  if (c < cin) {
    const Vec x = Vec::load(pixel + c, cin - c) * Vec::all(scale);
    total = fma(x, x, total);
  }
  return sum(total);
}

/// The factor of a tile's values before they are squared. Values above 1e19 need one, as their squares overflow, and
/// with them `all`, the sum of transformed ones. With it, values above 2e34 overflow, which is still before transforms
/// and products do.
constexpr float winograd_scale(float all) { return all <= std::numeric_limits<float>::max() ? 1.0f : 0x1p-50f; }

/// Whether the tile of A x A pixels of `image` from (top, left) on, with T x T windows of R x R, is spoilt. `all`: its
/// transformed squares; `least`: no window holds less.
template <int A, int T, int R, int stride>
ONNXC_NOCLONE bool winograd_is_spoilt(const float* image, int64_t top, int64_t left, const ConvParams& p, float all, float least) {
  const float scale = winograd_scale(all), limit = winograd_spread(p.cin) * (A * A) / (R * R);
  if (scale == 1.0f && T > 2) {  // transformed squares may be hundreds of times those of the pixels
    Vec pixels = Vec::all(0.0f);
    for (int64_t y = top < 0 ? 0 : top; y < (top + A < p.h ? top + A : int64_t{p.h}); ++y) {
      for (int64_t x = left < 0 ? 0 : left; x < (left + A < p.w ? left + A : int64_t{p.w}); ++x) {
        const float* const pixel = image + (y * p.w + x) * p.x_pixel;
        for (int64_t c = 0; c < p.cin; c += Vec::width) {
          const Vec v = p.cin - c >= Vec::width ? Vec::load(pixel + c) : Vec::load(pixel + c, p.cin - c);
          pixels = fma(v, v, pixels);
        }
      }
    }
    if (sum(pixels) <= limit * least) return false;
  }
  float squares[A][A];
  for (int i = 0; i < A; ++i) {
    for (int j = 0; j < A; ++j) {
      const int64_t y = top + i, x = left + j;
      squares[i][j] = y >= 0 && y < p.h && x >= 0 && x < p.w ? winograd_square(image + (y * p.w + x) * p.x_pixel, p.cin, scale) : 0.0f;
    }
  }
  return winograd_is_spoilt(squares, T, T, R, R, stride, limit);
}

/// R taps as sums of A frequencies: the inverse of the first R rows of G in the order 0, infinity, p and -p of the
/// first pair, and so on.
template <int A, int R>
struct WinogradTapSums {
  float of[R][A] = {};

  constexpr WinogradTapSums() {
    constexpr const WinogradPoints<A>& points = kWinograd<A>;
    double rows[R][2 * R] = {};  // G and the unit matrix, which become the unit matrix and the inverse
    for (int i = 0; i < R; ++i) {
      const int f = frequency(i);
      for (int k = 0; k < R; ++k) {
        const int pair = (f - 1) / 2;
        if (f == 0) rows[i][k] = k == 0 ? 1.0 / static_cast<double>(points.all.c[0]) : 0;
        else if (f == A - 1) rows[i][k] = k == R - 1;
        else rows[i][k] = static_cast<double>(points.weight[pair] * points.power[pair][k]) * (f % 2 == 0 && k % 2 == 1 ? -1 : 1);
      }
      rows[i][R + i] = 1;
    }
    for (int k = 0; k < R; ++k) {
      int pivot = k;
      while (rows[pivot][k] == 0) ++pivot;
      for (int j = 0; j < 2 * R; ++j) {
        const double other = rows[pivot][j];
        rows[pivot][j] = rows[k][j];
        rows[k][j] = other;
      }
      const double first = rows[k][k];
      for (int j = 0; j < 2 * R; ++j) rows[k][j] /= first;
      for (int i = 0; i < R; ++i) {
        const double factor = rows[i][k];
        for (int j = 0; i != k && j < 2 * R; ++j) rows[i][j] -= factor * rows[k][j];
      }
    }
    for (int k = 0; k < R; ++k) {
      for (int i = 0; i < R; ++i) of[k][frequency(i)] = static_cast<float>(rows[k][R + i]);
    }
  }
  static constexpr int frequency(int i) { return i == 0 ? 0 : i == 1 ? A - 1 : i - 1; }
};
template <int A, int R>
inline constexpr WinogradTapSums<A, R> kWinogradTaps;

/// Finds the R taps of a direction from its A frequencies u.
template <int A, int R>
ONNXC_INLINE void winograd_taps_of(const Vec* u, Vec* taps) {
  for (int k = 0; k < R; ++k) {
    taps[k] = Vec::all(0.0f);
    for (int f = 0; f < A; ++f) {
      if (const float c = kWinogradTaps<A, R>.of[k][f]; c != 0) taps[k] = fma(Vec::all(c), u[f], taps[k]);
    }
  }
}

/// Clears those of `count` taps of a kernel that are zeros but for rounding.
ONNXC_INLINE void winograd_clear_zeros(Vec* taps, int count) {
  Vec largest = Vec::all(0.0f);
  for (int i = 0; i < count; ++i) largest = max(largest, abs(taps[i]));
  largest = largest * Vec::all(0x1p-20f);
  for (int i = 0; i < count; ++i) taps[i] = select(abs(taps[i]) > largest, taps[i], Vec::all(0.0f));
}

}  // namespace onnxc::inline ONNXC_ISA::detail
