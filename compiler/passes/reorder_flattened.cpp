// At the end of a convolutional network, images are often flattened before a matrix product with constant weights.
// Channels-last images would have to be transposed to ONNX's order for that. Instead, the rows of the weights can be
// put into the order of the images:
//
//   f = Reshape x [n, c h w]                t = Transpose x [0, 2, 3, 1]
//   y = MatMul f w             becomes      f = Reshape t [n, h w c]
//                                           y = MatMul f w'
//
// where row (i, ci) of w' is row (ci, i) of w. The Transpose of a channels-last image without gaps is a view of it.
//
// Results change only by the order of summation. Weights beyond kMostWeightBytes stay as they are: reading them costs
// far more than transposing an image.
#include <algorithm>
#include <vector>

#include "compiler/ir/layout.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/assign_layouts.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

constexpr std::size_t kMostWeightBytes = 16 << 20;
// Layouts depend on the lanes only for images of few channels, which are cheap to transpose.
constexpr int kLanes = 16;

/// Whether the node reshapes [n, c, spatial...] to [n, c spatial...], where a channels-last image would have another
/// order.
bool flattens(const Graph& graph, const Node& node) {
  if (!(node.is("Reshape") || node.is("Flatten")) || node.epilogue) return false;
  const Type &image = graph[node.input(0)].type, &flat = graph[node.outputs[0]].type;
  if (!is_image(image) || flat.rank() != 2 || !(flat.extents[0] == image.extents[0])) return false;
  const auto& e = image.extents;
  const bool known = std::all_of(e.begin() + 1, e.end(), [](Dim d) { return d.is_constant() && d.value() > 0; });
  return known && e[1].value() > 1 && flat.extents[1].is_constant() && flat.extents[1].value() > e[1].value();
}

/// Whether the node is a MatMul by constant weights [k, m] that are small enough to be worth it.
bool takes_any_order(const Graph& graph, const Node& node, ValueId flat) {
  if (!node.is("MatMul") || !node.domain.empty() || node.input(0) != flat || node.input(1) == flat || node.epilogue) return false;
  const TensorData* const w = graph.constant(node.input(1));
  return w != nullptr && w->type == ElementType::F32 && w->shape.size() == 2 && w->bytes.size() <= kMostWeightBytes;
}

/// The rows of w in the order of a channels-last image.
Constant reordered(const TensorData& w, int64_t channels) {
  auto result = std::make_shared<TensorData>(w);
  const std::span<const float> from = w.as<float>();
  const std::span<float> to = result->as<float>();
  const int64_t columns = w.shape[1], pixels = w.shape[0] / channels;
  for (int64_t row = 0; row < w.shape[0]; ++row) {
    const auto source =
        from.subspan(static_cast<std::size_t>((row % channels * pixels + row / channels) * columns), static_cast<std::size_t>(columns));
    std::ranges::copy(source, to.begin() + static_cast<std::ptrdiff_t>(row * columns));
  }
  return result;
}

}  // namespace

Graph reorder_flattened(Graph graph) {
  const PerValue<int> uses = use_counts(graph);
  const PerValue<Layout> layouts = assign_layouts(graph, kLanes);
  int fresh = first_fresh(graph);
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (auto& [name, region] : graph.nodes[i].regions) *region = reorder_flattened(std::move(*region));
    if (flattens(graph, graph.nodes[i]) && layouts[graph.nodes[i].input(0)].channels_last) {
      const ValueId image = graph.nodes[i].input(0), flat = graph.nodes[i].outputs[0];
      std::vector<std::size_t> readers;
      for (std::size_t k = i + 1; k < graph.nodes.size(); ++k) {
        if (takes_any_order(graph, graph.nodes[k], flat)) readers.push_back(k);
      }
      if (!readers.empty() && static_cast<int>(readers.size()) == uses[flat]) {
        GraphBuilder b(graph, graph[image].name, fresh);
        std::vector<int64_t> order{0};
        for (int64_t axis = 2; axis < graph[image].type.rank(); ++axis) order.push_back(axis);
        order.push_back(1);
        graph.nodes[i].inputs[0] = b.op("Transpose", {image}, {{"perm", order}});
        std::ranges::move(b.take(), std::back_inserter(nodes));
        for (const std::size_t k : readers) {
          ValueId& w = graph.nodes[k].inputs[1];
          w = graph.add_constant(graph[w].name + "_reordered", reordered(*graph.constant(w), graph[image].type.extents[1].value()));
        }
      }
    }
    nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
  return eliminate_dead_code(std::move(graph));
}

}  // namespace onnxc
