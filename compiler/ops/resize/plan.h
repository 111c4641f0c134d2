// What a Resize node does to each axis.
#pragma once
#include "compiler/ops/operator.h"
#include "runtime_stub/onnxc/scalar/resize.hpp"

namespace onnxc {

struct ResizedAxis {
  int axis;
  Dim in, out;
  float scale = 0;              ///< 0: out / in
  int roi_at = -1;              ///< index of its start in the region, and of its scale in the scales
  bool run_time_scale = false;  ///< input 2 has the scale, which only a run knows
  bool is_static() const { return in.is_constant() && out.is_constant(); }
};

struct ResizePlan {
  std::vector<ResizedAxis> axes;  ///< those that change
  Extents out;                    ///< of all axes
  int roi_axes = 0;               ///< the number of starts, and of ends, in the region
};

/// Throws Error{Invalid} or Error{Unsupported} that names the node.
ResizePlan plan_resize(const Graph& graph, const Node& node);

/// The largest number of sources of a position.
Dim taps_of(const Node& node, const ResizedAxis& axis);

/// The attributes and the axis's own parameters, without the region. taps is 0 if only a run knows it.
ResizeTableParams table_params(const Node& node, const ResizedAxis& axis);

bool is_nearest(const Node& node);

}  // namespace onnxc
