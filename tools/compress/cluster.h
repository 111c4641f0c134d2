// Weights of few distinct values: a table of them and small indices, of which a file holds a quarter of the bytes or fewer.
#pragma once
#include <cstdint>
#include <vector>

#include "tools/model/layers.h"

namespace onnxc {

struct Clusters {
  std::vector<float> values;     ///< at most as many as were asked for, each of them an f16
  std::vector<uint8_t> indices;  ///< by weight
};

/// Weighted k-means in one dimension: the values that make the sum of importance * (weight - value)^2 small.
Clusters cluster(const std::vector<float>& weights, const std::vector<float>& importance, int64_t count);

/// Replaces the weights of a layer by Gather(values, Cast(indices)), which compilers and engines compute once. Up to 16 values have indices of 4 bits, which opset 21 has.
void write_clusters(onnx::GraphProto& graph, GraphIndex& names, const std::string& weight, const Clusters& clusters, bool has_nibbles);

}  // namespace onnxc
