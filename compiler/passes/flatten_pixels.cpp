// Networks that come from TensorFlow read images of bytes as [n, h, w, c] and transpose them into ONNX's order. A convolution of bytes by few channels reads
// neighbours in a row (conv_quads_planar), and in such an image the channels of a pixel are neighbours as they are:
//
//   t = Transpose x [0, 3, 1, 2]                             t = Reshape x [n, 1, h, w c]
//   y = ByteConv t w, w: [m, c, kh, kw]         becomes      y = ByteConv t w', w': [m, 1, kh, kw c]
//
// where column (kx, ci) of w' is column kx of channel ci of w, and strides and pads along the row are c times as many. Elementwise steps between them stay.
#include <algorithm>
#include <vector>

#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

constexpr int64_t kMostChannels = 3;  // images of more are read by pixels

using Readers = PerValue<std::vector<std::size_t>>;

Readers readers_of(const Graph& graph) {
  Readers readers(graph.values.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const auto* list : {&graph.nodes[i].inputs, &graph.nodes[i].captures}) {
      for (const ValueId v : *list) {
        if (v != kAbsent) readers[v].push_back(i);
      }
    }
  }
  return readers;
}

bool transposes_pixels(const Graph& graph, const Node& node) {
  if (!node.is("Transpose") || node.epilogue || node.integers("perm") != std::vector<int64_t>{0, 3, 1, 2}) return false;
  const Type& to = graph[node.outputs[0]].type;
  const bool known = std::ranges::all_of(to.extents.begin() + 1, to.extents.end(), [](Dim d) { return d.is_constant() && d.value() > 0; });
  return (to.element == ElementType::U8 || to.element == ElementType::I8) && known && to.extents[1].value() <= kMostChannels;
}

bool reads_rows(const Graph& graph, const Node& node, ValueId image) {
  if (node.domain != "onnxc" || node.op != "ByteConv" || node.input(0) != image || node.epilogue || node.has("auto_pad")) return false;
  const TensorData* const w = graph.constant(node.input(1));
  return w != nullptr && w->shape.size() == 4 && node.integer("group", 1) == 1 && node.integers("dilations", {1, 1})[1] == 1;
}

/// What follows such an image up to convolutions.
struct Followers {
  std::vector<std::size_t> maps, convolutions;
};

/// False if something else reads it.
bool follow(const Graph& graph, const Readers& readers, ValueId image, Followers& found) {
  if (std::ranges::find(graph.outputs, image) != graph.outputs.end()) return false;
  return std::ranges::all_of(readers[image], [&](std::size_t i) {
    const Node& node = graph.nodes[i];
    if (reads_rows(graph, node, image)) {
      found.convolutions.push_back(i);
      return true;
    }
    const auto is_image_or_number = [&](ValueId v) {
      return v == image || (graph.constant(v) != nullptr && graph.constant(v)->count() == 1);
    };
    if (!node.is_map() || !std::ranges::all_of(node.inputs, is_image_or_number)) return false;
    found.maps.push_back(i);
    return follow(graph, readers, node.outputs[0], found);
  });
}

/// [m][c][kh][kw] as [m][1][kh][kw c].
Constant flattened(const TensorData& w) {
  auto result = std::make_shared<TensorData>(w);
  const int64_t m = w.shape[0], c = w.shape[1], kh = w.shape[2], kw = w.shape[3];
  result->shape = {m, 1, kh, kw * c};
  std::size_t to = 0;
  for (int64_t o = 0; o < m; ++o) {
    for (int64_t ky = 0; ky < kh; ++ky) {
      for (int64_t kx = 0; kx < kw; ++kx) {
        for (int64_t ci = 0; ci < c; ++ci) result->bytes[to++] = w.bytes[static_cast<std::size_t>(((o * c + ci) * kh + ky) * kw + kx)];
      }
    }
  }
  return result;
}

void flatten_columns(Graph& graph, Node& conv) {
  const ValueId w = conv.inputs[1];
  const int64_t c = graph.constant(w)->shape[1];
  std::vector<int64_t> strides = conv.integers("strides", {1, 1}), pads = conv.integers("pads", {0, 0, 0, 0});
  for (int64_t* along_row : {&strides[1], &pads[1], &pads[3]}) *along_row *= c;
  conv.inputs[1] = graph.add_constant(graph[w].name + "_rows", flattened(*graph.constant(w)));
  conv.attributes["strides"] = std::move(strides);
  conv.attributes["pads"] = std::move(pads);
  if (conv.has("kernel_shape"))
    conv.attributes["kernel_shape"] =
        std::vector<int64_t>(graph.constant(conv.inputs[1])->shape.begin() + 2, graph.constant(conv.inputs[1])->shape.end());
}

}  // namespace

Graph flatten_pixels(Graph graph) {
  const Readers readers = readers_of(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    for (auto& [name, region] : node.regions) *region = flatten_pixels(std::move(*region));
    if (!transposes_pixels(graph, node)) continue;
    const ValueId image = node.outputs[0];
    Followers found;
    if (!follow(graph, readers, image, found) || found.convolutions.empty()) continue;
    const Extents from = graph[image].type.extents, rows{from[0], Dim(1), from[2], from[3] * from[1]};
    graph[image].type.extents = rows;
    for (const std::size_t k : found.maps) graph[graph.nodes[k].outputs[0]].type.extents = rows;
    for (const std::size_t k : found.convolutions) flatten_columns(graph, graph.nodes[k]);
    node.op = "Reshape";
    node.attributes.clear();
    node.inputs.push_back(graph.add_constant(node.name + "_rows", std::vector<int64_t>{0, 1, rows[2].value(), rows[3].value()}));
  }
  return graph;
}

}  // namespace onnxc
