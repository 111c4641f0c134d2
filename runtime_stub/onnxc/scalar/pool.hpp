// Pooling in any number of spatial dimensions, as ONNX defines it.
//
// x [n, c, spatial...], y [n, c, outputs...], row-major. Window o covers x at o * stride - pad + k * dilation for k in
// [0, kernel); positions outside of x do not count.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct PoolParams {
  Ints kernel, strides, dilations, pads, pads_end;  ///< one value for each spatial axis
  bool count_include_pad = false;                   ///< average: divides by the window's positions in the padded input
  bool column_major = false;                        ///< indices: the first spatial axis runs fastest
  double p = 2;                                     ///< LpPool's norm
};

namespace detail {

/// Calls begin(plane), visit(offset in the plane, position) for each pixel of the window, and end(o, padded count), for
/// each output of this share.
template <class Begin, class Visit, class End>
ONNXC_ANYWHERE void for_windows(Share share, const Shape& y, const Shape& x, const PoolParams& p, Begin begin, Visit visit, End end) {
  const int rank = x.rank - 2;
  const int64_t outputs = y.count(2, y.rank), pixels = x.count(2, x.rank);
  const auto [first, last] = share.slice(y.count());
  for (int64_t o = first; o < last; ++o) {
    int64_t origin[kMaxRank], low[kMaxRank], high[kMaxRank], k[kMaxRank], rest = o % outputs, padded = 1;
    bool empty = false;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t d = p.dilations[axis], extent = x[axis + 2];
      origin[axis] = rest % y[axis + 2] * p.strides[axis] - p.pads[axis];
      rest /= y[axis + 2];
      // Taps [low, high) lie inside.
      low[axis] = k[axis] = origin[axis] >= 0 ? 0 : (-origin[axis] + d - 1) / d;
      const int64_t inside = origin[axis] >= extent ? 0 : (extent - origin[axis] + d - 1) / d;
      high[axis] = inside < p.kernel[axis] ? inside : p.kernel[axis];
      empty = empty || low[axis] >= high[axis];
      const int64_t room = extent + p.pads_end[axis] - origin[axis], taps = room <= 0 ? 0 : (room + d - 1) / d;
      padded *= taps < p.kernel[axis] ? taps : p.kernel[axis];
    }
    begin(o / outputs * pixels);
    while (!empty) {
      int64_t at = 0, position[kMaxRank];
      for (int axis = 0; axis < rank; ++axis) {
        position[axis] = origin[axis] + k[axis] * p.dilations[axis];
        at = at * x[axis + 2] + position[axis];
      }
      visit(at, position);
      int axis = rank - 1;
      for (; axis >= 0 && ++k[axis] == high[axis]; --axis) k[axis] = low[axis];
      empty = axis < 0;
    }
    end(o, padded);
  }
}

}  // namespace detail

/// The largest value, NaN where there is one; the type's lowest value for a window without pixels. `indices`, unless
/// null, receives the place of the (first) largest value in all of x, -1 for a window without pixels.
template <class T>
ONNXC_ANYWHERE void max_pool(Share share, Tensor<T> y, int64_t* indices, Tensor<const T> x, PoolParams p) {
  const int rank = x.shape.rank - 2;
  const T* plane = nullptr;
  int64_t base = 0, best_at = -1;
  T best{};
  detail::for_windows(
      share, y.shape, x.shape, p,
      [&](int64_t offset) {
        plane = x.data + offset;
        base = offset;
        best_at = -1;
        if constexpr (std::is_integral_v<T>) best = std::numeric_limits<T>::lowest();
        else best = fn::cast<T>(-std::numeric_limits<double>::infinity());
      },
      [&](int64_t at, const int64_t* position) {
        const T v = plane[at];
        if (best_at >= 0 && !(fn::cast<double>(v) > fn::cast<double>(best)) &&
            !(fn::is_nan(fn::cast<double>(v)) && !fn::is_nan(fn::cast<double>(best))))
          return;
        best = v;
        best_at = base + at;
        if (!p.column_major) return;
        best_at = base;
        for (int64_t axis = 0, step = 1; axis < rank; step *= x.shape[static_cast<int>(axis) + 2], ++axis) best_at += position[axis] * step;
      },
      [&](int64_t o, int64_t) {
        y.data[o] = best;
        if (indices != nullptr) indices[o] = best_at;
      });
}

/// The mean of the pixels, 0 for a window without. Sums in double.
template <class T>
ONNXC_ANYWHERE void average_pool(Share share, Tensor<T> y, Tensor<const T> x, PoolParams p) {
  const T* plane = nullptr;
  double sum = 0;
  int64_t count = 0;
  detail::for_windows(
      share, y.shape, x.shape, p,
      [&](int64_t offset) {
        plane = x.data + offset;
        sum = 0;
        count = 0;
      },
      [&](int64_t at, const int64_t*) {
        sum += fn::cast<double>(plane[at]);
        ++count;
      },
      [&](int64_t o, int64_t padded) {
        const int64_t n = p.count_include_pad ? padded : count;
        y.data[o] = fn::cast<T>(sum / static_cast<double>(n > 0 ? n : 1));
      });
}

/// (sum |x|^p)^(1/p) over the pixels. In double.
template <class T>
ONNXC_ANYWHERE void lp_pool(Share share, Tensor<T> y, Tensor<const T> x, PoolParams p) {
  const T* plane = nullptr;
  double sum = 0;
  detail::for_windows(
      share, y.shape, x.shape, p,
      [&](int64_t offset) {
        plane = x.data + offset;
        sum = 0;
      },
      [&](int64_t at, const int64_t*) {
        const double v = std::fabs(fn::cast<double>(plane[at]));
        sum += p.p == 1 ? v : p.p == 2 ? v * v : std::pow(v, p.p);
      },
      [&](int64_t o, int64_t) {
        y.data[o] = fn::cast<T>(p.p == 1 ? sum : p.p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p.p));
      });
}

}  // namespace onnxc::inline ONNXC_ISA::scalar
