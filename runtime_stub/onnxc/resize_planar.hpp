// Resizing of planes, with vectors along their rows: images in ONNX's own order, and any axis of any tensor.
//
//   y[p, oy, ox] = sum over ty, tx of wy[oy][ty] * wx[ox][tx] * x[p, iy[oy][ty], ix[ox][tx]]
//
// x is [planes, h, w], y [planes, y.size, x.size], both row-major. A single axis, [outer, in, inner], is h with
// w = inner.
//
// Rows are resized first, block by block of columns, and kept for as long as rows of results are made of them. When
// enlarging, each is used for many. A vector of results may need no more sources than two registers hold, which is so
// down to about half of the size. Then each lane picks its own from them; otherwise sources are read one by one. Which
// of the two, and the weights, are the same for all rows, so they are found once for a block, which then goes down all
// rows of the share.
//
// `down` and `across` are the taps of y and x: 1, 2, 4 or kAnyTaps. down = kAnyTaps goes only with across = kStays,
// where x stays as it is and has no table. The sources of one result are neighbours, as resize_table makes them. The
// epilogue sees the output as a matrix [planes, y.size * x.size].
#pragma once
#include "resize.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ResizePlanarParams {
  int64_t planes = 1, h, w;
  ResizeAxis y, x;  // an index of null: the axis stays as it is
};

constexpr int kStays = -1;

namespace detail {

/// Where the sources of a vector of neighbouring results lie.
template <int taps>
class ResizeWindow {
 public:
  ResizeWindow() = default;
  /// The window of `count` results from column `ox` on, 1 <= count <= Vec::width.
  ResizeWindow(const ResizePlanarParams& p, int64_t ox, int64_t count) {
    const int32_t* const index = p.x.index + ox * taps;
    int32_t low = index[0], high = index[0];
    for (int64_t k = 1; k < count * taps; ++k) {
      low = index[k] < low ? index[k] : low;
      high = index[k] > high ? index[k] : high;
    }
    const int64_t wide = high - low < Vec::width ? Vec::width : 2 * Vec::width;
    picks_ = high - low < wide;
    base_ = p.w > wide ? (low < p.w - wide ? low : p.w - wide) : 0;
    const int64_t there = p.w - base_;
    first_ = there < Vec::width ? there : Vec::width;
    second_ = wide == Vec::width ? 0 : there - first_ < Vec::width ? there - first_ : Vec::width;
    for (int t = 0; t < taps; ++t) {
      int32_t lane[Vec::width] = {};
      float weight[Vec::width] = {};
      for (int64_t i = 0; i < count; ++i) {
        lane[i] = index[i * taps + t] - (picks_ ? static_cast<int32_t>(base_) : 0);
        if constexpr (taps > 1) weight[i] = p.x.weight[(ox + i) * taps + t];
      }
      __builtin_memcpy(&source_[t].raw, lane, sizeof lane);
      weight_[t] = Vec::load(weight);
    }
  }

  /// The vector of results from a row of sources.
  ONNXC_INLINE Vec value(const float* row) const {
    if (!picks_) return one_by_one(row);
    const Vec low = load(row + base_, first_);
    if (second_ == 0) return sum([&](int t) { return pick(low, low, from_bits(source_[t])); });
    const Vec high = load(row + base_ + Vec::width, second_);
    return sum([&](int t) { return pick(low, high, from_bits(source_[t])); });
  }

 private:
  template <class Source>
  ONNXC_INLINE Vec sum(Source source) const {
    if constexpr (taps == 1) return source(0);
    Vec result = source(0) * weight_[0];
    ONNXC_UNROLL for (int t = 1; t < taps; ++t) result = fma(source(t), weight_[t], result);
    return result;
  }
  static ONNXC_INLINE Vec load(const float* p, int64_t n) { return n == Vec::width ? Vec::load(p) : Vec::load(p, n); }
  ONNXC_INLINE Vec one_by_one(const float* row) const {
    return sum([&](int t) {
      float values[Vec::width];
      int32_t lanes[Vec::width];
      __builtin_memcpy(lanes, &source_[t].raw, sizeof lanes);
      for (int i = 0; i < Vec::width; ++i) values[i] = row[lanes[i]];
      return Vec::load(values);
    });
  }

  IntVec source_[taps];  // lanes of the window where picks_, else columns
  Vec weight_[taps];
  int64_t base_, first_, second_;  // the column where the window begins, and how many sources either register holds
  bool picks_;
};

/// Any number of taps: antialiasing, where each result is made of many neighbours.
template <>
class ResizeWindow<kAnyTaps> {
 public:
  ResizeWindow() = default;
  ResizeWindow(const ResizePlanarParams& p, int64_t ox, int64_t count)
      : index_(p.x.index + ox * p.x.taps), weight_(p.x.weight + ox * p.x.taps), taps_(p.x.taps), count_(count) {}
  ONNXC_INLINE Vec value(const float* row) const {
    float values[Vec::width] = {};
    for (int64_t t = 0; t < taps_; ++t) {
      for (int64_t i = 0; i < count_; ++i) values[i] += row[index_[i * taps_ + t]] * weight_[i * taps_ + t];
    }
    return Vec::load(values);
  }

