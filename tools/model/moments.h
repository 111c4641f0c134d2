// What a layer's inputs look like, as far as changing its weights is concerned: their means and their second moments E[x x^T].
//
// The inputs of a Conv are patches of its image, each a row as long as a row of its weights. A few thousand rows in all, drawn from all samples, are enough.
#pragma once
#include <vector>

#include "tools/model/layers.h"

namespace onnxc {

class Moments {
 public:
  /// Columns that are correlated with each other lie in one block of at most so many. What is between blocks is left out, so that a layer's moments are never
  /// large.
  static constexpr int64_t kBlock = 512;

  Moments() = default;
  /// For weights of that many columns and groups.
  Moments(int64_t columns, int64_t groups, int64_t columns_of_block = kBlock);

  /// Adds about `wanted` rows of an input, chosen at random. `node`: the layer's.
  void add(const Layer& layer, const onnx::NodeProto& node, const std::vector<int64_t>& weight_shape, const TensorData& input,
           int64_t wanted);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t columns_of_block() const { return columns_of_block_; }
  int64_t blocks() const { return (columns_ + columns_of_block_ - 1) / columns_of_block_; }
  int64_t block_columns(int64_t block) const { return std::min(columns_of_block_, columns_ - block * columns_of_block_); }
  /// The matrix of a block, row-major, and symmetric.
  std::vector<double> block(int64_t group, int64_t block) const;
  double mean(int64_t group, int64_t column) const {
    return rows_ == 0 ? 0 : sums_[static_cast<std::size_t>(group * columns_ + column)] / static_cast<double>(rows_);
  }
  /// E[x^2] of a column.
  double power(int64_t group, int64_t column) const;
  /// E[(d x)^2] for a vector d that is as long as a row: `d` is a difference of weights, or weights.
  double power(int64_t group, const float* d) const;

 private:
  void add_row(const std::vector<float>& row);

  int64_t columns_ = 0, groups_ = 1, columns_of_block_ = kBlock, rows_ = 0;
  std::vector<double> sums_;                 ///< by group and column
  std::vector<std::vector<double>> second_;  ///< by group and block: the lower triangle of sums of products
  uint64_t random_ = 0x9e3779b97f4a7c15;
};

/// Moments, still without rows, for the inputs of a layer; without columns where it does not multiply by weights of its own.
Moments moments_for_inputs(const Layer& layer, const onnx::GraphProto& graph, const GraphIndex& index,
                           int64_t columns_of_block = Moments::kBlock);

}  // namespace onnxc
