// LinearRegressor and LinearClassifier: a product with constants, then what turns sums into scores and labels.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/ml/classes.h"

namespace onnxc {
namespace {

struct Linear {
  std::vector<float> coefficients, intercepts;
  int64_t rows = 1;  ///< targets, classes
};

Linear linear_of(const Node& node) {
  Linear l{floats_of(node, "coefficients"), floats_of(node, "intercepts"), 1};
  const bool classifier = node.op == "LinearClassifier";
  // A classifier has as many scores as intercepts; without intercepts, as many as labels.
  l.rows = classifier ? l.intercepts.empty() ? class_labels(node).count() : static_cast<int64_t>(l.intercepts.size())
                      : node.integer("targets", 1);
  if (l.rows < 1 || l.coefficients.empty() || static_cast<int64_t>(l.coefficients.size()) % l.rows != 0)
    node.fail(ErrorKind::Invalid, fmt::format("{} coefficients are no {} rows", l.coefficients.size(), l.rows));
  if (!l.intercepts.empty() && static_cast<int64_t>(l.intercepts.size()) != l.rows)
    node.fail(ErrorKind::Invalid, fmt::format("{} intercepts for {} targets", l.intercepts.size(), l.rows));
  return l;
}

/// [rows, features] of the input.
Extents rows_of(Inference& n) {
  const Extents x = n.extents(0);
  const ElementType type = n.element(0);
  if (type != ElementType::F32 && type != ElementType::F64 && type != ElementType::I64 && type != ElementType::I32)
    n.fail(fmt::format("the input is {}", name(type)));
  if (x.size() != 1 && x.size() != 2) n.fail(fmt::format("the input has shape {}, not [rows, features]", text(x)));
  const Linear l = linear_of(n.node());
  n.unify(x.back(), static_cast<int64_t>(l.coefficients.size()) / l.rows, "the number of features");
  return {x.size() == 1 ? Dim(1) : x[0], x.back()};
}

void infer_linear_regressor(Inference& n) { n.output(0, ElementType::F32, {rows_of(n)[0], linear_of(n.node()).rows}); }

void infer_linear_classifier(Inference& n) {
  const Extents x = rows_of(n);
  const ClassLabels labels = class_labels(n.node());
  const int64_t rows = linear_of(n.node()).rows;
  if (rows == 1 ? labels.count() != 2 : rows > labels.count()) n.fail(fmt::format("{} scores for {} labels", rows, labels.count()));
  n.output(0, labels.strings.empty() ? ElementType::I64 : ElementType::String, {x[0]});
  n.output(1, ElementType::F32, {x[0], rows == 1 ? 2 : rows});
}

Constant float_constant(const std::vector<float>& values, std::vector<int64_t> shape) {
  auto t = std::make_shared<TensorData>(TensorData::zeros(ElementType::F32, std::move(shape)));
  std::ranges::copy(values, t->as<float>().begin());
  return t;
}

ValueId product(GraphBuilder& b, const Node& node) {
  const Linear l = linear_of(node);
  const int64_t features = static_cast<int64_t>(l.coefficients.size()) / l.rows;
  ValueId x = node.input(0);
  if (b.type(x).element != ElementType::F32) x = b.op("Cast", {x}, {{"to", static_cast<int64_t>(ElementType::F32)}});
  if (b.rank(x) == 1) x = b.op("Unsqueeze", {x, b.integers({0})});
  std::vector<ValueId> inputs{x, b.graph().add_constant(node.name + ".coefficients", float_constant(l.coefficients, {l.rows, features}))};
  if (!l.intercepts.empty()) inputs.push_back(b.graph().add_constant(node.name + ".intercepts", float_constant(l.intercepts, {l.rows})));
  return b.op("Gemm", std::move(inputs), {{"transB", int64_t{1}}});
}

std::optional<std::vector<ValueId>> decompose_linear_regressor(GraphBuilder& b, const Node& node) {
  const ValueId scores = product(b, node);
  if (node.string("post_transform", "NONE") == "NONE") return std::vector{scores};
  return std::vector{b.op("onnxc.PostTransform", {scores}, {{"post_transform", node.string("post_transform", "NONE")}})};
}

std::optional<std::vector<ValueId>> decompose_linear_classifier(GraphBuilder& b, const Node& node) {
  const ValueId scores = product(b, node);
  const std::string post = node.string("post_transform", "NONE");
  if (linear_of(node).rows > 1 && (post == "NONE" || post == "LOGISTIC" || post == "SOFTMAX")) {
    const ValueId classes = b.op("onnxc.BestClass", {scores});
    const ValueId transformed = post == "NONE"       ? scores
                                : post == "LOGISTIC" ? b.op("Sigmoid", {scores})
                                                     : b.op("Softmax", {scores}, {{"axis", int64_t{1}}});
    return std::vector{pick_labels(b, node, classes), transformed};
  }
  const std::vector<ValueId> both = b.ops("onnxc.ClassScores", {scores}, 2, {{"post_transform", post}});
  return std::vector{pick_labels(b, node, both[0]), both[1]};
}

// ---- onnxc.PostTransform: of each row

void infer_post_transform(Inference& n) { n.output(0, n.type(0)); }

scalar::ScoreParams score_params(const Node& node) { return {post_transform_of(post_transform_arg(node))}; }

void evaluate_post_transform(Evaluation& e) { scalar::transform_rows(e.out<float>(), e.in<float>(0), score_params(e.node())); }

void lower_post_transform(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  l.call("scalar_post_transform").tensor(y).tensor(x).params({{"post", post_transform_arg(l.node())}}).may_share(y, x).emit();
}

// ---- onnxc.BestClass: the number of the class with the largest score

void infer_best_class(Inference& n) { n.output(0, ElementType::I64, {n.extents(0)[0]}); }

void evaluate_best_class(Evaluation& e) {
  e.allocate(0, ElementType::I64, {e.input(0).shape[0]});
  scalar::best_class(e.out<int64_t>().data, e.in<float>(0));
}

void lower_best_class(KernelQuery& l) {
  const View x = l.in(0);
  l.call("scalar_best_class").pointer(l.out(0)).tensor(x).emit();
}

// ---- onnxc.ClassScores: the number of the class with the largest score, and the scores of all classes. A single
// score is that of the second of two classes

void infer_class_scores(Inference& n) {
  const Extents& x = n.extents(0);
  n.output(0, ElementType::I64, {x[0]});
  n.output(1, ElementType::F32, {x[0], x[1] == Dim(1) ? Dim(2) : x[1]});
}

void evaluate_class_scores(Evaluation& e) {
  const std::vector<int64_t>& x = e.input(0).shape;
  e.allocate(0, ElementType::I64, {x[0]});
  e.allocate(1, ElementType::F32, {x[0], x[1] == 1 ? 2 : x[1]});
  scalar::class_scores(e.out<float>(1), e.out<int64_t>().data, e.in<float>(0), score_params(e.node()));
}

void lower_class_scores(KernelQuery& l) {
  const View x = l.in(0), classes = l.out(0), y = l.out(1);
  l.call("scalar_class_scores").tensor(y).pointer(classes).tensor(x).params({{"post", post_transform_arg(l.node())}}).emit();
}

}  // namespace

extern const Operator op_LinearRegressor, op_LinearClassifier, op_PostTransform, op_BestClass, op_ClassScores;
const Operator op_LinearRegressor{.name = "LinearRegressor",
                                  .domain = "ai.onnx.ml",
                                  .min_inputs = 1,
                                  .max_inputs = 1,
                                  .max_outputs = 1,
                                  .infer = infer_linear_regressor,
                                  .decompose = decompose_linear_regressor};
const Operator op_LinearClassifier{.name = "LinearClassifier",
                                   .domain = "ai.onnx.ml",
                                   .min_inputs = 1,
                                   .max_inputs = 1,
                                   .max_outputs = 2,
                                   .infer = infer_linear_classifier,
                                   .decompose = decompose_linear_classifier};
const Operator op_PostTransform{.name = "PostTransform",
                                .domain = "onnxc",
                                .min_inputs = 1,
                                .max_inputs = 1,
                                .max_outputs = 1,
                                .infer = infer_post_transform,
                                .evaluate = evaluate_post_transform,
                                .lower = lower_post_transform};
const Operator op_BestClass{.name = "BestClass",
                            .domain = "onnxc",
                            .min_inputs = 1,
                            .max_inputs = 1,
                            .max_outputs = 1,
                            .infer = infer_best_class,
                            .evaluate = evaluate_best_class,
                            .lower = lower_best_class};
const Operator op_ClassScores{.name = "ClassScores",
                              .domain = "onnxc",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .min_outputs = 2,
                              .max_outputs = 2,
                              .infer = infer_class_scores,
                              .evaluate = evaluate_class_scores,
                              .lower = lower_class_scores};

}  // namespace onnxc
