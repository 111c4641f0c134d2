#include "tools/compress/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/calibration/progress.h"
#include "tools/model/symmetric.h"

namespace onnxc {
namespace {

constexpr double kDamping = 1e-7;    ///< of the mean of the diagonal: less than what rounding of f32 makes of an output
constexpr double kFewColumns = 0.1;  ///< for each row: where there are more, rows are few
constexpr double kDampingOfFew = 1e-3, kShrinkOfFew = 0.1, kMostShrunk = 0.3;

constexpr int64_t kColumnsOfBlock = 1024;                ///< that make up for each other: an inverse costs the cube of it
constexpr int64_t kLeastRows = 4096, kMostRows = 32768;  ///< of a layer's inputs in all, a multiple of the columns of a block
constexpr int64_t kFewestRows = 16;                      ///< that say anything
constexpr double kMostSteps = 4e9;                       ///< of adding up a block

bool is_finite(const TensorData& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); });
}

}  // namespace

std::set<std::string> values_to_observe(const FloatNetwork& network) {
  std::set<std::string> values;
  for (const Layer& layer : network.layers) {
    if (layer.multiplies()) values.insert({layer.input, layer.output});
  }
  return values;
}

void observe(FloatNetwork& network, const GraphIndex& index, const ModelRunner& runner, const Samples& samples) {
  const std::size_t count = network.layers.size();
  network.inputs.resize(count);
  network.outputs.resize(count);
  network.multiply_adds.resize(count);
  std::vector<std::vector<int64_t>> shapes(count);
  std::vector<bool> is_bad(count);
  for (std::size_t l = 0; l < count; ++l) {
    const Layer& layer = network.layers[l];
    network.inputs[l] = moments_for_inputs(layer, network.model.graph(), index, kColumnsOfBlock);
    if (network.inputs[l].columns() == 0) continue;
    const onnx::TensorProto& weight = *index.initialiser(layer.weight);
    shapes[l].assign(weight.dims().begin(), weight.dims().end());
    const int64_t rows = weight.dims(static_cast<int>(row_axis(layer, network.node(l))));
    network.outputs[l] = Moments(rows, 1, rows);
  }
  runner.run(samples, "calibration", [&](std::size_t, const ModelRunner::Values& values) {
    for (std::size_t l = 0; l < count; ++l) {
      const Layer& layer = network.layers[l];
      Moments &inputs = network.inputs[l], &outputs = network.outputs[l];
      const auto input = values.find(layer.input), output = values.find(layer.output);
      if (inputs.columns() == 0 || input == values.end() || output == values.end() || input->second.type != ElementType::F32) continue;
      if (network.multiply_adds[l] == 0) network.multiply_adds[l] = output->second.count() * inputs.columns();
      if (!is_finite(input->second) || !is_finite(output->second)) is_bad[l] = true;
      if (is_bad[l]) continue;
      const auto wanted = [&](const Moments& moments) {
        const auto n = static_cast<double>(std::min(moments.columns(), moments.columns_of_block()));
        const auto all = static_cast<std::size_t>(std::clamp(static_cast<int64_t>(kMostSteps / (n * n)), kLeastRows, kMostRows));
        return static_cast<int64_t>((all + samples.size() - 1) / samples.size());
      };
      inputs.add(layer, network.node(l), shapes[l], input->second, wanted(inputs));
      // An output is the input of a layer that has one weight for each of its channels.
      const std::vector<int64_t> pixel(shapes[l].size(), 1);
      outputs.add(layer, onnx::NodeProto(), pixel, output->second, wanted(outputs));
    }
  });
  for (std::size_t l = 0; l < count; ++l) {
    if (is_bad[l] || network.inputs[l].rows() < kFewestRows) network.inputs[l] = network.outputs[l] = Moments();
  }
  const auto lacks_rows = [](const Moments& inputs) { return inputs.rows() < std::min(inputs.columns(), inputs.columns_of_block()); };
  if (const auto few = std::ranges::count_if(network.inputs, lacks_rows); few > 0)
    say(fmt::format("{} of {} layers see fewer rows of samples than they have inputs: with more samples the result is better", few, count));
  for (const ChannelSum& sum : network.channels.sums) {
    if (network.is_known(sum.layer)) continue;
    for (const int set : sum.sets) {
      std::string& why = network.channels.kept[static_cast<std::size_t>(set)];
      if (why.empty()) why = fmt::format("too few samples show what {} reads", network.layers[sum.layer].name);
    }
  }
}

int64_t FloatNetwork::groups(std::size_t layer) const {
  return layers[layer].kind == Layer::Kind::Conv ? std::max<int64_t>(1, integer_attribute(node(layer), "group", 1)) : 1;
}

std::vector<double> input_covariance(const Moments& moments, int64_t group, int64_t block, bool has_bias) {
  const int64_t n = moments.block_columns(block), first = block * moments.columns_of_block();
  Matrix h = moments.block(group, block);
  const double ratio = static_cast<double>(n) / static_cast<double>(std::max<int64_t>(1, moments.rows()));
  const double few = std::max(0.0, ratio - kFewColumns), shrink = std::min(kMostShrunk, kShrinkOfFew * few);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double& value = h[static_cast<std::size_t>(i * n + j)];
      if (has_bias) value -= moments.mean(group, first + i) * moments.mean(group, first + j);
      if (i != j) value *= 1 - shrink;
    }
  }
  add_to_diagonal(h, n, std::max(1e-30, (kDamping + kDampingOfFew * std::min(1.0, few)) * mean_of_diagonal(h, n)));
  return h;
}

LayerBias bias_of(const FloatNetwork& network, const GraphIndex& index, std::size_t layer) {
  const Layer& l = network.layers[layer];
  if (l.kind != Layer::Kind::MatMul) return {true, l.bias};
  const std::string addend = addend_behind(l, network.model.graph(), index, index.initialiser(l.weight)->dims(1));
  return {!addend.empty(), addend};
}

}  // namespace onnxc
