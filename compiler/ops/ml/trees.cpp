// TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier. The classifier computes class numbers, which select
// from its labels.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/ml/classes.h"
#include "compiler/ops/ml/forest.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/ml/trees.hpp"

namespace onnxc {
namespace {

/// [rows, columns] of an input that may be one row.
Extents as_rows(const Extents& x) { return x.size() == 1 ? Extents{1, x[0]} : x; }

Extents rows_for_trees(Inference& n) {
  const Extents x = n.extents(0);
  const ElementType type = n.element(0);
  if (type != ElementType::F32 && type != ElementType::F64 && type != ElementType::I64 && type != ElementType::I32 &&
      type != ElementType::F16)
    n.fail(fmt::format("the input is {}", name(type)));
  if (x.size() != 1 && x.size() != 2) n.fail(fmt::format("the input has shape {}, not [rows, features]", text(x)));
  return as_rows(x);
}

void need_features(Inference& n, Dim columns) {
  const int64_t most = most_feature(n.node());
  const Dim least = most + 1;
  if (columns.is_constant() && columns.value() <= most)
    n.fail(fmt::format("a node reads feature {}, where the input has {}", most, columns.value()));
  if (!always_at_least(columns, least)) n.unify(columns, max(columns, least), "the number of features");
}

int64_t targets_of(const Node& node) {
  const int64_t n = node.integer("n_targets", 1);
  if (n < 1 || n > 1 << 20) node.fail(ErrorKind::Invalid, fmt::format("n_targets is {}", n));
  return n;
}

TreeTables tables_of(const Node& node) {
  if (node.op == "TreeEnsemble") return read_tree_ensemble(node);
  if (node.op == "TreeEnsembleRegressor") return read_trees(node, "target", targets_of(node));
  return read_trees(node, "class", static_cast<int64_t>(class_labels(node).strings.size() + class_labels(node).integers.size()));
}

void infer_tree_regressor(Inference& n) {
  const Extents x = rows_for_trees(n);
  need_features(n, x[1]);
  n.output(0, n.node().op == "TreeEnsemble" ? n.element(0) : ElementType::F32, {x[0], targets_of(n.node())});
}

/// The type of the arithmetic, as in ONNX Runtime.
ElementType number_type(ElementType x) { return x == ElementType::F64 ? ElementType::F64 : ElementType::F32; }

PointerArg numbers(KernelQuery& l, const std::string& what, ElementType type, const std::vector<double>& values) {
  if (type == ElementType::F64) return l.weights(what, type, values);
  return l.weights(what, type, std::vector<float>(values.begin(), values.end()));
}

}  // namespace

NamedArgs forest_args(KernelQuery& l, const TreeTables& tables, bool trees) {
  const ElementType type = number_type(l.type(0).element);
  NamedArgs forest;
  if (trees) {
    forest = {{"nodes", l.weights("nodes", ElementType::I32, tables.nodes)},
              {"thresholds", numbers(l, "thresholds", type, tables.thresholds)},
              {"roots", l.weights("roots", ElementType::I32, tables.roots)}};
  }
  forest.emplace_back("trees", dim_arg(static_cast<int64_t>(tables.roots.size())));
  if (trees && !tables.weights.empty()) {
    forest.emplace_back("targets", l.weights("targets", ElementType::I32, tables.targets));
    forest.emplace_back("weights", numbers(l, "weights", type, tables.weights));
  }
  if (!tables.base.empty()) {
    forest.emplace_back("base", numbers(l, "base", type, tables.base));
    forest.emplace_back("bases", dim_arg(static_cast<int64_t>(tables.base.size())));
  }
  return forest;
}

namespace {

/// The candidates of a tree ensemble: the scalar kernel, which takes any, and flat forests.
void consider_forest(KernelQuery& l, const ForestCall& forest) {
  const ElementType type = number_type(l.type(0).element);
  const double rows = forest.x.extents[0].is_constant() ? static_cast<double>(forest.x.extents[0].value()) : 1;
  l.consider(forest.is_classifier ? "scalar_tree_classifier" : "scalar_tree_regressor",
             rows * static_cast<double>(forest.tables->thresholds.size()), 0, [&l, forest, type] {
               StepBuilder call = l.call(forest.is_classifier ? "scalar_tree_classifier" : "scalar_tree_regressor");
               call.template_arg(type).tensor(forest.y);
               if (forest.is_classifier) call.pointer(l.out(0));
               call.tensor(forest.x)
                   .params(forest_args(l, *forest.tables, true))
                   .pointer(l.thread_workspace("scores", type, forest.targets))
                   .pointer(l.thread_workspace("has", ElementType::Bool, forest.targets))
                   .params(forest.params)
                   .emit();
             });
  if (l.optimise()) consider_fast_forest(l, forest);
}

View x_as_rows(KernelQuery& l) {
  View x = l.in(0);
  x.extents = as_rows(x.extents);
  return x;
}

Arg post_of(const Node& node) {
  if (node.op != "TreeEnsemble") return post_transform_arg(node);
  static constexpr const char* kNames[] = {"none", "softmax", "logistic", "softmax_zero", "probit"};
  const int64_t number = node.integer("post_transform", 0);
  if (number < 0 || number > 4) node.fail(ErrorKind::Invalid, fmt::format("post_transform is {}", number));
  return EnumArg{"scalar::PostTransform", kNames[number]};
}

EnumArg aggregate_of(const Node& node) {
  static constexpr const char* kNames[] = {"average", "sum", "min", "max"};
  int64_t number = 1;
  if (node.op == "TreeEnsemble") {
    number = node.integer("aggregate_function", 1);
  } else {
    std::string word = node.string("aggregate_function", "SUM");
    std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    number = std::ranges::find(kNames, word) - std::begin(kNames);
  }
  if (number < 0 || number > 3) node.fail(ErrorKind::Invalid, "aggregate_function is unknown");
  return EnumArg{"scalar::TreeAggregate", kNames[number]};
}

/// Calls run(rows, forest, scores, has) with what the scalar kernels take.
template <class Run>
void with_forest(Evaluation& e, const TreeTables& tables, int64_t targets, Run run) {
  for_number(e.type(0), [&]<class X>() {
    using T = std::conditional_t<std::is_same_v<X, double>, double, float>;
    const std::vector<T> thresholds(tables.thresholds.begin(), tables.thresholds.end()),
        weights(tables.weights.begin(), tables.weights.end()), base(tables.base.begin(), tables.base.end());
    const scalar::Forest<T> forest{tables.nodes.data(),   thresholds.data(), tables.roots.data(), std::ssize(tables.roots),
                                   tables.targets.data(), weights.data(),    base.data(),         std::ssize(base)};
    std::vector<T> scores(static_cast<std::size_t>(targets));
    const auto has = std::make_unique<bool[]>(scores.size());
    Tensor<const X> x = e.in<X>(0);
    if (x.shape.rank == 1) x.shape = {1, x.shape[0]};
    run(x, forest, scores.data(), has.get());
  });
}

void evaluate_regressor(Evaluation& e) {
  const Node& node = e.node();
  constexpr const char* kAggregates[] = {"sum", "average", "min", "max"};
  const scalar::TreeParams params{
      .targets = targets_of(node),
      .aggregate = static_cast<scalar::TreeAggregate>(std::ranges::find(kAggregates, aggregate_of(node).value) - kAggregates),
      .post = post_transform_of(post_of(node))};
  with_forest(e, tables_of(node), params.targets, [&]<class X>(Tensor<const X> x, const auto& forest, auto* scores, bool* has) {
    if (node.op == "TreeEnsemble") scalar::tree_regressor({}, e.out<X>(), x, forest, scores, has, params);
    else scalar::tree_regressor({}, e.out<float>(), x, forest, scores, has, params);
  });
}

void lower_tree_regressor(KernelQuery& l) {
  const Node& node = l.node();
  const int64_t targets = targets_of(node);
  const EnumArg aggregate = aggregate_of(node);
  consider_forest(l, {.tables = std::make_shared<TreeTables>(tables_of(node)),
                      .x = x_as_rows(l),
                      .y = l.out(0),
                      .targets = targets,
                      .params = {{"targets", dim_arg(targets)}, {"aggregate", aggregate}, {"post", post_of(node)}},
                      .aggregate = aggregate.value});
}

// ---- The classifier

void infer_tree_classes(Inference& n) {
  const Extents x = rows_for_trees(n);
  need_features(n, x[1]);
  n.output(0, ElementType::I64, {x[0]});
  n.output(1, ElementType::F32, {x[0], class_labels(n.node()).count()});
}

void infer_tree_classifier(Inference& n) {
  infer_tree_classes(n);
  if (class_labels(n.node()).strings.empty()) return;
  n.output(0, ElementType::String, {rows_for_trees(n)[0]});
}

/// Whether the weights are all for one of two classes.
bool is_one_sided(const TreeTables& tables, int64_t classes) {
  return classes == 2 && std::set<int32_t>(tables.targets.begin(), tables.targets.end()).size() == 1;
}

bool is_positive(const TreeTables& tables) {
  return std::ranges::all_of(tables.weights, [](double w) { return w >= 0; });
}

void evaluate_tree_classes(Evaluation& e) {
  const TreeTables tables = tables_of(e.node());
  const int64_t count = class_labels(e.node()).count();
  const scalar::TreeParams params{.targets = count,
                                  .post = post_transform_of(post_of(e.node())),
                                  .one_sided = is_one_sided(tables, count),
                                  .positive = is_positive(tables)};
  with_forest(e, tables, count, [&]<class X>(Tensor<const X> x, const auto& forest, auto* scores, bool* has) {
    e.allocate(0, ElementType::I64, {x.shape[0]});
    e.allocate(1, ElementType::F32, {x.shape[0], count});
    scalar::tree_classifier({}, e.out<float>(1), e.out<int64_t>().data, x, forest, scores, has, params);
  });
}

void lower_tree_classes(KernelQuery& l) {
  const auto tables = std::make_shared<TreeTables>(tables_of(l.node()));
  const int64_t count = class_labels(l.node()).count();
  consider_forest(l, {.tables = tables,
                      .x = x_as_rows(l),
                      .y = l.has_output(1) ? l.out(1) : View{},
                      .targets = count,
                      .params = {{"targets", dim_arg(count)},
                                 {"post", post_of(l.node())},
                                 {"one_sided", flag_arg(is_one_sided(*tables, count))},
                                 {"positive", flag_arg(is_positive(*tables))}},
                      .is_classifier = true});
}

std::optional<std::vector<ValueId>> decompose_tree_classifier(GraphBuilder& b, const Node& node) {
  const std::vector<ValueId> both = b.ops("onnxc.TreeClasses", {node.input(0)}, 2, node.attributes);
  return std::vector{pick_labels(b, node, both[0]), both[1]};
}

}  // namespace

extern const Operator op_TreeEnsemble, op_TreeEnsembleRegressor, op_TreeEnsembleClassifier, op_TreeClasses;
const Operator op_TreeEnsemble{.name = "TreeEnsemble",
                               .domain = "ai.onnx.ml",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .infer = infer_tree_regressor,
                               .evaluate = evaluate_regressor,
                               .lower = lower_tree_regressor};
const Operator op_TreeEnsembleRegressor{.name = "TreeEnsembleRegressor",
                                        .domain = "ai.onnx.ml",
                                        .min_inputs = 1,
                                        .max_inputs = 1,
                                        .max_outputs = 1,
                                        .infer = infer_tree_regressor,
                                        .evaluate = evaluate_regressor,
                                        .lower = lower_tree_regressor};
const Operator op_TreeEnsembleClassifier{.name = "TreeEnsembleClassifier",
                                         .domain = "ai.onnx.ml",
                                         .min_inputs = 1,
                                         .max_inputs = 1,
                                         .max_outputs = 2,
                                         .infer = infer_tree_classifier,
                                         .decompose = decompose_tree_classifier};
const Operator op_TreeClasses{.name = "TreeClasses",
                              .domain = "onnxc",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .min_outputs = 2,
                              .max_outputs = 2,
                              .infer = infer_tree_classes,
                              .evaluate = evaluate_tree_classes,
                              .lower = lower_tree_classes};

}  // namespace onnxc
