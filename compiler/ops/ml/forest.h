// Tree ensembles of ai.onnx.ml. The model's statements are checked as they are read: every walk ends in a leaf.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/ml/tree_tables.h"

namespace onnxc {

/// The trees of TreeEnsembleRegressor (weights: "target") or TreeEnsembleClassifier ("class").
TreeTables read_trees(const Node& node, const std::string& weights, int64_t target_count);
/// The trees of TreeEnsemble.
TreeTables read_tree_ensemble(const Node& node);

/// The greatest feature that a node of any tree ensemble reads.
int64_t most_feature(const Node& node);

/// A tree ensemble that is to be lowered.
struct ForestCall {
  std::shared_ptr<const TreeTables> tables;  ///< shared, since they may be large
  View x;                                    ///< [rows, columns]
  View y;                                    ///< [rows, targets]
  int64_t targets = 1;
  NamedArgs params{};             ///< of scalar::TreeParams
  std::string aggregate = "sum";  ///< the enumerator of scalar::TreeAggregate
  bool is_classifier = false;     ///< output 0 is the number of the class
};
/// scalar::Forest{...}. Without the trees it has what is left to do once their values are added up.
NamedArgs forest_args(KernelQuery& l, const TreeTables& tables, bool trees);

/// The numbers of attribute NAME, or of the tensor NAME_as_tensor.
std::vector<double> read_numbers(const Node& node, const std::string& name);
/// The numbers of a tensor attribute.
std::optional<std::vector<double>> read_tensor(const Node& node, const std::string& name);

}  // namespace onnxc
