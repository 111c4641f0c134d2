// Sliding windows: what convolutions and pools share.
#pragma once
#include "compiler/ops/operator.h"

namespace onnxc {

/// One window over the spatial axes, with auto_pad resolved.
struct Window {
  std::vector<Dim> kernel;
  std::vector<int64_t> strides, dilations;
  std::vector<Dim> pads_begin, pads_end;
  std::size_t rank() const { return kernel.size(); }
  bool is_static() const { return onnxc::is_static(pads_begin) && onnxc::is_static(pads_end) && onnxc::is_static(kernel); }
};

/// Reads kernel_shape (or `kernel` where it is absent), strides, dilations, pads and auto_pad; throws Error{Invalid} on lengths and values that
/// do not fit. `spatial`: the input's spatial extents.
Window read_window(const Node& node, const Extents& spatial, const std::vector<Dim>& kernel);

/// Extents of the output: floor (or ceil, where the last window must start inside the input or its begin padding) of the windows that fit.
/// Throws Error{Invalid} where none ever does.
Extents window_output(const Node& node, const Window& window, const Extents& spatial, bool ceil_mode = false);

/// For kernels in two dimensions: a one-dimensional window gets a first axis of extent 1.
Window as_two_dimensional(Window window);

}  // namespace onnxc
