#include "compiler/select/islands/classifier.h"

#include <optional>

#include "compiler/ops/reduce/reduce.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/islands/conv_chain.h"
#include "compiler/select/weights/stored.h"
#include "runtime_stub/onnxc/contract/classifier.hpp"

namespace onnxc {
namespace {

// With more pixels the convolution takes most of the time, and by itself it may use an algorithm with fewer
// multiplications.
constexpr int64_t kMostPixels = 64;

bool is_reshape(const Node& node) { return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze"); }

/// Whether no narrower type holds the weights exactly. If one did, reading half the bytes would be better than
/// fetching all of them ahead.
bool stays_f32(const Graph& graph, ValueId weights, int64_t columns, bool whole) {
  const TensorData* const data = graph.constant(weights);
  return data != nullptr && data->type == ElementType::F32 &&
         exact_storages(std::vector{Columns{data->as<float>(), columns, whole}}).empty();
}

Tile conv_tile(const Target& target, const Graph& graph, const Node& conv) {
  const Extents& y = graph[conv.outputs[0]].type.extents;
  return choose_tile(target, {.m = y[2] * y[3], .n = y[1].value(), .k = graph[conv.input(0)].type.extents[1].value()});
}

/// The matrix that the means are multiplied by: [k, n], or [n, k] where it is transposed.
struct Matrix {
  ValueId value;
  int64_t k, n;
  bool transposed;
};
std::optional<Matrix> matrix_of(const Graph& graph, const Node& last) {
  if (!last.is("MatMul") && !last.is("Conv")) return std::nullopt;
  const Extents& e = graph[last.input(1)].type.extents;
  if (graph.constant(last.input(1)) == nullptr || e.size() < 2 || !e[0].is_constant() || !e[1].is_constant()) return std::nullopt;
  if (last.is("MatMul")) return e.size() == 2 ? std::optional<Matrix>({last.input(1), e[0].value(), e[1].value(), false}) : std::nullopt;
  const Extents& y = graph[last.outputs[0]].type.extents;
  if (!is_pointwise(graph, last) || !(y[2] == Dim(1)) || !(y[3] == Dim(1))) return std::nullopt;
  return Matrix{last.input(1), e[1].value(), e[0].value(), true};
}

}  // namespace

std::vector<const Node*> absorbed_by_classifier(const Surroundings& around, const Node& last, const Target& target) {
  const Graph& graph = around.graph;
  const auto matrix = matrix_of(graph, last);
  if (!matrix || 4 * matrix->k * matrix->n <= target.workspace_bytes() / 2 || graph[last.outputs[0]].type.element != ElementType::F32)
    return {};
  if (matrix->transposed && !around.is_channels_last(last.outputs[0])) return {};

  std::vector<const Node*> nodes;
  const Node* node = around.only_producer(last.input(0));
  for (; node != nullptr && is_reshape(*node); node = around.only_producer(node->input(0))) nodes.insert(nodes.begin(), node);
  if (node == nullptr || !sums_pixels(graph, *node) || node->epilogue_operands != 0 || !node->string("prologue", "").empty()) return {};
  nodes.insert(nodes.begin(), node);
  const Node* const conv = around.only_producer(node->input(0));
  if (conv == nullptr || conv->epilogue_operands != 0 || !is_pointwise(graph, *conv) || !around.is_channels_last(conv->outputs[0]))
    return {};
  const Extents &image = graph[conv->outputs[0]].type.extents, &means = graph[last.input(0)].type.extents;
  const int64_t channels = matrix->k, pixels = image[2].value() * image[3].value();
  if (pixels < 2 || pixels > kMostPixels) return {};
  if (!(image[1] == Dim(channels)) || !(means == (matrix->transposed ? Extents{image[0], channels, 1, 1} : Extents{image[0], channels})))
    return {};
  const Tile tile = conv_tile(target, graph, *conv);
  if (is_deep(target, graph[conv->input(0)].type.extents[1].value(), tile.nr)) return {};
  if (!stays_f32(graph, matrix->value, matrix->n, matrix->transposed) || !stays_f32(graph, conv->input(1), channels, true)) return {};
  nodes.insert(nodes.begin(), conv);
  return nodes;
}

void lower_classifier(KernelQuery& last) {
  KernelQuery conv = last.of(*last.absorbed()[0]), sum = last.of(*last.absorbed()[1]);
  const ConvCall c(conv);
  const Matrix matrix = *matrix_of(last.graph(), last.node());
  const int64_t n = matrix.n;
  const Tile tile = conv_tile(last.target(), last.graph(), conv.node()), row = choose_row_tile(last.target(), n);
  const int64_t pitch = contract::classifier_pitch(n, row.nr), of_image = contract::classifier_sums(n, row.nr), pixels = c.image_pixels();
  last.consider(
      "classifier", c.tiled_macs(tile) + static_cast<double>(c.cout * pitch), 4 * static_cast<double>(c.cout * pitch), [=]() mutable {
        const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 1, .kw = 1, .group = 1, .nr = tile.nr};
        const View x = conv.in(0, conv_input_layout(conv)), y = matrix.transposed ? last.out_any(0) : last.out(0);
        const PointerArg w = conv.weights(conv_weights_name(conv), conv_panels(conv, shape, tile));
        const auto bias = conv_bias(conv, shape);
        const std::span<const float> values = last.constant(1)->as<float>();
        const pack::PanelShape panels{.k = c.cout, .n = n, .nr = row.nr, .transposed = matrix.transposed};
        const PointerArg v = last.weights(last.graph()[matrix.value].name, Packed{values, pack::panels_size(c.cout, n, row.nr),
                                                                                  [=] { return pack::slices(values, panels, tile.nr); }});
        PointerArg sums = last.workspace("sums", ElementType::F32, c.n * of_image);
        {
          StepBuilder step = last.call("classifier");
          tile_args(step, tile).template_arg(row.vectors).pointer(x).pointer(w).pointer(v).pointer(sums);
          NamedArgs params{{"images", dim_arg(c.n)},      {"pixels", dim_arg(pixels)}, {"cin", dim_arg(c.cin)},
                           {"channels", dim_arg(c.cout)}, {"n", dim_arg(n)},           {"x_pixel", dim_arg(x.layout.pixel_stride)}};
          if (bias) params.emplace_back("bias", *bias);
          if (last.has(2))
            params.emplace_back("start", last.weights(last.graph()[last.node().input(2)].name, ElementType::F32,
                                                      pack::padded(last.constant(2)->as<float>(), row.nr)));
          params.emplace_back("weights_end", UnitArg::WeightsEnd);
          step.params(std::move(params));
          step.epilogue(conv.epilogue(conv.image_shape(conv.output_type(0).extents), step));
          step.epilogue(sum.epilogue({.row_extents = {c.n}, .row_axes = {0}, .col_axes = {1}}, step))
              .macs(c.pixels * (c.cout * c.cin) + c.n * (c.cout * n))
              .emit();
        }
        sums.writes = false;
        StepBuilder step = last.call("reduce_middle");
        step.template_arg(RuntimeName{"Sum"}).template_arg(RuntimeName{"Keep"}).pointer(sums).pointer(y);
        step.params({{"outer", dim_arg(c.n)},
                     {"r", dim_arg(contract::kClassifierGroups)},
                     {"inner", dim_arg(n)},
                     {"x_row", dim_arg(pitch)},
                     {"x_outer", dim_arg(of_image)},
                     {"y_outer", dim_arg(matrix.transposed ? y.layout.pixel_stride : Dim(n))}});
        step.epilogue(last.epilogue(matrix.transposed ? last.image_shape(y.extents) : last.matrix_shape(y.extents), step)).emit();
      });
}

}  // namespace onnxc
