#include "compiler/select/forest/flat_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "compiler/select/forest/node_tests.h"
#include "runtime_stub/onnxc/scalar/ml/trees.hpp"

namespace onnxc {
namespace {

bool is_leaf(const TreeTables& trees, int32_t node) {
  return trees.nodes[4 * static_cast<std::size_t>(node) + 1] == static_cast<int32_t>(scalar::TreeMode::leaf);
}

/// A tree as a list, breadth first: its inner nodes and its leaves are numbered as they come.
struct ListedTree {
  std::vector<FlatTest> tests;  ///< of its inner nodes; of a tree that is a leaf, none
  /// Of all nodes: inner node k, or leaf l as -1 - l. Those that k leads to are at 2 k + 1 and 2 k + 2.
  std::vector<int32_t> order;
  std::vector<int32_t> leaves;  ///< nodes of TreeTables
  int64_t depths = 0;           ///< summed over the leaves
};

/// Empty if it has more leaves than the tables can number.
std::optional<ListedTree> list_tree(const TreeTables& trees, const NodeTests& tests, int32_t root) {
  ListedTree tree;
  struct Entry {
    int32_t node;
    int64_t depth;
  };
  std::vector<Entry> queue{{root, 0}};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto [node, depth] = queue[at];
    if (is_leaf(trees, node)) {
      if (tree.leaves.size() >= contract::kForestMostNumber<uint32_t>) return std::nullopt;
      tree.order.push_back(-1 - static_cast<int32_t>(tree.leaves.size()));
      tree.leaves.push_back(node);
      tree.depths += depth;
      continue;
    }
    tree.order.push_back(static_cast<int32_t>(tree.tests.size()));
    tree.tests.push_back(tests.test(node));
    queue.push_back({tree.tests.back().left, depth + 1});
    queue.push_back({tree.tests.back().right, depth + 1});
    if (queue.size() > 2 * std::size_t{contract::kForestMostNumber<uint32_t>}) return std::nullopt;
  }
  if (tree.tests.empty()) {  // a tree that is a leaf gets a node that leads to it either way
    tree.order = {0, -1, -2};
    tree.leaves.push_back(root);
  }
  return tree;
}

/// The columns of ranks: thresholds of one feature and one direction of NaN, up to 255 in each; and sets.
class ForestColumns {
 public:
  explicit ForestColumns(bool doubles) : greatest_(doubles ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max()) {}
  /// Tests are numbered as they come.
  void add(const FlatTest& test) {
    const std::size_t number = places_.size();
    places_.emplace_back();
    if (test.is_set) sets_[{test.feature, test.nan_right, test.members}].push_back(number);
    else lists_[{test.feature, test.nan_right}].push_back({test.key, number});
  }
  /// Fills in keys and columns of the tables. False if there are too many.
  bool lay_out(FlatTables& tables) {
    for (auto& [of, list] : lists_) {
      std::ranges::sort(list, {}, &Threshold::key);
      std::vector<int64_t> keys;
      const int64_t first = count(tables);
      for (const Threshold& threshold : list) {
        if (keys.empty() || keys.back() != threshold.key) keys.push_back(threshold.key);
        const int64_t at = std::ssize(keys) - 1;
        places_[threshold.test] = {first + at / contract::kForestRanks, at % contract::kForestRanks};
      }
      for (std::size_t at = 0; at < keys.size(); at += contract::kForestRanks) {
        const std::size_t size = std::min<std::size_t>(contract::kForestRanks, keys.size() - at);
        append(tables, of.first, of.second, std::span(keys).subspan(at, size), 0, static_cast<int64_t>(size));
      }
    }
    for (const auto& [of, numbers] : sets_) {
      const auto& [feature, nan_right, members] = of;
      if (members.size() > contract::kForestRanks) return false;
      for (std::size_t number : numbers) places_[number] = {count(tables), 0};
      append(tables, feature, nan_right, members, contract::kForestSet, 1);
    }
    tables.shape.columns = count(tables);
    return tables.shape.columns > 0 && tables.shape.columns <= std::numeric_limits<uint16_t>::max() &&
           tables.shape.tests <= std::numeric_limits<int32_t>::max();
  }
  /// Where a test stands, once they are laid out.
  struct Place {
    int64_t column = 0;
    int64_t rank = 0;  ///< that must be exceeded
  };
  Place place(std::size_t test) const { return places_[test]; }

