#include "compiler/select/forest/branches.h"

#include <limits>
#include <vector>

namespace onnxc {
namespace {

constexpr int64_t kLargestSet = 8;
constexpr int kDeepest = 64;  // compilers take time that grows faster than the depth, to follow what is known of a feature

/// Tests of columns and ranks, turned back into tests of features and numbers.
class Tests {
 public:
  explicit Tests(const FlatTables& tables) : tables_(tables), doubles_(tables.shape.number_bytes == 8) {}

  /// Inner node `node` of the tree that begins at `first`.
  Branches::Test test(int64_t first, int64_t node) const {
    const int16_t* const from = &tables_.nodes[static_cast<std::size_t>(4 * (first + node))];
    const int32_t* const column = &tables_.columns[4 * std::size_t{static_cast<uint16_t>(from[0])}];
    const int64_t count = column[3] & contract::kForestRanks;
    const auto key = [&](int64_t k) { return tables_.keys[static_cast<std::size_t>(column[1] + contract::forest_key_at(count, k))]; };
    const auto child = [&](int16_t c) { return c < 0 ? int32_t{c} : static_cast<int32_t>(first + c); };
    Branches::Test test{.feature = column[0],
                        .is_set = (column[3] & contract::kForestSet) != 0,
                        .nan_right = (column[3] & contract::kForestNanRight) != 0,
                        .left = child(from[2]),
                        .right = child(from[3])};
    const int64_t rank = static_cast<uint16_t>(from[1]);
    if (test.is_set) {
      for (int64_t k = 0; k < count; ++k) test.numbers.push_back(bits(key(k)));
    } else if (key(rank) < least_number()) {
      test.is_set = true;  // all numbers are greater: x >= minus infinity
    } else {
      test.numbers.push_back(bits(key(rank)));
    }
    return test;
  }

 private:
  int64_t least_number() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return doubles_ ? contract::forest_key(-kInfinity) : contract::forest_key(static_cast<float>(-kInfinity));
  }
  uint64_t bits(int64_t key) const {
    if (doubles_) return static_cast<uint64_t>(contract::forest_key(__builtin_bit_cast(double, key)));
    return static_cast<uint32_t>(contract::forest_key(__builtin_bit_cast(float, static_cast<int32_t>(key))));
  }

  const FlatTables& tables_;
  bool doubles_;
};

}  // namespace

std::optional<Branches> write_branches(const FlatTables& tables, int64_t most_tests) {
  if (tables.first_node.back() > most_tests || tables.nodes.empty()) return std::nullopt;
  Branches branches;
  branches.type = tables.shape.number_bytes == 8 ? ElementType::F64 : ElementType::F32;
  const Tests tests(tables);
  int64_t count = 0;
  for (int64_t tree = 0; tree < tables.shape.trees; ++tree) {
    const int64_t first = tables.first_node[static_cast<std::size_t>(tree)], end = tables.first_node[static_cast<std::size_t>(tree) + 1];
    branches.roots.push_back(static_cast<int32_t>(first));
    std::vector<int> depth(static_cast<std::size_t>(end - first), 1);
    for (int64_t node = 0; node < end - first; ++node) {
      branches.tests.push_back(tests.test(first, node));
      for (const int32_t child : {branches.tests.back().left, branches.tests.back().right}) {
        if (child >= 0) depth[static_cast<std::size_t>(child - first)] = depth[static_cast<std::size_t>(node)] + 1;
      }
      if (depth[static_cast<std::size_t>(node)] > kDeepest) return std::nullopt;
      const auto numbers = static_cast<int64_t>(branches.tests.back().numbers.size());
      count += numbers;
      if (numbers > kLargestSet || count > most_tests) return std::nullopt;
    }
  }
  return branches;
}

}  // namespace onnxc
