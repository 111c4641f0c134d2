// The comparisons of a tree ensemble, brought to one form: a key is greater than a threshold, or is no member of a set.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ops/ml/tree_tables.h"

namespace onnxc {

/// What an inner node of a flat forest asks of a feature. Where the answer is yes, the row goes right.
struct FlatTest {
  int32_t feature = 0;
  bool nan_right = false;
  bool is_set = false;
  int64_t key = 0;                 ///< is the value's key greater?
  std::vector<int64_t> members{};  ///< of a set, ascending: is the value's key another one?
  int32_t left = 0, right = 0;     ///< nodes of TreeTables
};

/// Makes FlatTests of a model's nodes. A chain of nodes that compare one feature for equality and lead to equal subtrees, as
/// exporters write a test for membership, becomes one test.
class NodeTests {
 public:
  NodeTests(const TreeTables& trees, bool doubles);
  FlatTest test(int32_t node) const;

 private:
  int64_t key(double value) const;  ///< in the type of the arithmetic

  const TreeTables& trees_;
  bool doubles_;
  std::vector<int32_t> same_;  ///< equal for the roots of equal subtrees; empty where no node compares for equality
};

}  // namespace onnxc