 private:
  const int32_t* index_;
  const float* weight_;
  int64_t taps_, count_;
};

/// The weighted sum of rows, `taps` of them or kAnyTaps: one vector at column `col`. `lanes` is empty or the number of
/// lanes. row(t) is where row t begins.
template <int taps, class Row, class Weight, class... N>
ONNXC_INLINE Vec sum_rows(Row row, Weight weight, int64_t count, int64_t col, N... lanes) {
  if constexpr (taps == 1) return Vec::load(row(0) + col, lanes...);
  Vec sum = Vec::load(row(0) + col, lanes...) * Vec::all(weight(0));
  if constexpr (taps == kAnyTaps) {
    for (int64_t t = 1; t < count; ++t) sum = fma(Vec::load(row(t) + col, lanes...), Vec::all(weight(t)), sum);
  } else {
    ONNXC_UNROLL for (int t = 1; t < taps; ++t) sum = fma(Vec::load(row(t) + col, lanes...), Vec::all(weight(t)), sum);
  }
  return sum;
}

}  // namespace detail

/// See the head of the file.
template <int down, int across, class Epi = Epilogue<Keep>>
void resize_planar(Share share, const float* x, float* y, ResizePlanarParams p, Epi epi = {}) {
  static_assert(across == kStays || down != kAnyTaps);
  const auto [first, last] = share.slice(p.planes * p.y.size);
  if (first >= last || p.x.size <= 0) return;
  if constexpr (across == kStays) {
    for (int64_t unit = first, plane = first / p.y.size, oy = first % p.y.size; unit < last; ++unit) {
      const auto row = [&](int64_t t) { return x + (plane * p.h + p.y.source(oy, t)) * p.w; };
      const auto weight = [&](int64_t t) { return p.y.factor(oy, t); };
      float* const out = y + unit * p.x.size;
      int64_t ox = 0;
      for (; ox + Vec::width <= p.x.size; ox += Vec::width)
        finish_vector(epi, detail::sum_rows<down>(row, weight, p.y.taps, ox), plane, oy * p.x.size + ox, out + ox);
      if (const int64_t rest = p.x.size - ox; rest > 0)
        finish_vector(epi, detail::sum_rows<down>(row, weight, p.y.taps, ox, rest), plane, oy * p.x.size + ox, out + ox, rest);
      if (++oy == p.y.size) oy = 0, ++plane;
    }
  } else {
    constexpr int64_t kBlock = 8;  // vectors of results: their windows and rows fit into 6 KiB
    for (int64_t begin = 0; begin < p.x.size; begin += kBlock * Vec::width) {
      const int64_t columns = p.x.size - begin < kBlock * Vec::width ? p.x.size - begin : kBlock * Vec::width;
      detail::ResizeWindow<across> windows[kBlock];
      for (int64_t at = 0; at < columns; at += Vec::width)
        windows[at / Vec::width] = {p, begin + at, columns - at < Vec::width ? columns - at : Vec::width};
      // Row i of x lies in rows[i % down], so that neighbours do not meet. `held` says which rows these are, counted
      // through all planes.
      alignas(64) float rows[down][kBlock * Vec::width];
      int64_t held[down];
      for (int64_t& h : held) h = -1;
      for (int64_t unit = first, plane = first / p.y.size, oy = first % p.y.size; unit < last; ++unit) {
        const float* line[down];
        float weight[down];
        for (int t = 0; t < down; ++t) {
          const int64_t source = p.y.source(oy, t), row = plane * p.h + source;
          line[t] = rows[source % down];
          weight[t] = p.y.factor(oy, t);
          if (held[source % down] == row) continue;
          held[source % down] = row;
          for (int64_t at = 0; at < columns; at += Vec::width)
            windows[at / Vec::width].value(x + row * p.w).store(rows[source % down] + at);
        }
        float* const out = y + unit * p.x.size + begin;
        for (int64_t at = 0; at < columns; at += Vec::width) {
          const Vec sum = detail::sum_rows<down>([&](int64_t t) { return line[t]; }, [&](int64_t t) { return weight[t]; }, down, at);
          finish_lanes(epi, sum, plane, oy * p.x.size + begin + at, out + at, columns - at);
        }
        if (++oy == p.y.size) oy = 0, ++plane;
      }
    }
  }
}

}  // namespace onnxc
