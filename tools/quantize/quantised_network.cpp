#include "tools/quantize/quantised_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onnxc {
namespace {

/// Why a value with this histogram has no codes, or nothing.
std::string why_uncoded(const Histogram& seen, const Codes& codes) {
  if (!seen.is_finite()) return "holds NaN or infinity on the calibration data";
  if (seen.is_empty()) return "has no elements on the calibration data";
  if (codes.is_usable()) return {};
  if (seen.low() == seen.high()) return fmt::format("is always {:g} on the calibration data", seen.low());
  return fmt::format("has a range, {:g} to {:g}, that no scale fits", seen.low(), seen.high());
}

/// What was seen of a group: of its values that others of it do not merely repeat.
Histogram seen_of(const Network& network, const GraphIndex& index, const ByteValues& bytes, std::size_t group) {
  Histogram all;
  for (const std::string& value : bytes.groups[group]) {
    const auto reader = bytes.readers.find(index.producer(value));
    if (reader != bytes.readers.end()) {
      const std::string& from = network.model.graph().node(reader->first).input(0);
      if (bytes.groups[group].contains(from)) continue;
    }
    if (const auto seen = network.seen.find(value); seen != network.seen.end()) all.merge(seen->second);
  }
  return all;
}

std::vector<Layer> with_floats(const Network& network, const std::map<std::size_t, std::string>& floats) {
  std::vector<Layer> layers = network.layers;
  for (const auto& [l, why] : floats) layers[l].kept = why;
  return layers;
}

}  // namespace

QuantisedPlan plan_weights(const Network& network, const std::map<std::size_t, std::string>& floats) {
  return {with_floats(network, floats), {}, {}};
}

QuantisedPlan plan_bytes(const Network& network, const GraphIndex& index, const RangeOptions& options,
                         const std::map<std::size_t, std::string>& floats) {
  QuantisedPlan plan = plan_weights(network, floats);
  std::set<std::string> barred;
  while (true) {
    const std::size_t before = barred.size();
    plan.bytes = find_byte_values(network.model.graph(), index, network.types, plan.layers, barred);
    plan.codes.clear();
    for (std::size_t g = 0; g < plan.bytes.groups.size(); ++g) {
      const Histogram seen = seen_of(network, index, plan.bytes, g);
      const bool has_range = seen.is_finite() && !seen.is_empty();
      const Codes codes = has_range ? codes_for(choose_range(seen, options.method, options.percentile)) : Codes{};
      plan.codes.push_back(codes);
      const std::string why = why_uncoded(seen, codes);
      if (why.empty()) continue;
      for (const std::string& value : plan.bytes.groups[g]) {
        barred.insert(value);
        for (Layer& layer : plan.layers) {
          if (layer.multiplies() && layer.input == value) layer.kept = "its input " + why;
        }
      }
    }
    if (barred.size() == before) return plan;
  }
}

double own_decibels(const Network& network, const QuantisedPlan& plan, std::size_t layer) {
  if (!network.weights[layer]) return 0;
  const LayerWeights& weights = *network.weights[layer];
  double noise = weights.weight_noise;
  const std::string& input = network.layers[layer].input;
  const auto seen = network.seen.find(input);
  if (network.layers[layer].multiplies() && seen != network.seen.end()) {
    const auto group = plan.bytes.group.find(input);
    if (group != plan.bytes.group.end())
      noise += weights.input_gain * mean_squared_error(seen->second, plan.codes[static_cast<std::size_t>(group->second)]);
  }
  constexpr double kLeast = 1e-15;  // of the signal: 150 dB, as good as exact
  return 10 * std::log10(std::max(weights.signal, 1e-300) / std::max(noise, std::max(weights.signal, 1e-300) * kLeast));
}

}  // namespace onnxc
