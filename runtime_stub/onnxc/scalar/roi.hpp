// Pooling of regions of interest: RoiAlign and MaxRoiPool, as ONNX defines them.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct RoiAlignParams {
  double spatial_scale = 1;
  int64_t sampling_ratio = 0;  ///< points along each side of a bin; 0: as many as the bin has pixels
  bool half_pixel = true, maximum = false;
};

/// y [regions, c, h, w]: each bin of each region is the mean (or the maximum of the weighted corners) of points
/// interpolated linearly in x [n, c, height, width], where n is batch[region]. rois [regions, 4]: x1, y1, x2, y2. T is
/// float or double. ONNXC_INDEX_OUT_OF_RANGE for a batch index outside of x, or a region that is not finite or has more
/// than 2^15 points along a bin. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE Status roi_align(Tensor<T> y, Tensor<const T> x, Tensor<const T> rois, const int64_t* batch, RoiAlignParams p,
                                Share share = {}) {
  const int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3], bins_y = y.shape[2], bins_x = y.shape[3],
                columns = rois.shape[1];
  const T scale = static_cast<T>(p.spatial_scale), offset = p.half_pixel ? T(0.5) : T(0);
  const int64_t bins = bins_y * bins_x, places = max_of(channels * bins, 1);  // a region without results is checked, too
  const auto [first, last] = share.slice(y.shape[0] * places);
  for (int64_t region = first / places; region * places < last; ++region) {
    const T* const box = rois.data + region * columns;
    if (batch[region] < 0 || batch[region] >= x.shape[0]) return {ONNXC_INDEX_OUT_OF_RANGE};
    const T left = box[0] * scale - offset, top = box[1] * scale - offset;
    T across = box[2] * scale - offset - left, down = box[3] * scale - offset - top;
    if (!p.half_pixel) {
      across = fn::max(across, T(1));
      down = fn::max(down, T(1));
    }
    const T bin_h = down / static_cast<T>(bins_y), bin_w = across / static_cast<T>(bins_x);
    constexpr T kMost = 1 << 15;
    if (!(std::fabs(left) < T(1e9)) || !(std::fabs(top) < T(1e9)) || !(std::fabs(bin_h) <= kMost) || !(std::fabs(bin_w) <= kMost))
      return {ONNXC_INDEX_OUT_OF_RANGE};
    const int64_t grid_y = p.sampling_ratio > 0 ? p.sampling_ratio : static_cast<int64_t>(std::ceil(bin_h));
    const int64_t grid_x = p.sampling_ratio > 0 ? p.sampling_ratio : static_cast<int64_t>(std::ceil(bin_w));
    const int64_t count = grid_y > 0 && grid_x > 0 ? grid_y * grid_x : 1;
    const int64_t begin = max_of(first - region * places, 0), end = min_of(last - region * places, channels * bins);
    for (int64_t at = begin; at < end; ++at) {
      const int64_t c = at / bins, bin = at % bins;
      const T from_y = top + static_cast<T>(bin / bins_x) * bin_h, from_x = left + static_cast<T>(bin % bins_x) * bin_w;
      const T* const plane = x.data + (batch[region] * channels + c) * height * width;
      T total = 0;
      bool any = false;
      for (int64_t iy = 0; iy < grid_y; ++iy) {
        for (int64_t ix = 0; ix < grid_x; ++ix) {
          T v = from_y + (static_cast<T>(iy) + T(0.5)) * bin_h / static_cast<T>(grid_y);
          T u = from_x + (static_cast<T>(ix) + T(0.5)) * bin_w / static_cast<T>(grid_x);
          T corners[4] = {};
          if (height > 0 && width > 0 && !(v < T(-1) || v > static_cast<T>(height) || u < T(-1) || u > static_cast<T>(width))) {
            v = fn::max(v, T(0));
            u = fn::max(u, T(0));
            int64_t y0 = static_cast<int64_t>(v), x0 = static_cast<int64_t>(u), y1 = y0 + 1, x1 = x0 + 1;
            if (y0 >= height - 1) {
              y0 = y1 = height - 1;
              v = static_cast<T>(y0);
            }
            if (x0 >= width - 1) {
              x0 = x1 = width - 1;
              u = static_cast<T>(x0);
            }
            const T ly = v - static_cast<T>(y0), lx = u - static_cast<T>(x0), hy = 1 - ly, hx = 1 - lx;
            corners[0] = hy * hx * plane[y0 * width + x0];
            corners[1] = hy * lx * plane[y0 * width + x1];
            corners[2] = ly * hx * plane[y1 * width + x0];
            corners[3] = ly * lx * plane[y1 * width + x1];
          }
          if (p.maximum) {
            const T top_corner = fn::max(fn::max(corners[0], corners[1]), fn::max(corners[2], corners[3]));
            total = any ? fn::max(total, top_corner) : top_corner;
          } else {
            total += corners[0] + corners[1] + corners[2] + corners[3];
          }
          any = true;
        }
      }
      y.data[region * places + at] = p.maximum ? total : total / static_cast<T>(count);
    }
  }
  return {};
}

