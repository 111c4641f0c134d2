// The n-grams of a TfIdfVectorizer, as kernels see them.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// The tree is that of scalar::GramTree.
struct GramPool {
  std::vector<int64_t> keys{0}, begin, column{-1};
  bool counts_up = true;  ///< see scalar::GramTree
  int64_t columns = 0, least = 0, most = 0, skips = 0;
  std::string mode;
  std::vector<float> weights;  ///< for each column; empty: all 1
};

/// From the node's attributes.
GramPool read_pool(const Node& node);
/// The members of scalar::GramTree and scalar::TfIdfParams.
NamedArgs gram_tree_params(KernelQuery& query, const GramPool& pool);
NamedArgs gram_params(const GramPool& pool);

}  // namespace onnxc
