// Trees of ai.onnx.ml as the tables that runtime_stub/onnxc/scalar/ml/trees.hpp walks. The model's statements are
// checked here: every walk ends in a leaf.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

struct TreeTables {
  std::vector<int32_t> nodes, roots, targets;
  std::vector<double> thresholds, weights, base;
  int64_t most_feature = 0;
};

/// The trees of TreeEnsembleRegressor (weights: "target") or TreeEnsembleClassifier ("class").
TreeTables read_trees(const Node& node, const std::string& weights, int64_t target_count);
/// The trees of TreeEnsemble.
TreeTables read_tree_ensemble(const Node& node);

/// The numbers of attribute NAME, or of the tensor NAME_as_tensor.
std::vector<double> read_numbers(const Node& node, const std::string& name);
/// The numbers of a tensor attribute.
std::optional<std::vector<double>> read_tensor(const Node& node, const std::string& name);

}  // namespace onnxc
