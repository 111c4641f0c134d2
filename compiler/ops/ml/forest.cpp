#include "compiler/ops/ml/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime_stub/onnxc/scalar/ml/trees.hpp"

namespace onnxc {
namespace {

using scalar::kMissingTracksTrue;
using scalar::TreeMode;

constexpr std::size_t kMostNodes = std::size_t{1} << 28;

int32_t leaf_mode() { return static_cast<int32_t>(TreeMode::leaf); }

/// Checks that every walk from a root ends: no node leads back to one on the way to it.
void check_walks(const Node& node, const TreeTables& tables) {
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(tables.nodes.size() / 4, kNew);
  std::vector<std::pair<int32_t, int>> path;  // node, the branch to visit next
  for (int32_t root : tables.roots) {
    if (state[static_cast<std::size_t>(root)] == kDone) continue;
    path.emplace_back(root, 2);
    state[static_cast<std::size_t>(root)] = kOpen;
    while (!path.empty()) {
      auto& [at, branch] = path.back();
      const auto i = static_cast<std::size_t>(at);
      if (tables.nodes[4 * i + 1] == leaf_mode() || branch > 3) {
        state[i] = kDone;
        path.pop_back();
        continue;
      }
      const int32_t next = tables.nodes[4 * i + static_cast<std::size_t>(branch++)];
      const auto k = static_cast<std::size_t>(next);
      if (state[k] == kOpen) node.fail(ErrorKind::Invalid, "a tree has a cycle");
      if (state[k] == kDone) continue;
      state[k] = kOpen;
      path.emplace_back(next, 2);
    }
  }
}

/// Nodes by the numbers that a model gives them: of their tree, and within it.
class NodeIndex {
 public:
  NodeIndex(const Node& node, const std::vector<int64_t>& trees, const std::vector<int64_t>& ids)
      : trees_(trees), ids_(ids), order_(ids.size()), place_(ids.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto key = [&](std::size_t i) { return std::pair(trees[i], ids[i]); };
    if (!std::ranges::is_sorted(order_, {}, key)) std::ranges::sort(order_, {}, key);
    for (std::size_t k = 0; k < order_.size(); ++k) place_[order_[k]] = k;
    const auto twice = std::ranges::adjacent_find(order_, {}, key);
    if (twice != order_.end()) node.fail(ErrorKind::Invalid, fmt::format("tree {} has two nodes {}", trees[*twice], ids[*twice]));
  }
  /// The node's position, which is found at once where numbers have no gaps between it and node `near`.
  std::optional<std::size_t> find(int64_t tree, int64_t id, std::size_t near) const {
    const auto key = [&](std::size_t i) { return std::pair(trees_[i], ids_[i]); };
    const std::pair wanted(tree, id);
    const uint64_t guess = place_[near] + (static_cast<uint64_t>(id) - static_cast<uint64_t>(ids_[near]));
    if (guess < order_.size() && key(order_[guess]) == wanted) return order_[guess];
    const auto it = std::ranges::lower_bound(order_, wanted, {}, key);
    if (it == order_.end() || key(*it) != wanted) return std::nullopt;
    return *it;
  }

 private:
  const std::vector<int64_t>&trees_, &ids_;
  std::vector<std::size_t> order_, place_;  ///< nodes in the order of their numbers, and where each stands in it
};

int32_t feature_id(const Node& node, int64_t feature) {
  if (feature < 0 || feature > INT32_MAX) node.fail(ErrorKind::Invalid, fmt::format("a node reads feature {}", feature));
  return static_cast<int32_t>(feature);
}

void add_node(TreeTables& tables, int32_t feature, int32_t mode, int64_t yes, int64_t no, double threshold) {
  tables.nodes.insert(tables.nodes.end(), {feature, mode, static_cast<int32_t>(yes), static_cast<int32_t>(no)});
  tables.thresholds.push_back(threshold);
}

const std::vector<std::string> kNoStrings;

const std::vector<std::string>& read_strings(const Node& node, const std::string& name) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return kNoStrings;
  if (const auto* list = std::get_if<std::vector<std::string>>(&it->second)) return *list;
  node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a list of strings", name));
}

}  // namespace

std::optional<std::vector<double>> read_tensor(const Node& node, const std::string& name) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return std::nullopt;
  const auto* tensor = std::get_if<Constant>(&it->second);
  if (tensor == nullptr || (*tensor)->type == ElementType::String)
    node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a tensor of numbers", name));
  return to_doubles(**tensor);
}

std::vector<double> read_numbers(const Node& node, const std::string& name) {
  if (auto tensor = read_tensor(node, name + "_as_tensor")) return *tensor;
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return {};
  if (const auto* list = std::get_if<std::vector<float>>(&it->second)) return {list->begin(), list->end()};
  if (const auto* list = std::get_if<std::vector<int64_t>>(&it->second); list != nullptr && list->empty()) return {};
  node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a list of floats", name));
}

