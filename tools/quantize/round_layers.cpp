#include "tools/quantize/round_layers.h"

#include <algorithm>
#include <cmath>

#include "tools/calibration/progress.h"

namespace onnxc {
namespace {

constexpr int64_t kMostMomentRows = 4096;  ///< of inputs, by which a layer's moments are estimated: several for each column of a block

constexpr int64_t kSmallestBlock = 16;  ///< that ONNX Runtime has kernels for

/// Signal, noise, and the mean error of each row, which a bias takes off.
void judge(LayerWeights& weights, const WeightMatrix& exact, const Moments* moments, std::vector<float>& mean_error) {
  std::vector<float> difference(static_cast<std::size_t>(exact.columns));
  const auto power = [&](int64_t row, const float* d) {
    if (moments != nullptr) return moments->power(exact.group_of(row), d);
    double sum = 0;
    for (int64_t c = 0; c < exact.columns; ++c) sum += static_cast<double>(d[c]) * static_cast<double>(d[c]);
    return sum;
  };
  mean_error.assign(static_cast<std::size_t>(exact.rows), 0.0f);
  for (int64_t r = 0; r < exact.rows; ++r) {
    double mean = 0;
    for (int64_t c = 0; c < exact.columns; ++c) {
      const float value = weights.weights.value(r, c);
      difference[static_cast<std::size_t>(c)] = exact.row(r)[c] - value;
      weights.input_gain += static_cast<double>(value) * static_cast<double>(value);
      if (moments != nullptr) mean += static_cast<double>(difference[static_cast<std::size_t>(c)]) * moments->mean(exact.group_of(r), c);
    }
    mean_error[static_cast<std::size_t>(r)] = static_cast<float>(mean);
    weights.signal += power(r, exact.row(r));
    weights.weight_noise += std::max(0.0, power(r, difference.data()) - mean * mean);
  }
}

}  // namespace

std::set<std::string> values_to_watch(const Network& network, const GraphIndex& index) {
  std::set<std::string> values;
  for (const Layer& layer : network.layers) {
    if (layer.multiplies()) values.insert({layer.input, layer.output});
  }
  const ByteValues bytes = find_byte_values(network.model.graph(), index, network.types, network.layers, {});
  for (const auto& [value, group] : bytes.group) values.insert(value);
  return values;
}

std::vector<Moments> calibrate(Network& network, const ModelRunner& runner, const Samples& samples) {
  const onnx::GraphProto& graph = network.model.graph();
  const GraphIndex index(graph);
  std::vector<Moments> moments(network.layers.size());
  std::vector<std::vector<int64_t>> shapes(network.layers.size());
  for (std::size_t l = 0; l < moments.size(); ++l) {
    moments[l] = moments_for_inputs(network.layers[l], graph, index);
    if (moments[l].columns() == 0) continue;
    const onnx::TensorProto& weight = *index.initialiser(network.layers[l].weight);
    shapes[l].assign(weight.dims().begin(), weight.dims().end());
  }
  const auto wanted = static_cast<int64_t>((static_cast<std::size_t>(kMostMomentRows) + samples.size() - 1) / samples.size());
  runner.run(samples, "calibration", [&](std::size_t, const ModelRunner::Values& values) {
    for (const auto& [name, value] : values) {
      if (value.type == ElementType::F32) network.seen[name].add(value.as<float>());
    }
    for (std::size_t l = 0; l < moments.size(); ++l) {
      const auto input = values.find(network.layers[l].input);
      if (moments[l].columns() == 0 || input == values.end() || input->second.type != ElementType::F32) continue;
      if (network.seen.at(input->first).is_finite())
        moments[l].add(network.layers[l], graph.node(network.layers[l].node), shapes[l], input->second, wanted);
    }
  });
  return moments;
}

void round_layers(Network& network, const GraphIndex& index, const std::vector<Moments>& moments, const RoundingOptions& products,
                  const RoundingOptions& others) {
  const onnx::GraphProto& graph = network.model.graph();
  network.weights.assign(network.layers.size(), std::nullopt);
  Progress progress("rounding weights", network.layers.size());
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    progress.step();
    Layer& layer = network.layers[l];
    if (!layer.has_weights()) continue;
    const WeightMatrix exact = weight_matrix(layer, graph.node(layer.node), to_tensor(*index.initialiser(layer.weight)));
    const Moments* own = !moments.empty() && moments[l].rows() > 0 ? &moments[l] : nullptr;
    RoundingOptions options = layer.kind == Layer::Kind::Conv || layer.kind == Layer::Kind::Table ? others : products;
    while (options.block > kSmallestBlock && exact.columns % options.block != 0) options.block /= 2;
    if (options.block != 0 && exact.columns % options.block != 0) options = others;  // other engines want whole blocks
    if (layer.kind == Layer::Kind::Table) options.per_row = false;
    std::optional<RoundedWeights> rounded = round_weights(exact, options, own);
    if (!rounded) {
      layer.kept = "its weights are so small or so large that no scale fits";
      continue;
    }
    LayerWeights& weights = network.weights[l].emplace(LayerWeights{.weights = std::move(*rounded), .bias = {}, .addend = {}});
    std::vector<float> mean_error;
    judge(weights, exact, own, mean_error);
    weights.addend = addend_behind(layer, graph, index, exact.rows);
    const std::string& bias = layer.kind == Layer::Kind::MatMul ? weights.addend : layer.bias;
    const bool has_bias = !bias.empty() && layer.kind != Layer::Kind::Table;
    if (has_bias) weights.bias = floats_of(index.initialiser(bias));
    if (own == nullptr || layer.kind == Layer::Kind::Table || (layer.kind == Layer::Kind::MatMul && !has_bias)) continue;
    weights.bias.resize(mean_error.size());
    for (std::size_t r = 0; r < mean_error.size(); ++r) weights.bias[r] += mean_error[r];
    weights.corrects_addend = layer.kind == Layer::Kind::MatMul;
  }
}

}  // namespace onnxc
