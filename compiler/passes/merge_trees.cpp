// Functions of trees are trees, and sums of trees are forests.
//
// Isolation forests are exported as an ensemble for each tree, which finds the number of a leaf, some twenty operators that make
// a depth of it, and the sum of the depths:
//
//   a = TreeEnsembleRegressor x     c = LabelEncoder (Cast a)     y = Add (Log c) (Log d)
//   b = TreeEnsembleRegressor x     d = LabelEncoder (Cast b)
//
// becomes y = TreeEnsembleRegressor x, whose leaves hold the logarithms. What is computed from one tree, row by row, is a function
// of its leaf: here it is computed for each leaf, by the reference kernels. Trees are added up in the order of the sum, so
// results are rounded as before.
//
// Only ensembles of one tree take part, since several are rounded together, and only trees from which nothing else is computed.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "compiler/ops/evaluate.h"
#include "compiler/ops/ml/forest.h"
#include "compiler/ops/tensor/gather.h"
#include "compiler/passes/passes.h"
#include "runtime_stub/onnxc/scalar/ml/trees.hpp"

namespace onnxc {
namespace {

/// An ensemble of one tree.
struct Tree {
  const Node* node;
  TreeTables tables;
  ValueId x;                       ///< what it reads, beyond any Gather of columns
  std::vector<int64_t> columns{};  ///< of x, for each feature; empty: the features are the columns
  std::vector<int> members{};      ///< the nodes that compute functions of its leaf, in order
  int ends = 0;                    ///< the number of their values that others read
  ValueId end = kAbsent;           ///< the last of these
};

bool is_view(const Node& node) {
  return node.is("Identity") || node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze");
}

/// Whether the tensor has one element for each row.
bool is_column(const Type& type, const Dim& rows) {
  if (!type.is_tensor() || type.element == ElementType::String || is_sub_byte(type.element)) return false;
  std::vector<Dim> longer;
  std::ranges::copy_if(type.extents, std::back_inserter(longer), [](const Dim& d) { return !(d == Dim(1)); });
  return rows == Dim(1) ? longer.empty() : longer.size() == 1 && longer[0] == rows;
}

/// The inputs that an expression adds up one by one, beginning with the first. Empty if it does anything else.
std::vector<int> summands(const Expr& expr) {
  std::vector<int> inputs;
  const Expr::Term* term = &expr.terms.back();
  const auto argument = [&](int k) { return &expr.terms[static_cast<std::size_t>(term->args[k])]; };
  while (term->kind == Expr::Kind::Apply && term->fn == Fn::Add && term->type == ElementType::F32) {
    const Expr::Term *left = argument(0), *right = argument(1);
    if (right->kind == Expr::Kind::Apply) std::swap(left, right);
    if (right->kind != Expr::Kind::Input) return {};
    inputs.push_back(right->args[0]);
    term = left;
  }
  if (term->kind != Expr::Kind::Input || inputs.empty()) return {};
  inputs.push_back(term->args[0]);
  std::ranges::reverse(inputs);
  return inputs;
}

class Merger {
 public:
  explicit Merger(Graph& graph)
      : graph_(graph),
        definition_(definitions(graph)),
        uses_(use_counts(graph)),
        tree_(graph.values.size(), -1),
        inside_(graph.values.size(), 0) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      for (auto& [name, region] : node.regions) *region = merge_trees(std::move(*region));
      if (node.outputs.size() != 1 || node.outputs[0] == kAbsent) continue;
      if (auto tree = tree_of(node)) {
        tree_[node.outputs[0]] = static_cast<int>(trees_.size());
        trees_.push_back(std::move(*tree));
      } else if (const int of = member_of(node); of >= 0) {
        tree_[node.outputs[0]] = of;
        trees_[static_cast<std::size_t>(of)].members.push_back(static_cast<int>(i));
        for (ValueId v : node.inputs) inside_[v] += v != kAbsent && tree_[v] == of;
      }
    }
    if (trees_.empty()) return;
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      if (tree_[id] < 0 || uses_[id] == inside_[id]) continue;
      Tree& tree = trees_[static_cast<std::size_t>(tree_[id])];
      ++tree.ends;
      tree.end = id;
    }
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) merge(graph_.nodes[i]);
  }

 private:
  const Node* producer(ValueId v) const { return v == kAbsent || definition_[v] < 0 ? nullptr : &graph_.node(definition_[v]); }
  const Type& type(ValueId v) const { return graph_[v].type; }

  std::optional<Tree> tree_of(const Node& node) const {
    if (node.full_op() != "ai.onnx.ml.TreeEnsembleRegressor" || node.integer("n_targets", 1) != 1 || node.epilogue ||
        node.string("post_transform", "NONE") != "NONE" || node.has("nodes_values_as_tensor") ||
        type(node.inputs[0]).element == ElementType::F64)
      return std::nullopt;
    const std::vector<int64_t> ids = node.integers("nodes_treeids");
    if (std::ranges::adjacent_find(ids, std::not_equal_to()) != ids.end()) return std::nullopt;
    Tree tree{&node, read_trees(node, "target", 1), node.inputs[0]};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (is_leaf(tree, i) && tree.tables.nodes[4 * i + 3] > 1) return std::nullopt;
    }
    const Node* const gather = producer(tree.x);
    if (gather == nullptr || !gather->is("Gather") || type(gather->inputs[0]).rank() != 2 || gather_axis(*gather, 2) != 1) return tree;
    const TensorData* const indices = graph_.constant(gather->inputs[1]);
    const Dim columns = type(gather->inputs[0]).extents[1];
    if (indices == nullptr || indices->shape.size() != 1 || !columns.is_constant()) return tree;
    std::vector<int64_t> list = to_integers(*indices);
    for (int64_t& c : list) c += c < 0 ? columns.value() : 0;
    if (std::ranges::any_of(list, [&](int64_t c) { return c < 0 || c >= columns.value(); })) return tree;
    tree.x = gather->inputs[0];
    tree.columns = std::move(list);
    return tree;
  }

  static bool is_leaf(const Tree& tree, std::size_t node) {
    return tree.tables.nodes[4 * node + 1] == static_cast<int32_t>(scalar::TreeMode::leaf);
  }

  /// The tree whose leaf decides, row by row, about the value that the node computes; -1 if there is none.
  int member_of(const Node& node) const {
    const bool looks_up = node.full_op() == "ai.onnx.ml.LabelEncoder", gathers = node.is("Gather");
    if ((!node.is_map() && !looks_up && !gathers && !is_view(node)) || (node.epilogue && !node.is_map())) return -1;
    int tree = -1;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if ((i > 0 && is_view(node)) || v == kAbsent) continue;
      if (const TensorData* const constant = graph_.constant(v)) {
        const bool is_table = gathers && i == 0 && constant->shape.size() == 1;
        const bool is_number = node.is_map() && constant->count() == 1;
        if ((!is_table && !is_number) || constant->type == ElementType::String || is_sub_byte(constant->type)) return -1;
        continue;
      }
      if (tree_[v] < 0 || (tree >= 0 && tree_[v] != tree)) return -1;
      if (!is_view(node) && !(type(v).extents == type(node.outputs[0]).extents)) return -1;
      tree = tree_[v];
    }
    if (tree < 0) return -1;
    const ValueId leaf = trees_[static_cast<std::size_t>(tree)].node->outputs[0];
    return is_column(type(node.outputs[0]), type(leaf).extents[0]) ? tree : -1;
  }

  /// The tree, if v is all that is computed from it and can be its output.
  Tree* only_end(ValueId v) {
    if (v == kAbsent || tree_[v] < 0) return nullptr;
    Tree& tree = trees_[static_cast<std::size_t>(tree_[v])];
    return tree.ends == 1 && tree.end == v && type(v) == type(tree.node->outputs[0]) ? &tree : nullptr;
  }

  /// The values that `node` adds up one by one, also by way of other sums that nothing else reads.
  std::vector<ValueId> added(const Node& node) const {
    std::vector<ValueId> later;
    for (const Node* sum = &node;;) {
      const std::vector<int> inputs = sum->is_map() ? summands(*sum->epilogue) : std::vector<int>{};
      if (inputs.empty()) return {};
      for (std::size_t k = inputs.size(); k-- > 1;) later.push_back(sum->inputs[static_cast<std::size_t>(inputs[k])]);
      const ValueId first = sum->inputs[static_cast<std::size_t>(inputs[0])];
      sum = producer(first);
      if (sum != nullptr && sum->is_map() && tree_[first] < 0 && uses_[first] == 1) continue;
      later.push_back(first);
      std::ranges::reverse(later);
      return later;
    }
  }

  /// Makes the node the forest of the trees that it adds up, or the tree whose function it computes.
  void merge(Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0] == kAbsent) return;
    const bool is_function = tree_[node.outputs[0]] >= 0;
    std::vector<ValueId> values;
    if (!is_function) values = added(node);
    else if (producer(node.outputs[0]) != trees_[static_cast<std::size_t>(tree_[node.outputs[0]])].node) values = {node.outputs[0]};
    std::vector<Tree*> trees;
    for (ValueId v : values) {
      trees.push_back(only_end(v));
      if (trees.back() == nullptr || trees.back()->x != trees[0]->x || type(v) != type(node.outputs[0])) return;
    }
    if (trees.empty()) return;
    std::vector<std::vector<float>> leaves;
    for (std::size_t k = 0; k < trees.size(); ++k) {
      auto of_tree = leaf_values(*trees[k], values[k]);
      if (!of_tree) return;
      leaves.push_back(std::move(*of_tree));
    }
    // A forest begins with 0, to which it adds -0 with another result.
    if (std::ranges::any_of(leaves[0], [](float value) { return value == 0 && std::signbit(value); })) return;
    node.domain = "ai.onnx.ml";
    node.op = "TreeEnsembleRegressor";
    node.version = trees[0]->node->version;
    node.attributes = forest(trees, leaves);
    node.inputs = {trees[0]->x};
    node.epilogue.reset();
    node.epilogue_operands = 0;
    for (Tree* tree : trees) tree->ends = 0;  // it is in use
  }

  /// The value that v has for each leaf, in the order of the tree's nodes. Empty if some leaf has none.
  std::optional<std::vector<float>> leaf_values(const Tree& tree, ValueId v) const {
    std::vector<float> leaves;
    const TreeTables& t = tree.tables;
    for (std::size_t i = 0; i < t.thresholds.size(); ++i) {
      if (!is_leaf(tree, i)) continue;
      const auto first = static_cast<std::size_t>(t.nodes[4 * i + 2]);
      float value = 0;
      if (t.nodes[4 * i + 3] == 1) value += static_cast<float>(t.weights[first]);
      if (t.base.size() == 1) value += static_cast<float>(t.base[0]);
      leaves.push_back(value);
    }
    const auto count = static_cast<int64_t>(leaves.size());
    auto start = std::make_shared<TensorData>(TensorData::zeros(ElementType::F32, {count}));
    std::ranges::copy(leaves, start->as<float>().begin());
    std::map<ValueId, Constant> columns{{tree.node->outputs[0], std::move(start)}};
    for (int position : tree.members) {
      const Node& node = graph_.node(position);
      std::vector<Constant> inputs;
      for (ValueId input : node.inputs)
        inputs.push_back(input == kAbsent ? nullptr : tree_[input] >= 0 ? columns.at(input) : graph_[input].constant);
      try {
        columns[node.outputs[0]] = computed(node, std::move(inputs), count);
      } catch (const Error&) {
        return std::nullopt;  // the run may meet it, too
      }
      if (node.outputs[0] == v) break;
    }
    std::ranges::copy(std::as_const(*columns.at(v)).as<float>(), leaves.begin());
    return leaves;
  }

  /// The node's value for each leaf, from those of its inputs.
  Constant computed(const Node& node, std::vector<Constant> inputs, int64_t count) const {
    if (is_view(node)) return inputs[0];
    if (node.is_map()) {
      for (Constant& input : inputs) {
        if (input->count() != 1) continue;
        auto number = std::make_shared<TensorData>(*input);
        number->shape = {};
        input = std::move(number);
      }
      return std::make_shared<TensorData>(evaluate_expression(*node.epilogue, inputs, {count}));
    }
    std::vector<TensorData> room{evaluation_room(type(node.outputs[0]).element, {count})};
    Evaluation evaluation(node, std::move(inputs), std::move(room));
    find_operator(node)->evaluate(evaluation);
    return std::make_shared<TensorData>(std::move(evaluation.take_outputs()[0]));
  }

  static std::map<std::string, Attribute> forest(const std::vector<Tree*>& trees, const std::vector<std::vector<float>>& leaves) {
    std::map<std::string, std::vector<int64_t>> lists;
    std::vector<float> values, weights;
    std::vector<std::string> modes;
    for (std::size_t k = 0; k < trees.size(); ++k) {
      const Node& node = *trees[k]->node;
      const auto number = static_cast<int64_t>(k);
      const std::vector<int64_t> ids = node.integers("nodes_nodeids"), features = node.integers("nodes_featureids");
      for (std::size_t i = 0; i < ids.size(); ++i) {
        lists["nodes_treeids"].push_back(number);
        const auto feature = static_cast<std::size_t>(features[i]);
        const bool leaf = is_leaf(*trees[k], i);
        lists["nodes_featureids"].push_back(leaf ? 0 : trees[k]->columns.empty() ? features[i] : trees[k]->columns[feature]);
        if (!leaf) continue;
        lists["target_treeids"].push_back(number);
        lists["target_nodeids"].push_back(ids[i]);
        lists["target_ids"].push_back(0);
      }
      for (const char* name : {"nodes_nodeids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true"}) {
        std::vector<int64_t> list = node.integers(name);
        list.resize(ids.size(), 0);
        lists[name].insert(lists[name].end(), list.begin(), list.end());
      }
      const auto append = [&](auto& to, const char* name) {
        const auto& from = std::get<std::remove_reference_t<decltype(to)>>(node.attributes.at(name));
        to.insert(to.end(), from.begin(), from.end());
      };
      append(values, "nodes_values");
      append(modes, "nodes_modes");
      weights.insert(weights.end(), leaves[k].begin(), leaves[k].end());
    }
    std::map<std::string, Attribute> attributes(lists.begin(), lists.end());
    attributes["n_targets"] = int64_t{1};
    attributes["nodes_values"] = std::move(values);
    attributes["nodes_modes"] = std::move(modes);
    attributes["target_weights"] = std::move(weights);
    return attributes;
  }

  Graph& graph_;
  PerValue<int> definition_, uses_;
  PerValue<int> tree_;    ///< the tree whose leaf decides about a value, or -1
  PerValue<int> inside_;  ///< how often members of that tree read it
  std::vector<Tree> trees_;
};

}  // namespace

Graph merge_trees(Graph graph) {
  Merger(graph).run();
  return graph;
}

}  // namespace onnxc
