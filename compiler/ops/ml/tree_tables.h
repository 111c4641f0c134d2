// The trees of an ensemble as the tables that runtime_stub/onnxc/scalar/ml/trees.hpp walks, which describes them.
#pragma once
#include <cstdint>
#include <vector>

namespace onnxc {

struct TreeTables {
  std::vector<int32_t> nodes, roots, targets;
  std::vector<double> thresholds, weights, base;
};

}  // namespace onnxc
