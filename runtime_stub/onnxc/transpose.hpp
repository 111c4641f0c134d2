// Permuting axes. The output is written in order; what the input does along the output's innermost axis decides how:
//
//   stride 1        rows are copied
//   another axis of the output has stride 1 in the input, elements of 4 bytes:
//                   those two axes as a matrix, in blocks of Vec::width x Vec::width that are transposed in registers
//   otherwise       element by element
//
//   transpose(share, x, y, {n, h, w, c}, {c * h * w, w, 1, h * w});   // NCHW to NHWC: output shape, x's stride along each output axis
//   transpose_matrix(share, x, y, {.batch = n, .rows = h * w, .cols = c, ...});   // the same with a pixel stride
#pragma once
#include "passed.hpp"
#include "strided.hpp"
#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

/// y[b][i][j] = x[b][j][i]: `rows` x `cols` is the output. Element (i, j) lies at y[i * y_row + j], and at x[j * x_row + i].
struct TransposeParams {
  Extent batch = 1, rows, cols;
  Extent x_row, y_row;
  Extent x_batch = 0, y_batch = 0;
};

namespace detail {

/// Lanes of a and b alternately: of the lower halves, or of the upper ones.
template <bool upper, class Raw>
ONNXC_INLINE Raw zip(Raw a, Raw b) {
  constexpr int h = upper ? int(sizeof(Raw) / 8) : 0, w = int(sizeof(Raw) / 4);
  if constexpr (w == 1) return upper ? b : a;
  else if constexpr (w == 16)
    return __builtin_shufflevector(a, b, h, w + h, h + 1, w + h + 1, h + 2, w + h + 2, h + 3, w + h + 3, h + 4, w + h + 4, h + 5, w + h + 5,
                                   h + 6, w + h + 6, h + 7, w + h + 7);
  else if constexpr (w == 8) return __builtin_shufflevector(a, b, h, w + h, h + 1, w + h + 1, h + 2, w + h + 2, h + 3, w + h + 3);
  else return __builtin_shufflevector(a, b, h, w + h, h + 1, w + h + 1);
}
template <bool upper>
ONNXC_INLINE Vec zip(Vec a, Vec b) {
  return Vec::from_raw(zip<upper>(a.raw(), b.raw()));
}

/// Transposes a square block: lane j of r[i] and lane i of r[j] change places. Each round zips the first half of the
/// vectors with the second. After log2(width) rounds every index has had its row and column bits exchanged.
ONNXC_INLINE void transpose_lanes(Vec (&r)[Vec::width]) {
  ONNXC_UNROLL for (int round = 1; round < Vec::width; round *= 2) {
    Vec next[Vec::width];
    ONNXC_UNROLL for (int i = 0; i < Vec::width / 2; ++i) {
      next[2 * i] = zip<false>(r[i], r[i + Vec::width / 2]);
      next[2 * i + 1] = zip<true>(r[i], r[i + Vec::width / 2]);
    }
    ONNXC_UNROLL for (int i = 0; i < Vec::width; ++i) r[i] = next[i];
  }
}

/// One block: y[i * y_row + j] = x[j * x_row + i] for i < rows, j < cols, both at most Vec::width.
ONNXC_INLINE void transpose_block(const float* x, float* y, int64_t rows, int64_t cols, int64_t x_row, int64_t y_row) {
  Vec r[Vec::width];
  if (rows >= Vec::width && cols >= Vec::width) {
    ONNXC_UNROLL for (int j = 0; j < Vec::width; ++j) r[j] = Vec::load(x + j * x_row);
    transpose_lanes(r);
    ONNXC_UNROLL for (int i = 0; i < Vec::width; ++i) r[i].store(y + i * y_row);
    return;
  }
  ONNXC_UNROLL for (int j = 0; j < Vec::width; ++j) r[j] = j < cols ? Vec::load(x + j * x_row, rows) : Vec::all(0.0f);
  transpose_lanes(r);
  ONNXC_UNROLL for (int i = 0; i < Vec::width; ++i) {
    if (i < rows) r[i].store(y + i * y_row, cols);
  }
}

}  // namespace detail

/// See TransposeParams. x must not overlap y; nothing outside of the two matrices is touched.
inline void transpose_matrix(Share share, const float* x, float* y, Passed<TransposeParams> p) {
  const int64_t strips = (p.rows + Vec::width - 1) / Vec::width;
  const auto [first, last] = share.slice(p.batch * strips);
  for (int64_t strip = first; strip < last; ++strip) {
    const int64_t b = strip / strips, i = strip % strips * Vec::width, rows = p.rows - i < Vec::width ? p.rows - i : Vec::width;
    const float* const from = x + b * p.x_batch + i;
    float* const to = y + b * p.y_batch + i * p.y_row;
    for (int64_t j = 0; j < p.cols; j += Vec::width)
      detail::transpose_block(from + j * p.x_row, to + j, rows, p.cols - j < Vec::width ? p.cols - j : Vec::width, p.x_row, p.y_row);
  }
}

/// strided_copy of elements of four bytes where the last axis is contiguous in `to` and axis `unit`, another one, in `from`.
template <class T>
void transposing_copy(Share share, Passed<Shape> shape, int64_t unit, T* to, Passed<Ints> to_strides, const T* from,
                      Passed<Ints> from_strides) {
  static_assert(sizeof(T) == sizeof(float));
  const int inner = shape.rank - 1, u = static_cast<int>(unit);
  if (shape.count() <= 0) return;
  Shape others = shape;
  others[u] = others[inner] = 1;
  const int64_t boxes = others.count();
  const bool split = boxes < share.count;  // too few boxes: share out the strips of each
  const auto [first, last] = split ? Share::Range{0, boxes} : share.slice(boxes);
  for (int64_t box = first; box < last; ++box) {
    transpose_matrix(split ? share : Share{}, reinterpret_cast<const float*>(from + strided_offset(others, shape.rank, from_strides, box)),
                     reinterpret_cast<float*>(to + strided_offset(others, shape.rank, to_strides, box)),
                     {.rows = shape[u], .cols = shape[inner], .x_row = from_strides[inner], .y_row = to_strides[u]});
  }
}

/// y, contiguous of `shape`, from x with a stride for each axis of y; any trivially copyable T. See the head of the file.
template <class T>
void transpose(Share share, const T* x, T* y, Passed<Shape> shape, Passed<Ints> strides) {
  if (shape.count() == 0) return;
  if (shape.rank == 0) {
    *y = *x;
    return;
  }
  const int inner = shape.rank - 1;
  const int64_t length = shape[inner], step = strides[inner], rows = shape.count(0, inner);
  if constexpr (sizeof(T) == 4) {
    int unit = -1;  // the axis along which x is contiguous
    for (int axis = 0; axis < inner; ++axis) {
      if (strides[axis] == 1 && shape[axis] > 1) unit = axis;
    }
    if (step != 1 && length > 1 && unit >= 0) {
      Ints y_strides;
      y_strides.size = shape.rank;
      for (int axis = 0; axis < shape.rank; ++axis) y_strides[axis] = shape.count(axis + 1, shape.rank);
      return transposing_copy(share, shape, unit, y, y_strides, x, strides);
    }
  }
  const auto [first, last] = share.slice(rows);
  const auto copy_row = [&](int64_t row, const T* from) {
    T* const to = y + row * length;
    if (step == 1) {
      __builtin_memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(length) * sizeof(T));
    } else {
      for (int64_t i = 0; i < length; ++i) to[i] = from[i * step];
    }
  };
  walk(shape, inner, first, last, copy_row, Walked{x, strides});
}

}  // namespace onnxc
