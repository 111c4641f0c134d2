// Col2Im, as ONNX defines it.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"
#include "position.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct Col2ImParams {
  Ints block, columns;            ///< extents of a block, and how many blocks there are along each spatial axis
  Ints strides, dilations, pads;  ///< pads: those before each axis
};

/// y[n, c, i] = sum of x[n, c, b, l] over all elements b of blocks l that lie at pixel i: l * strides - pads + b * dilations == i. x is
/// [n, c * blocks, columns] with b before l, both row-major. What falls outside the image is dropped. No
/// aliasing. A share has some of the images (n, c).
template <class T>
ONNXC_ANYWHERE void col2im(Tensor<T> y, const T* x, const Col2ImParams& params, Share share = {}) {
  const int axes = params.block.size;
  const int64_t images = y.shape.count(0, 2), pixels = y.shape.count(2, y.shape.rank);
  Position element, column;
  element.shape.rank = column.shape.rank = axes;
  for (int k = 0; k < axes; ++k) {
    element.shape[k] = params.block[k];
    column.shape[k] = params.columns[k];
  }
  const int64_t elements = element.shape.count(), columns = column.shape.count();
  const auto [first, last] = share.slice(images);
  for (int64_t image = first; image < last; ++image) {
    T* const to = y.data + image * pixels;
    for (int64_t i = 0; i < pixels; ++i) to[i] = fn::cast<T>(0);
    for (int64_t b = 0; b < elements; ++b, element.next()) {
      for (int64_t l = 0; l < columns; ++l, column.next()) {
        int64_t at = 0;
        for (int k = 0; k < axes && at >= 0; ++k) {
          const int64_t i = column[k] * params.strides[k] - params.pads[k] + element[k] * params.dilations[k];
          at = i < 0 || i >= y.shape[2 + k] ? -1 : at * y.shape[2 + k] + i;
        }
        if (at >= 0) to[at] = fn::add(to[at], x[(image * elements + b) * columns + l]);
      }
    }
  }
}

}  // namespace onnxc::scalar
