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

/// Reads kernel_shape (or `kernel` where it is absent), strides, dilations, pads and auto_pad; throws Error{Invalid} on lengths and values that
/// do not fit. `spatial`: the input's spatial extents.
Window read_window(const Node& node, const Extents& spatial, const DimList& kernel);

/// Extents of the output: floor (or ceil, where the last window must start inside the input or its begin padding) of the windows that fit.
/// Throws Error{Invalid} where none ever does.
Extents window_output(const Node& node, const Window& window, const Extents& spatial, bool ceil_mode = false);

/// A window along one axis, and the extents there.
struct WindowAxis {
  Dim in = 1, out = 1, kernel = 1;
  int64_t stride = 1, dilation = 1;
  Dim pad_begin = 0, pad_end = 0;
  /// Each position by itself.
  bool is_plain() const { return kernel == Dim(1) && stride == 1 && pad_begin == Dim(0) && pad_end == Dim(0) && in == out; }
};

/// A window over lines, images or volumes as channels-last kernels are told of it: n images of y rows and x columns, and the depth z of volumes.
struct Sliding {
  Dim n;
  WindowAxis z, y, x;
  bool is_deep() const { return !z.is_plain(); }
  /// Of y and x alone.
  Window plane() const;
};

/// `x` and `y` are the extents of the operand and the result, of rank 3 to 5. Volumes whose slices do not meet are images; those whose pixels do not, images of
/// `d` rows.
Sliding sliding(const Window& window, const Extents& x, const Extents& y);

}  // namespace onnxc
