#include "compiler/select/forest/node_tests.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "compiler/support/sort_unique.h"
#include "runtime_stub/onnxc/contract/forest.hpp"
#include "runtime_stub/onnxc/scalar/ml/trees.hpp"

namespace onnxc {
namespace {

using scalar::TreeMode;

TreeMode mode_of(const TreeTables& trees, int32_t node) {
  return static_cast<TreeMode>(trees.nodes[4 * static_cast<std::size_t>(node) + 1] & ~scalar::kMissingTracksTrue);
}

/// A number for each node, the same for roots of equal subtrees.
std::vector<int32_t> number_subtrees(const TreeTables& trees) {
  std::vector<int32_t> numbers(trees.thresholds.size(), -1);
  std::map<std::vector<int64_t>, int32_t> known;
  std::vector<int32_t> stack;
  for (int32_t root : trees.roots) stack.push_back(root);
  while (!stack.empty()) {
    const auto i = static_cast<std::size_t>(stack.back());
    const int32_t* const node = &trees.nodes[4 * i];
    std::vector<int64_t> key{node[0], node[1]};
    if (mode_of(trees, stack.back()) == TreeMode::leaf) {
      for (int32_t w = node[2]; w < node[2] + node[3]; ++w) {
        key.push_back(trees.targets[static_cast<std::size_t>(w)]);
        key.push_back(std::bit_cast<int64_t>(trees.weights[static_cast<std::size_t>(w)]));
      }
    } else {
      const int32_t yes = numbers[static_cast<std::size_t>(node[2])], no = numbers[static_cast<std::size_t>(node[3])];
      if (yes < 0) stack.push_back(node[2]);
      if (no < 0) stack.push_back(node[3]);
      if (yes < 0 || no < 0) continue;
      key.insert(key.end(), {std::bit_cast<int64_t>(trees.thresholds[i]), yes, no});
    }
    numbers[i] = known.emplace(std::move(key), static_cast<int32_t>(known.size())).first->second;
    stack.pop_back();
  }
  return numbers;
}

}  // namespace

NodeTests::NodeTests(const TreeTables& trees, bool doubles) : trees_(trees), doubles_(doubles) {
  for (int32_t i = 0; i < static_cast<int32_t>(trees.thresholds.size()); ++i) {
    if (mode_of(trees, i) != TreeMode::eq && mode_of(trees, i) != TreeMode::neq) continue;
    same_ = number_subtrees(trees);
    break;
  }
}

int64_t NodeTests::key(double value) const {
  return doubles_ ? contract::forest_key(value) : contract::forest_key(static_cast<float>(value));
}

FlatTest NodeTests::test(int32_t at) const {
  const auto i = static_cast<std::size_t>(at);
  const int32_t* const node = &trees_.nodes[4 * i];
  const TreeMode mode = mode_of(trees_, at);
  const bool nan_holds = (node[1] & scalar::kMissingTracksTrue) != 0 || mode == TreeMode::neq;
  const double threshold = trees_.thresholds[i];
  // Where the comparison holds, `yes` is next. It holds left of a threshold, or for the members of a set, unless `inverse`.
  const bool inverse = mode == TreeMode::gt || mode == TreeMode::gte || mode == TreeMode::neq;
  FlatTest test{.feature = node[0], .nan_right = nan_holds == inverse, .left = node[inverse ? 3 : 2], .right = node[inverse ? 2 : 3]};
  if (mode == TreeMode::eq || mode == TreeMode::neq) {
    test.is_set = true;
    const auto add = [&](double member) {
      if (std::isnan(member)) return;
      test.members.push_back(key(member));
      if (member == 0) test.members.push_back(key(-member));
    };
    add(threshold);
    const auto number = [&](int32_t n) { return same_[static_cast<std::size_t>(n)]; };
    while (mode == TreeMode::eq) {
      const auto next = static_cast<std::size_t>(test.right);
      const int32_t* const other = &trees_.nodes[4 * next];
      if (other[0] != node[0] || other[1] != node[1] || number(other[2]) != number(node[2])) break;
      add(trees_.thresholds[next]);
      test.right = other[3];
    }
    sort_unique(test.members);
    return test;
  }
  if (std::isnan(threshold)) {  // no number compares with NaN, so all go where the comparison does not hold
    test.is_set = true;
    if (inverse) {
      std::swap(test.left, test.right);
      test.nan_right = !test.nan_right;
    }
    return test;
  }
  // x <= t fails for keys above t's; both zeros count as the one that is on the passing side.
  const double zero = mode == TreeMode::leq || mode == TreeMode::gt ? 0.0 : -0.0;
  test.key = key((doubles_ ? threshold : static_cast<float>(threshold)) == 0 ? zero : threshold);
  if (mode == TreeMode::lt || mode == TreeMode::gte) --test.key;  // x < t: x <= the float before t
  return test;
}

}  // namespace onnxc
