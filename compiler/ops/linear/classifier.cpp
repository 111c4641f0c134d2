#include "compiler/ops/linear/classifier.h"

#include <algorithm>

#include "compiler/lowering/narrow.h"
#include "compiler/ops/nn/conv_call.h"
#include "compiler/ops/nn/conv_chain.h"
#include "compiler/ops/reduce/reduce.h"

namespace onnxc {
namespace {

constexpr int64_t kGroups = 4;       // as in classifier.hpp
constexpr int64_t kMostPixels = 64;  // with more the convolution is what takes time, and may go with fewer multiplications

bool is_reshape(const Node& node) { return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze"); }

/// Whether weights are read as the floats they are: half of the bytes would be better than fetching all of them in time.
bool stays_f32(const Graph& graph, ValueId weights, int64_t columns, bool whole) {
  const TensorData* const data = graph.constant(weights);
  return data != nullptr && data->type == ElementType::F32 && exact_storages(std::vector{Columns{data->as<float>(), columns, whole}}).empty();
}

Tile conv_tile(const Target& target, const Graph& graph, const Node& conv) {
  const Extents& y = graph[conv.outputs[0]].type.extents;
  return choose_tile(target, {.m = y[2] * y[3], .n = y[1].value(), .k = graph[conv.input(0)].type.extents[1].value()});
}

}  // namespace

std::vector<const Node*> absorbed_by_matmul(const Surroundings& around, const Node& matmul, const Target& target) {
  const Graph& graph = around.graph;
  const Extents& matrix = graph[matmul.input(1)].type.extents;
  if (matrix.size() != 2 || !matrix[0].is_constant() || !matrix[1].is_constant() || graph.constant(matmul.input(1)) == nullptr) return {};
  const int64_t channels = matrix[0].value(), n = matrix[1].value();
  if (4 * channels * n <= target.workspace_bytes() / 2 || graph[matmul.outputs[0]].type.element != ElementType::F32) return {};

  std::vector<const Node*> nodes;
  const Node* node = around.only_producer(matmul.input(0));
  for (; node != nullptr && is_reshape(*node); node = around.only_producer(node->input(0))) nodes.insert(nodes.begin(), node);
  if (node == nullptr || !sums_pixels(graph, *node) || node->epilogue_operands != 0 || !node->string("prologue", "").empty()) return {};
  nodes.insert(nodes.begin(), node);
  const Node* const conv = around.only_producer(node->input(0));
  if (conv == nullptr || conv->epilogue_operands != 0 || !is_pointwise(graph, *conv) || !around.layouts[static_cast<std::size_t>(conv->outputs[0])].channels_last) return {};
  const Extents& image = graph[conv->outputs[0]].type.extents;
  const int64_t pixels = image[2].value() * image[3].value();
  if (pixels < 2 || pixels > kMostPixels) return {};
  if (!(image[1] == Dim(channels)) || !(graph[matmul.input(0)].type.extents == Extents{image[0], channels})) return {};
  const Tile tile = conv_tile(target, graph, *conv);
  if (is_deep(target, graph[conv->input(0)].type.extents[1].value(), tile.nr)) return {};
  if (!stays_f32(graph, matmul.input(1), n, false) || !stays_f32(graph, conv->input(1), channels, true)) return {};
  nodes.insert(nodes.begin(), conv);
  return nodes;
}

void lower_classifier(Lowering& matmul) {
  Lowering conv = matmul.of(*matmul.absorbed()[0]), sum = matmul.of(*matmul.absorbed()[1]);
  const ConvCall c(conv);
  const int64_t n = matmul.extents(1)[1].value();
  const Tile tile = conv_tile(matmul.target(), matmul.graph(), conv.node()), row = choose_row_tile(matmul.target(), n);
  const int64_t pitch = (n + row.nr - 1) / row.nr * row.nr, pixels = c.image_pixels();
  matmul.consider("classifier", c.tiled_macs(tile) + static_cast<double>(c.cout * pitch), 4 * static_cast<double>(c.cout * pitch), [=]() mutable {
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = tile.nr};
    const View x = conv.in(0, conv_input_layout(conv)), y = matmul.out(0);
    const PointerArg w = conv.weights(conv_weights_name(conv), conv_panels(conv, shape, tile));
    const auto bias = conv_bias(conv, shape);
    const std::span<const float> matrix = matmul.constant(1)->as<float>();
    const pack::PanelShape panels{.k = c.cout, .n = n, .nr = row.nr};
    const PointerArg v = matmul.weights(matmul.graph()[matmul.node().input(1)].name, Packed{matrix, pack::panels_size(c.cout, n, row.nr), [=] { return pack::slices(matrix, panels, tile.nr); }});
    PointerArg sums = matmul.workspace("sums", ElementType::F32, c.n * (kGroups * pitch));
    {
      StepBuilder step = matmul.call("classifier");
      tile_args(step, tile).template_name(std::to_string(row.vectors)).pointer(x).pointer(w).pointer(v).pointer(sums);
      std::vector<std::pair<std::string, Arg>> params{{"images", dim_arg(c.n)}, {"pixels", dim_arg(pixels)}, {"cin", dim_arg(c.cin)}, {"channels", dim_arg(c.cout)}, {"n", dim_arg(n)}, {"x_pixel", dim_arg(x.layout.pixel_stride)}};
      if (bias) params.emplace_back("bias", *bias);
      params.emplace_back("weights_end", name_arg("weights_end"));
      step.params(std::move(params));
      step.epilogue(conv.epilogue(conv.image_shape(conv.output_type(0).extents), step));
      step.epilogue(sum.epilogue({.row_extents = {c.n}, .row_axes = {0}, .col_axes = {1}}, step)).macs(c.pixels * (c.cout * c.cin) + c.n * (c.cout * n));
    }
    sums.writes = false;
    StepBuilder step = matmul.call("reduce_middle");
    step.template_name("onnxc::Sum").template_name("onnxc::Keep").pointer(sums).pointer(y);
    step.params({{"outer", dim_arg(c.n)}, {"r", dim_arg(kGroups)}, {"inner", dim_arg(n)}, {"x_row", dim_arg(pitch)}, {"x_outer", dim_arg(kGroups * pitch)}, {"y_outer", dim_arg(n)}});
    step.epilogue(matmul.epilogue(matmul.matrix_shape(y.extents), step));
  });
}

}  // namespace onnxc
