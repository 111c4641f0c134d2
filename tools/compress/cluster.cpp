#include "tools/compress/cluster.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace onnxc {
namespace {

constexpr int kClusterRounds = 50;  ///< of k-means; it stops where nothing changes

/// The nearest f16: then a compiler can store weights in 16 bits and lose nothing.
float nearest_half(double value) {
  if (value == 0 || std::abs(value) > 65504) return static_cast<float>(value);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int last = std::max(exponent - 11, -24);  // 11 bits, but multiples of 2^-24 at least
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(value, -last)), last));
}

}  // namespace

Clusters cluster(const std::vector<float>& weights, const std::vector<float>& importance, int64_t count) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return weights[i]; });
  // Sums of importance and of importance * weight before each place of that order.
  std::vector<double> mass(order.size() + 1), moment(order.size() + 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double w = static_cast<double>(importance[order[i]]);
    mass[i + 1] = mass[i] + w;
    moment[i + 1] = moment[i] + w * static_cast<double>(weights[order[i]]);
  }
  const auto k = static_cast<std::size_t>(std::min(count, static_cast<int64_t>(order.size())));
  std::vector<double> values;
  for (std::size_t i = 0; i < k; ++i) {  // begins with as many weights for each
    values.push_back(static_cast<double>(weights[order[(2 * i + 1) * order.size() / (2 * k)]]));
  }
  std::vector<std::size_t> ends(k);
  for (int round = 0; round < kClusterRounds; ++round) {
    bool changes = false;
    std::size_t first = 0;
    for (std::size_t i = 0; i < k; ++i) {
      std::size_t end = order.size();
      if (i + 1 < k) {
        const double border = (values[i] + values[i + 1]) / 2;
        const auto place = std::ranges::upper_bound(order, border, {}, [&](std::size_t w) { return static_cast<double>(weights[w]); });
        end = std::max(first, static_cast<std::size_t>(place - order.begin()));
      }
      changes |= ends[i] != end;
      ends[i] = end;
      first = end;
    }
    if (!changes) break;
    for (std::size_t i = 0, begin = 0; i < k; begin = ends[i++]) {
      if (mass[ends[i]] > mass[begin]) values[i] = (moment[ends[i]] - moment[begin]) / (mass[ends[i]] - mass[begin]);
    }
  }
  Clusters clusters;
  for (const double value : values) clusters.values.push_back(nearest_half(value));
  std::ranges::sort(clusters.values);
  clusters.indices.resize(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto above = std::ranges::lower_bound(clusters.values, weights[i]);
    auto nearest = above == clusters.values.end() ? above - 1 : above;
    if (nearest != clusters.values.begin() && weights[i] - *(nearest - 1) < *nearest - weights[i]) --nearest;
    clusters.indices[i] = static_cast<uint8_t>(nearest - clusters.values.begin());
  }
  return clusters;
}

void write_clusters(onnx::GraphProto& graph, GraphIndex& names, const std::string& weight, const Clusters& clusters, bool has_nibbles) {
  const auto found = std::ranges::find(*graph.mutable_initializer(), weight, &onnx::TensorProto::name);
  TensorData indices{ElementType::U8, {found->dims().begin(), found->dims().end()}, {}, {}};
  for (const uint8_t index : clusters.indices) indices.bytes.push_back(static_cast<std::byte>(index));
  if (has_nibbles && clusters.values.size() <= 16) {
    indices.type = ElementType::U4;
    indices = packed(std::move(indices));
  }
  const std::string stored = names.fresh(weight + "_indices"), table = names.fresh(weight + "_values"),
                    widened = names.fresh(weight + "_index");
  *found = to_proto(indices, stored);
  *graph.add_initializer() = to_proto(floats_tensor(clusters.values), table);
  onnx::NodeProto cast, gather;
  cast.set_op_type("Cast");
  cast.set_name(names.fresh(weight + "_Cast"));
  cast.add_input(stored);
  cast.add_output(widened);
  set_attribute(cast, "to", onnx::TensorProto::INT32);
  gather.set_op_type("Gather");
  gather.set_name(names.fresh(weight + "_Gather"));
  gather.add_input(table);
  gather.add_input(widened);
  gather.add_output(weight);
  // They come first: nothing else is known of where the weights are read.
  for (onnx::NodeProto* node : {&gather, &cast}) {
    *graph.add_node() = std::move(*node);
    for (int i = graph.node_size() - 1; i > 0; --i) graph.mutable_node()->SwapElements(i, i - 1);
  }
}

}  // namespace onnxc
