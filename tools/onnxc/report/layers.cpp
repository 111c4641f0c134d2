// A simple layered layout after Sugiyama. Layers follow from longest paths. In each layer, boxes are sorted by the
// mean of their neighbours in the layer swept before, placed at that mean, and moved right until they do not overlap;
// then the layer is moved back by the mean of these moves.
#include <algorithm>
#include <numeric>

#include "tools/onnxc/report/layout.h"

namespace onnxc {
namespace {

constexpr double kGapX = 20, kGapY = 34;
constexpr int kSweeps = 6;  // down and up in turn; more change little

struct Neighbours {
  std::vector<std::vector<int>> above, below;
};

Neighbours neighbours(const Diagram& diagram) {
  Neighbours n{std::vector<std::vector<int>>(diagram.sizes.size()), std::vector<std::vector<int>>(diagram.sizes.size())};
  for (const auto& [from, to] : diagram.edges) {
    n.below[static_cast<std::size_t>(from)].push_back(to);
    n.above[static_cast<std::size_t>(to)].push_back(from);
  }
  return n;
}

/// The boxes of each layer, by Kahn's algorithm. Boxes on a cycle join the first layer.
std::vector<std::vector<int>> layers_of(const Neighbours& n) {
  std::vector<std::size_t> layer(n.above.size(), 0);
  std::vector<std::size_t> waiting(n.above.size());
  std::vector<int> ready;
  for (std::size_t i = 0; i < n.above.size(); ++i) {
    waiting[i] = n.above[i].size();
    if (waiting[i] == 0) ready.push_back(static_cast<int>(i));
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const auto from = static_cast<std::size_t>(ready[next]);
    for (int to : n.below[from]) {
      auto& l = layer[static_cast<std::size_t>(to)];
      l = std::max(l, layer[from] + 1);
      if (--waiting[static_cast<std::size_t>(to)] == 0) ready.push_back(to);
    }
  }
  std::vector<std::vector<int>> layers;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    const std::size_t l = waiting[i] == 0 ? layer[i] : 0;
    if (layers.size() <= l) layers.resize(l + 1);
    layers[l].push_back(static_cast<int>(i));
  }
  return layers;
}

void place(std::vector<int>& layer, const std::vector<std::vector<int>>& toward, const std::vector<Point>& sizes,
           std::vector<Point>& centres) {
  const auto wanted = [&](int box) {
    const auto& near = toward[static_cast<std::size_t>(box)];
    if (near.empty()) return centres[static_cast<std::size_t>(box)].x;
    double sum = 0;
    for (int other : near) sum += centres[static_cast<std::size_t>(other)].x;
    return sum / static_cast<double>(near.size());
  };
  std::vector<std::pair<double, int>> order;
  for (int box : layer) order.emplace_back(wanted(box), box);
  std::ranges::stable_sort(order, {}, &std::pair<double, int>::first);
  double free = -1e300, moved = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& [x, box] = order[i];
    layer[i] = box;
    const double half = sizes[static_cast<std::size_t>(box)].x / 2;
    centres[static_cast<std::size_t>(box)].x = std::max(x, free + half);
    moved += centres[static_cast<std::size_t>(box)].x - x;
    free = centres[static_cast<std::size_t>(box)].x + half + kGapX;
  }
  for (int box : layer) centres[static_cast<std::size_t>(box)].x -= moved / static_cast<double>(layer.size());
}

}  // namespace

DiagramLayout lay_out_in_layers(const Diagram& diagram) {
  DiagramLayout layout{std::vector<Point>(diagram.sizes.size()), std::vector<std::vector<Point>>(diagram.edges.size()), "layers", ""};
  const Neighbours n = neighbours(diagram);
  std::vector<std::vector<int>> layers = layers_of(n);
  double y = 0;
  for (auto& layer : layers) {
    double height = 0;
    for (int box : layer) height = std::max(height, diagram.sizes[static_cast<std::size_t>(box)].y);
    for (int box : layer) layout.centres[static_cast<std::size_t>(box)].y = y + height / 2;
    y += height + kGapY;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (sweep % 2 == 0) {
      for (auto& layer : layers) place(layer, n.above, diagram.sizes, layout.centres);
    } else {
      for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) place(*layer, n.below, diagram.sizes, layout.centres);
    }
  }
  double left = 0;
  for (std::size_t i = 0; i < diagram.sizes.size(); ++i) left = std::min(left, layout.centres[i].x - diagram.sizes[i].x / 2);
  for (Point& p : layout.centres) p.x -= left;
  return layout;
}

}  // namespace onnxc
