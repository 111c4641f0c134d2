// What a Resize node does to each axis.
#pragma once
#include "compiler/ops/operator.h"
#include "runtime_stub/onnxc/scalar/resize.hpp"

namespace onnxc {

struct ResizedAxis {
  int axis;
  Dim in, out;
  float scale = 0;              ///< 0: out / in
  int roi_at = -1;              ///< index of its start among the region's elements, and of its scale among the scales
  bool run_time_scale = false;  ///< input 2 tells the scale, when the model runs
  bool is_static() const { return in.is_constant() && out.is_constant(); }
};

struct ResizePlan {
  std::vector<ResizedAxis> axes;  ///< those that change
  Extents out;                    ///< of all axes
  int roi_axes = 0;               ///< how many starts, then as many ends, the region has
};

/// Throws Error{Invalid} or Error{Unsupported} that names the node.
ResizePlan plan_resize(const Graph& graph, const Node& node);

/// How many sources a position has at most.
Dim taps_of(const Node& node, const ResizedAxis& axis);

/// The attributes, and what belongs to the axis. Without the region. taps are 0 where only a run tells them.
ResizeTableParams table_params(const Node& node, const ResizedAxis& axis);

bool is_nearest(const Node& node);

}  // namespace onnxc
