// Channels of channels-last images in another order, pixel by pixel.
//
//   interleave_channels<2>(share, x, y, {.pixels = 784, .channels = 116, .x_pixel = 128, .y_pixel = 116});
//                                                  // a channel shuffle: y[2i + j] = x[58j + i]
//   pick_channels(share, x, y, channels, {...});    // y[i] = x[channels[i]]
//
// `channels` is the number of y's. Pixels lie x_pixel and y_pixel elements apart, and what lies between those of y
// stays as it is. x and y do not overlap.
#pragma once
#include <utility>

#include "passed.hpp"
#include "transpose.hpp"

namespace onnxc::inline ONNXC_ISA {

struct PickParams {
  int64_t pixels, channels, x_pixel, y_pixel;
};

namespace detail {

/// Takes the lanes of `vector` that belong to result number `result` into `all`. With w lanes, lane l of that result is
/// element e = result * w + l, which is lane e / groups of vector e % groups.
template <int groups, int number, int result, class Raw, int... lane>
ONNXC_INLINE Raw take_lanes(Raw all, Raw vector, std::integer_sequence<int, lane...>) {
  constexpr int w = sizeof...(lane);
  return shuffle<((result * w + lane) % groups == number ? w + (result * w + lane) / groups : lane)...>(all, vector);
}

template <int groups, int result, int... number>
ONNXC_INLINE Vec merge(const Vec* x, std::integer_sequence<int, number...>) {
  Vec::Raw all = x[0].raw();
  ((all = take_lanes<groups, number, result>(all, x[number].raw(), std::make_integer_sequence<int, Vec::width>())), ...);
  return Vec::from_raw(all);
}

template <int groups, int... result>
ONNXC_INLINE void merge_all(const Vec* x, Vec* y, std::integer_sequence<int, result...>) {
  ((y[result] = merge<groups, result>(x, std::make_integer_sequence<int, groups>())), ...);
}

/// Interleaves the lanes of all vectors: element i * groups + j of the results, seen as one row, is lane i of r[j].
/// Powers of two take log2(groups) rounds of zips, as in transpose_lanes. Other numbers take groups - 1 shuffles for
/// each result.
template <int groups>
ONNXC_INLINE void interleave(Vec (&r)[groups]) {
  Vec next[groups];
  if constexpr (Vec::width == 1) return;
  else if constexpr ((groups & (groups - 1)) == 0) {
    ONNXC_UNROLL for (int round = 1; round < groups; round *= 2) {
      ONNXC_UNROLL for (int i = 0; i < groups / 2; ++i) {
        next[2 * i] = zip<false>(r[i], r[i + groups / 2]);
        next[2 * i + 1] = zip<true>(r[i], r[i + groups / 2]);
      }
      ONNXC_UNROLL for (int i = 0; i < groups; ++i) r[i] = next[i];
    }
  } else {
    merge_all<groups>(r, next, std::make_integer_sequence<int, groups>());
    ONNXC_UNROLL for (int i = 0; i < groups; ++i) r[i] = next[i];
  }
}

}  // namespace detail

/// y[i * groups + j] = x[j * (channels / groups) + i] in each pixel; groups divides channels. See the head of the file.
template <int groups>
void interleave_channels(Share share, const float* x, float* y, Passed<PickParams> p) {
  const int64_t each = p.channels / groups;
  const auto [first, last] = share.slice(p.pixels);
  for (int64_t pixel = first; pixel < last; ++pixel) {
    const float* const from = x + pixel * p.x_pixel;
    float* const to = y + pixel * p.y_pixel;
    Vec r[groups];
    int64_t i = 0;
    for (; i + Vec::width <= each; i += Vec::width) {
      ONNXC_UNROLL for (int j = 0; j < groups; ++j) r[j] = Vec::load(from + j * each + i);
      detail::interleave(r);
      ONNXC_UNROLL for (int j = 0; j < groups; ++j) r[j].store(to + i * groups + j * Vec::width);
    }
    if (i == each) continue;
    ONNXC_UNROLL for (int j = 0; j < groups; ++j) r[j] = Vec::load(from + j * each + i, each - i);
    detail::interleave(r);
    ONNXC_UNROLL for (int j = 0; j < groups; ++j) {
      const int64_t rest = p.channels - i * groups - j * Vec::width;
      if (rest >= Vec::width) r[j].store(to + i * groups + j * Vec::width);
      else if (rest > 0) r[j].store(to + i * groups + j * Vec::width, rest);
    }
  }
}

/// y[i] = x[channels[i]] in each pixel. See the head of the file.
inline void pick_channels(Share share, const float* x, float* y, const int32_t* channels, Passed<PickParams> p) {
  const auto [first, last] = share.slice(p.pixels);
  for (int64_t pixel = first; pixel < last; ++pixel) {
    const float* const from = x + pixel * p.x_pixel;
    float* const to = y + pixel * p.y_pixel;
    for (int64_t i = 0; i < p.channels; ++i) to[i] = from[channels[i]];
  }
}

}  // namespace onnxc