int64_t most_feature(const Node& node) {
  const std::vector<int64_t> features = node.integers("nodes_featureids");
  const std::vector<std::string>& modes = node.op == "TreeEnsemble" ? kNoStrings : read_strings(node, "nodes_modes");
  int64_t most = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (i < modes.size() && modes[i] == "LEAF") continue;
    most = std::max(most, features[i]);
  }
  if (most > INT32_MAX) node.fail(ErrorKind::Invalid, fmt::format("a node reads feature {}", most));
  return most;
}

TreeTables read_trees(const Node& node, const std::string& weights, int64_t target_count) {
  const auto fail = [&](const std::string& found) { node.fail(ErrorKind::Invalid, found); };
  const auto trees = node.integers("nodes_treeids"), ids = node.integers("nodes_nodeids"), features = node.integers("nodes_featureids"),
             yes = node.integers("nodes_truenodeids"), no = node.integers("nodes_falsenodeids"),
             missing = node.integers("nodes_missing_value_tracks_true");
  const std::vector<double> values = read_numbers(node, "nodes_values");
  const std::vector<std::string>& modes = read_strings(node, "nodes_modes");
  const std::size_t n = ids.size();
  if (n == 0 || n > kMostNodes) fail(fmt::format("there are {} nodes", n));
  if (trees.size() != n || features.size() != n || yes.size() != n || no.size() != n || values.size() != n || modes.size() != n ||
      (!missing.empty() && missing.size() != n))
    fail("the attributes nodes_* have different lengths");

  const NodeIndex index(node, trees, ids);
  TreeTables tables;
  tables.nodes.reserve(4 * n);
  tables.thresholds.reserve(n);
  std::vector<char> has_parent(n, 0);
  static const std::map<std::string, TreeMode> kModes{
      {"BRANCH_LEQ", TreeMode::leq}, {"BRANCH_LT", TreeMode::lt},   {"BRANCH_GTE", TreeMode::gte}, {"BRANCH_GT", TreeMode::gt},
      {"BRANCH_EQ", TreeMode::eq},   {"BRANCH_NEQ", TreeMode::neq}, {"LEAF", TreeMode::leaf}};
  for (std::size_t i = 0; i < n; ++i) {
    const auto mode = kModes.find(modes[i]);
    if (mode == kModes.end()) fail(fmt::format("a node has mode '{}'", modes[i]));
    if (mode->second == TreeMode::leaf) {
      add_node(tables, 0, leaf_mode(), 0, 0, 0);
      continue;
    }
    const auto child = [&](int64_t id) {
      const auto found = index.find(trees[i], id, i);
      if (!found) fail(fmt::format("node {} of tree {} leads to node {}, which there is not", ids[i], trees[i], id));
      has_parent[*found] = 1;
      return static_cast<int64_t>(*found);
    };
    const int64_t first = child(yes[i]), second = child(no[i]);
    add_node(tables, feature_id(node, features[i]),
             static_cast<int32_t>(mode->second) | (!missing.empty() && missing[i] != 0 ? kMissingTracksTrue : 0), first, second, values[i]);
  }
  std::map<int64_t, bool> rooted;  // by tree
  auto of = rooted.end();
  for (std::size_t i = 0; i < n; ++i) {
    if (of == rooted.end() || of->first != trees[i]) of = rooted.emplace(trees[i], false).first;
    if (of->second || has_parent[i] != 0) continue;
    of->second = true;
    tables.roots.push_back(static_cast<int32_t>(i));
  }
  for (const auto& [tree, found] : rooted) {
    if (!found) fail(fmt::format("tree {} has no root", tree));
  }
  check_walks(node, tables);

  const auto leaf_trees = node.integers(weights + "_treeids"), leaf_nodes = node.integers(weights + "_nodeids"),
             targets = node.integers(weights + "_ids");
  const std::vector<double> numbers = read_numbers(node, weights + "_weights");
  if (leaf_trees.size() != targets.size() || leaf_nodes.size() != targets.size() || numbers.size() != targets.size())
    fail(fmt::format("the attributes {}_* have different lengths", weights));
  // The weights of a leaf lie together, in the model's order.
  std::vector<std::size_t> leaf_of;
  std::vector<int32_t> first(n + 1, 0);
  for (std::size_t w = 0; w < targets.size(); ++w) {
    const auto found = index.find(leaf_trees[w], leaf_nodes[w], leaf_of.empty() ? 0 : leaf_of.back());
    if (!found) fail(fmt::format("a weight is for node {} of tree {}, which there is not", leaf_nodes[w], leaf_trees[w]));
    if (targets[w] < 0 || targets[w] >= target_count)
      fail(fmt::format("{}_ids holds {}, where {} are known", weights, targets[w], target_count));
    leaf_of.push_back(*found);
    if (tables.nodes[4 * *found + 1] == leaf_mode()) ++first[*found + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::size_t i = 0; i < n; ++i) {
    if (tables.nodes[4 * i + 1] != leaf_mode()) continue;
    tables.nodes[4 * i + 2] = first[i];
    tables.nodes[4 * i + 3] = first[i + 1] - first[i];
  }
  tables.weights.resize(static_cast<std::size_t>(first[n]));
  tables.targets.resize(tables.weights.size());
  for (std::size_t w = 0; w < targets.size(); ++w) {
    if (tables.nodes[4 * leaf_of[w] + 1] != leaf_mode()) continue;
    const auto at = static_cast<std::size_t>(first[leaf_of[w]]++);
    tables.weights[at] = numbers[w];
    tables.targets[at] = static_cast<int32_t>(targets[w]);
  }
  tables.base = read_numbers(node, "base_values");
  return tables;
}

TreeTables read_tree_ensemble(const Node& node) {
  const auto fail = [&](const std::string& found) { node.fail(ErrorKind::Invalid, found); };
  const auto features = node.integers("nodes_featureids"), yes = node.integers("nodes_truenodeids"),
             no = node.integers("nodes_falsenodeids"), yes_leaf = node.integers("nodes_trueleafs"),
             no_leaf = node.integers("nodes_falseleafs"), missing = node.integers("nodes_missing_value_tracks_true"),
             roots = node.integers("tree_roots"), targets = node.integers("leaf_targetids");
  const int64_t target_count = node.integer("n_targets", 1);
  const auto splits = read_tensor(node, "nodes_splits"), modes = read_tensor(node, "nodes_modes"),
             weights = read_tensor(node, "leaf_weights");
  if (!splits || !modes || !weights) fail("nodes_splits, nodes_modes or leaf_weights is missing");
  const std::size_t n = features.size();
  if (n > kMostNodes || splits->size() != n || modes->size() != n || yes.size() != n || no.size() != n || yes_leaf.size() != n ||
      no_leaf.size() != n || (!missing.empty() && missing.size() != n))
    fail("the attributes nodes_* have different lengths");
  if (targets.size() != weights->size()) fail("leaf_targetids and leaf_weights have different lengths");
  for (int64_t t : targets) {
    if (t < 0 || t >= target_count) fail(fmt::format("leaf_targetids holds {}, where {} are known", t, target_count));
  }
  // The members of each set, in the order of the nodes that have one.
  std::vector<std::vector<double>> sets(1);
  for (double member : read_tensor(node, "membership_values").value_or(std::vector<double>{})) {
    if (std::isnan(member)) sets.emplace_back();
    else sets.back().push_back(member);
  }
  // Nodes 0 to n - 1, then the leaves, then the additional nodes of sets with several members: one comparison for
  // each.
  TreeTables tables;
  const auto at = [&](int64_t id, int64_t is_leaf) {
    if (id < 0 || id >= static_cast<int64_t>(is_leaf != 0 ? targets.size() : n))
      fail(fmt::format("a node leads to {} {}, which there is not", is_leaf != 0 ? "leaf" : "node", id));
    return is_leaf != 0 ? static_cast<int64_t>(n) + id : id;
  };
  struct More {
    std::size_t node;
    std::vector<double> members;
  };
  std::vector<More> more;
  std::size_t set = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double mode = (*modes)[i];
    const int32_t flag = !missing.empty() && missing[i] != 0 ? kMissingTracksTrue : 0;
    const int32_t feature = feature_id(node, features[i]);
    const int64_t first = at(yes[i], yes_leaf[i]), second = at(no[i], no_leaf[i]);
    if (!(mode >= 0 && mode <= 6)) fail(fmt::format("a node has mode {}", mode));
    if (mode < 6) {
      add_node(tables, feature, static_cast<int32_t>(mode) | flag, first, second, (*splits)[i]);
      continue;
    }
    if (set + 1 >= sets.size()) fail("membership_values has fewer sets than there are nodes with one");
    std::vector<double> members = sets[set++];
    if (members.empty()) members.push_back(std::numeric_limits<double>::quiet_NaN());  // equal to nothing
    add_node(tables, feature, static_cast<int32_t>(TreeMode::eq) | flag, first, second, members[0]);
    members.erase(members.begin());
    if (!members.empty()) more.push_back({i, std::move(members)});
  }
  for (std::size_t k = 0; k < targets.size(); ++k) {
    add_node(tables, 0, leaf_mode(), static_cast<int64_t>(tables.weights.size()), 1, 0);
    tables.weights.push_back((*weights)[k]);
    tables.targets.push_back(static_cast<int32_t>(targets[k]));
  }
  for (const More& m : more) {
    const std::vector<int32_t> first(tables.nodes.begin() + static_cast<std::ptrdiff_t>(4 * m.node),
                                     tables.nodes.begin() + static_cast<std::ptrdiff_t>(4 * m.node + 4));
    std::size_t last = m.node;
    for (double member : m.members) {
      const std::size_t added = tables.thresholds.size();
      add_node(tables, first[0], first[1], first[2], first[3], member);
      tables.nodes[4 * last + 3] = static_cast<int32_t>(added);
      last = added;
    }
  }
  for (int64_t root : roots) {
    if (root < 0 || root >= static_cast<int64_t>(n)) fail(fmt::format("tree_roots holds {}, where there are {} nodes", root, n));
    tables.roots.push_back(static_cast<int32_t>(root));
  }
  check_walks(node, tables);
  return tables;
}

}  // namespace onnxc
