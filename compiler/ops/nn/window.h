// Sliding windows: what convolutions and pools share.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// The spatial extents of [n, c, spatial...].
inline Extents spatial_extents(const Extents& extents) { return {extents.begin() + 2, extents.end()}; }

/// One window over the spatial axes, with auto_pad resolved.
struct Window {
  DimList kernel;
  std::vector<int64_t> strides, dilations;
  DimList pads_begin, pads_end;
  std::size_t rank() const { return kernel.size(); }
  bool is_static() const { return onnxc::is_static(pads_begin) && onnxc::is_static(pads_end) && onnxc::is_static(kernel); }
};

/// Reads kernel_shape (or `kernel` if it is absent), strides, dilations, pads and auto_pad. `spatial`: the input's
/// spatial extents. Throws Error{Invalid} if lengths or values do not fit.
Window read_window(const Node& node, const Extents& spatial, const DimList& kernel);

/// The output's extents: the number of windows that fit, rounded down (or up, if the last window begins inside the
/// input or its padding at the beginning). Throws Error{Invalid} if none ever fits.
Extents window_output(const Node& node, const Window& window, const Extents& spatial, bool ceil_mode = false);

/// A window along one axis, and the extents there.
struct WindowAxis {
  Dim in = 1, out = 1, kernel = 1;
  int64_t stride = 1, dilation = 1;
  Dim pad_begin = 0, pad_end = 0;
  /// Each position by itself.
  bool is_identity() const { return kernel == Dim(1) && stride == 1 && pad_begin == Dim(0) && pad_end == Dim(0) && in == out; }
};

/// A window over lines, images or volumes, as channels-last kernels get it: n images of y rows and x columns, and of
/// depth z if they are volumes.
struct Sliding {
  Dim n;
  WindowAxis z, y, x;
  bool is_deep() const { return !z.is_identity(); }
  /// The window of y and x alone.
  Window plane() const;
};

/// `x` and `y` are the extents of the operand and the result, of rank 3 to 5. Volumes whose slices are independent
/// count as more images. Volumes whose pixels are independent count as images of `d` rows.
Sliding sliding(const Window& window, const Extents& x, const Extents& y);

}  // namespace onnxc