 private:
  static int64_t count(const FlatTables& tables) { return static_cast<int64_t>(tables.columns.size() / 4); }
  void append(FlatTables& tables, int32_t feature, bool nan_right, std::span<const int64_t> keys, int32_t flags, int64_t tests) const {
    if (nan_right) flags |= contract::kForestNanRight;
    tables.columns.insert(tables.columns.end(), {feature, static_cast<int32_t>(tables.keys.size()),
                                                 static_cast<int32_t>(tables.shape.tests), static_cast<int32_t>(keys.size()) | flags});
    const std::size_t first = tables.keys.size();
    const auto count = static_cast<int64_t>(keys.size());
    tables.keys.resize(first + static_cast<std::size_t>(contract::forest_keys(count)));
    contract::lay_out_forest_keys(keys.data(), count, greatest_, tables.keys.data() + first);
    tables.shape.tests += tests;
  }

  int64_t greatest_;
  struct Threshold {
    int64_t key;
    std::size_t test;
  };
  std::map<std::pair<int32_t, bool>, std::vector<Threshold>> lists_;                          // by feature and direction
  std::map<std::tuple<int32_t, bool, std::vector<int64_t>>, std::vector<std::size_t>> sets_;  // tests by feature, direction and members
  std::vector<Place> places_;
};

/// The weights of the leaves. Where a leaf has none for a target, it gets the neutral one.
class Values {
 public:
  Values(const TreeTables& trees, const FlatRequest& request) : trees_(trees), request_(request) {}

  /// False if the results depend on which weights are missing.
  bool lay_out(const std::vector<ListedTree>& forest, FlatTables& tables) const {
    if (request_.neutral != 0 && std::ranges::any_of(trees_.weights, [](double w) { return std::isnan(w); })) return false;
    std::vector<bool> always(static_cast<std::size_t>(request_.targets), false), ever = always;
    bool single = request_.targets > 1;
    for (const ListedTree& tree : forest) {
      const std::vector<int64_t> leaves_of = leaves_with(tree);
      if (leaves_of.empty()) return false;
      for (std::size_t t = 0; t < leaves_of.size(); ++t) {
        if (leaves_of[t] > 0) ever[t] = true;
        if (leaves_of[t] == static_cast<int64_t>(tree.leaves.size())) always[t] = true;
      }
      if (std::ranges::count_if(leaves_of, [](int64_t n) { return n > 0; }) > 1) single = false;
    }
    if (request_.neutral != 0 && std::ranges::find(always, false) != always.end()) return false;
    if (!request_.asks_has || ever == always) tables.has = always;
    else if (std::ranges::any_of(trees_.weights, [](double w) { return !(w > std::numeric_limits<float>::min()); })) return false;
    for (const ListedTree& tree : forest) append(tree, single, tables);
    return true;
  }

 private:
  struct Weights {
    const int32_t* targets;
    const double* values;
    std::size_t count;
  };
  Weights of_leaf(int32_t node) const {
    const int32_t* const leaf = &trees_.nodes[4 * static_cast<std::size_t>(node)];
    return {trees_.targets.data() + leaf[2], trees_.weights.data() + leaf[2], static_cast<std::size_t>(leaf[3])};
  }
  /// How many leaves have a weight for each target. Empty if one has two for the same.
  std::vector<int64_t> leaves_with(const ListedTree& tree) const {
    std::vector<int64_t> count(static_cast<std::size_t>(request_.targets), 0);
    std::vector<std::size_t> last(count.size(), 0);
    for (std::size_t i = 0; i < tree.leaves.size(); ++i) {
      const Weights w = of_leaf(tree.leaves[i]);
      for (std::size_t k = 0; k < w.count; ++k) {
        const auto t = static_cast<std::size_t>(w.targets[k]);
        if (last[t] == i + 1) return {};
        last[t] = i + 1;
        ++count[t];
      }
    }
    return count;
  }
  void append(const ListedTree& tree, bool single, FlatTables& tables) const {
    const auto targets = static_cast<std::size_t>(request_.targets);
    int32_t target = 0;
    for (int32_t leaf : tree.leaves) {
      const Weights w = of_leaf(leaf);
      const std::size_t at = tables.values.size();
      tables.values.resize(at + (single ? 1 : targets), request_.neutral);
      for (std::size_t k = 0; k < w.count; ++k) {
        tables.values[at + (single ? 0 : static_cast<std::size_t>(w.targets[k]))] = w.values[k];
        target = w.targets[k];
      }
    }
    if (single) tables.tree_target.push_back(target);
  }

