// Where the nodes of a graph stand on paper, and how its edges run.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace onnxc {

/// In points of 1/72 inch; x to the right, y down.
struct Point {
  double x = 0, y = 0;
};

/// Boxes to be placed, and edges between them, from above to below.
struct Diagram {
  std::vector<Point> sizes;  ///< width and height of each box
  std::vector<std::pair<int, int>> edges;
};

struct Layout {
  std::vector<Point> centres;
  /// Of each edge: a Bézier curve, 1 + 3n points; empty: from the bottom of one box to the top of the other, as the viewer likes.
  std::vector<std::vector<Point>> curves;
  std::string by;      ///< "dot" or "layers"
  std::string remark;  ///< why it was not dot, and what would help; one line
};

/// By Graphviz's dot where it is installed, done in time and the diagram no larger than it can take; else in layers.
Layout lay_out(const Diagram& diagram);

/// Each box below all that lead to it, near the middle of its neighbours; boxes of a layer do not overlap. Takes time linear in the edges, but for sorting
/// layers. Cycles are cut anywhere.
Layout lay_out_in_layers(const Diagram& diagram);

}  // namespace onnxc
