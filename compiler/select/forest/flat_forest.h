// A tree ensemble as the tables of runtime_stub/onnxc/forest.hpp.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ops/ml/tree_tables.h"
#include "runtime_stub/onnxc/contract/forest.hpp"

namespace onnxc {

/// Members as in onnxc::FlatForest, which describes them.
struct FlatTables {
  std::vector<uint32_t> walk;  ///< words of 16 bits unless contract::forest_is_wide
  std::vector<int16_t> nodes;
  std::vector<int32_t> first_node, tree_target, columns;
  std::vector<double> values;
  std::vector<int64_t> keys;
  contract::ForestShape shape{};
  double steps = 0;  ///< inner nodes on the way to a leaf, the mean over a tree's leaves, summed over trees
  /// For each target, whether every row has a weight for it; empty if a row has one just where its score is greater than 0.
  std::vector<bool> has;
};

struct FlatRequest {
  bool doubles = false;  ///< arithmetic in f64
  int64_t targets = 1;
  double neutral = 0;     ///< what changes no aggregate: 0 for a sum, infinity for the least, minus infinity for the greatest
  bool asks_has = false;  ///< whether results depend on which targets have weights
};

/// Empty for a forest that does not fit the tables: subtrees that are shared by too many nodes, or results that depend on which
/// weights are missing.
std::optional<FlatTables> flatten(const TreeTables& trees, const FlatRequest& request);

}  // namespace onnxc