/// y [regions, c, h, w]: the largest value of each bin of each region, 0 for an empty bin. rois [regions, 5]: batch,
/// x1, y1, x2, y2, scaled and rounded half away from zero to pixels, both ends included. ONNXC_INDEX_OUT_OF_RANGE for a
/// batch index outside of x. A share has some elements of y.
template <class T>
ONNXC_ANYWHERE Status max_roi_pool(Tensor<T> y, Tensor<const T> x, Tensor<const T> rois, double spatial_scale, Share share = {}) {
  const int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3], bins_y = y.shape[2], bins_x = y.shape[3];
  const T scale = static_cast<T>(spatial_scale);
  constexpr T kFar = 1e9;  // beyond any image
  const auto pixel = [&](T v) { return fn::cast<int64_t>(fn::clip(std::round(v * scale), -kFar, kFar)); };
  const auto within = [](int64_t v, int64_t most) { return v < 0 ? 0 : v > most ? most : v; };
  const int64_t bins = bins_y * bins_x, places = max_of(channels * bins, 1);  // a region without results is checked, too
  const auto [first, last] = share.slice(y.shape[0] * places);
  for (int64_t region = first / places; region * places < last; ++region) {
    const T* const box = rois.data + region * 5;
    const int64_t n = fn::cast<int64_t>(box[0]);
    if (n < 0 || n >= x.shape[0]) return {ONNXC_INDEX_OUT_OF_RANGE};
    const int64_t left = pixel(box[1]), top = pixel(box[2]), right = pixel(box[3]), bottom = pixel(box[4]);
    const T bin_h = static_cast<T>(max_of(bottom - top + 1, 1)) / static_cast<T>(bins_y),
            bin_w = static_cast<T>(max_of(right - left + 1, 1)) / static_cast<T>(bins_x);
    const int64_t begin = max_of(first - region * places, 0), end = min_of(last - region * places, channels * bins);
    for (int64_t at = begin; at < end; ++at) {
      const int64_t c = at / bins, bin = at % bins;
      const T* const plane = x.data + (n * channels + c) * height * width;
      const auto by = static_cast<T>(bin / bins_x), bx = static_cast<T>(bin % bins_x);
      const int64_t y0 = within(fn::cast<int64_t>(std::floor(by * bin_h)) + top, height),
                    y1 = within(fn::cast<int64_t>(std::ceil((by + 1) * bin_h)) + top, height);
      const int64_t x0 = within(fn::cast<int64_t>(std::floor(bx * bin_w)) + left, width),
                    x1 = within(fn::cast<int64_t>(std::ceil((bx + 1) * bin_w)) + left, width);
      T best = y1 > y0 && x1 > x0 ? plane[y0 * width + x0] : T(0);
      for (int64_t iy = y0; iy < y1; ++iy) {
        for (int64_t ix = x0; ix < x1; ++ix) best = fn::max(best, plane[iy * width + ix]);
      }
      y.data[region * places + at] = best;
    }
  }
  return {};
}

}  // namespace onnxc::scalar
