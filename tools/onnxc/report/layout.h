// The positions of a graph's nodes in the plane, and the curves of its edges.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace onnxc {

/// In points of 1/72 inch; x to the right, y down.
struct Point {
  double x = 0, y = 0;
};

/// Boxes to be placed, and edges between them, which lead downwards.
struct Diagram {
  std::vector<Point> sizes;  ///< width and height of each box
  std::vector<std::pair<int, int>> edges;
};

struct DiagramLayout {
  std::vector<Point> centres;
  /// For each edge a Bézier curve, 1 + 3n points. Empty: from the bottom of one box to the top of the other, in any
  /// way.
  std::vector<std::vector<Point>> curves;
  std::string by;      ///< "dot" or "layers"
  std::string remark;  ///< why it was not dot, and what would help; one line
};

/// Uses Graphviz's dot if it is installed, finishes in time, and can take a diagram of this size; otherwise layers.
DiagramLayout lay_out(const Diagram& diagram);

/// Each box lies below all boxes that lead to it, near the middle of its neighbours. Boxes of a layer do not overlap.
/// Except for sorting layers, the time is linear in the edges. Cycles are cut anywhere.
DiagramLayout lay_out_in_layers(const Diagram& diagram);

}  // namespace onnxc