  const TreeTables& trees_;
  const FlatRequest& request_;
};

/// FlatForest::walk, nodes and first_node.
void lay_out_nodes(const std::vector<ListedTree>& forest, const ForestColumns& columns, FlatTables& tables) {
  const bool wide = contract::forest_is_wide(tables.shape), blocks = tables.shape.most_leaves <= contract::kForestBlockLeaves;
  const auto walk = [&](int64_t number, int64_t rank, std::size_t link) {
    const auto test = wide ? contract::forest_test<uint32_t>(number, rank) : contract::forest_test<uint16_t>(number, rank);
    tables.walk.insert(tables.walk.end(), {static_cast<uint32_t>(test), static_cast<uint32_t>(link)});
  };
  std::size_t before = 0;  // tests of the trees before
  int32_t first = 0;
  for (const ListedTree& tree : forest) {
    tables.first_node.push_back(first);
    for (std::size_t at = 0; at < tree.order.size(); ++at) {
      if (tree.order[at] < 0) {
        walk(-1 - tree.order[at], contract::kForestRanks, 0);
        continue;
      }
      const auto k = static_cast<std::size_t>(tree.order[at]);
      const ForestColumns::Place place = tree.tests.empty() ? ForestColumns::Place{} : columns.place(before + k);
      walk(place.column, place.rank, 2 * k + 1 - at);
      if (!blocks) continue;
      for (int64_t member : {place.column, place.rank, int64_t{tree.order[2 * k + 1]}, int64_t{tree.order[2 * k + 2]}})
        tables.nodes.push_back(static_cast<int16_t>(static_cast<uint16_t>(member)));
    }
    before += tree.tests.size();
    first += static_cast<int32_t>(tree.order.size() / 2);
  }
  tables.first_node.push_back(first);
}

}  // namespace

std::optional<FlatTables> flatten(const TreeTables& trees, const FlatRequest& request) {
  const NodeTests tests(trees, request.doubles);
  std::vector<ListedTree> forest;
  ForestColumns columns(request.doubles);
  FlatTables tables;
  contract::ForestShape& shape = tables.shape;
  shape.targets = request.targets;
  shape.number_bytes = request.doubles ? 8 : 4;
  std::size_t nodes = 0;
  for (int32_t root : trees.roots) {
    std::optional<ListedTree> tree = list_tree(trees, tests, root);
    if (!tree) return std::nullopt;
    for (const FlatTest& test : tree->tests) columns.add(test);
    const auto leaves = static_cast<int64_t>(tree->leaves.size());
    shape.most_leaves = std::max(shape.most_leaves, leaves);
    tables.steps += static_cast<double>(tree->depths) / static_cast<double>(leaves);
    nodes += tree->tests.size() + tree->leaves.size();
    // Nodes that several others lead to are repeated.
    if (nodes > 2 * trees.thresholds.size() + 1024) return std::nullopt;
    forest.push_back(std::move(*tree));
  }
  shape.trees = static_cast<int64_t>(forest.size());
  if (forest.empty() || !columns.lay_out(tables) || !Values(trees, request).lay_out(forest, tables)) return std::nullopt;
  lay_out_nodes(forest, columns, tables);
  return tables;
}

}  // namespace onnxc
