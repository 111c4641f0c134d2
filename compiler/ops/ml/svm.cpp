// SVMRegressor and SVMClassifier. The classifier computes class numbers, which select from its labels.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ops/ml/classes.h"
#include "compiler/ops/ml/svm.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/ml/svm.hpp"

namespace onnxc {
namespace {

SvmModel model_of(const Node& node) {
  const auto fail = [&](const std::string& found) { node.fail(ErrorKind::Invalid, found); };
  SvmModel m;
  m.coefficients = floats_of(node, "coefficients");
  m.vectors = floats_of(node, "support_vectors");
  m.rho = floats_of(node, "rho");
  m.kernel_type = node.string("kernel_type", "LINEAR");
  if (const auto params = floats_of(node, "kernel_params"); !params.empty()) {
    if (params.size() != 3) fail(fmt::format("kernel_params has {} values, not 3", params.size()));
    m.kernel = params;
  }
  if (m.kernel_type != "LINEAR" && m.kernel_type != "POLY" && m.kernel_type != "RBF" && m.kernel_type != "SIGMOID")
    fail(fmt::format("kernel_type is '{}'", m.kernel_type));
  if (m.coefficients.empty() || m.rho.empty()) fail("has no coefficients or no rho");
  const bool classifier = node.op != "SVMRegressor";
  if (classifier) {
    m.vectors_of = node.integers("vectors_per_class");
    m.classes = class_labels(node).count();
    m.prob_a = floats_of(node, "prob_a");
    m.prob_b = floats_of(node, "prob_b");
    for (int64_t v : m.vectors_of) {
      if (v < 0 || v > INT32_MAX) fail(fmt::format("vectors_per_class holds {}", v));
      m.vector_count += v;
    }
  } else {
    m.vector_count = node.integer("n_supports", 0);
  }
  const auto is = [](const auto& list, int64_t size) { return static_cast<int64_t>(list.size()) == size; };
  if (m.vector_count <= 0) {
    m.vector_count = 0;
    m.prob_a.clear();
    if (static_cast<int64_t>(m.coefficients.size()) % m.classes != 0)
      fail(fmt::format("{} coefficients for {} classes", m.coefficients.size(), m.classes));
    m.features = static_cast<int64_t>(m.coefficients.size()) / m.classes;
    return m;
  }
  if (m.vectors.empty() || static_cast<int64_t>(m.vectors.size()) % m.vector_count != 0)
    fail(fmt::format("{} values are no {} support vectors", m.vectors.size(), m.vector_count));
  m.features = static_cast<int64_t>(m.vectors.size()) / m.vector_count;
  if (!classifier) {
    if (!is(m.coefficients, m.vector_count))
      fail(fmt::format("{} coefficients for {} support vectors", m.coefficients.size(), m.vector_count));
    return m;
  }
  if (m.classes < 2 || m.classes > 1 << 12 || !is(m.vectors_of, m.classes))
    fail(fmt::format("vectors_per_class has {} values for {} classes", m.vectors_of.size(), m.classes));
  if (!is(m.coefficients, (m.classes - 1) * m.vector_count))
    fail(fmt::format("{} coefficients for {} support vectors and {} classes", m.coefficients.size(), m.vector_count, m.classes));
  if (!is(m.rho, m.pairs())) fail(fmt::format("rho has {} values for {} pairs of classes", m.rho.size(), m.pairs()));
  if (m.prob_a.size() != m.prob_b.size() || (!m.prob_a.empty() && !is(m.prob_a, m.pairs())))
    fail(fmt::format("prob_a has {} values, prob_b {}, for {} pairs of classes", m.prob_a.size(), m.prob_b.size(), m.pairs()));
  return m;
}

Dim rows_of(Inference& n, const SvmModel& m) {
  const Extents x = n.extents(0);
  const ElementType type = n.element(0);
  if (type != ElementType::F32 && type != ElementType::F64 && type != ElementType::I64 && type != ElementType::I32)
    n.fail(fmt::format("the input is {}", name(type)));
  if (x.size() != 1 && x.size() != 2) n.fail(fmt::format("the input has shape {}, not [rows, features]", text(x)));
  n.unify(x.back(), m.features, "the number of features");
  return x.size() == 1 ? Dim(1) : x[0];
}

/// The input as f32[rows, features].
ValueId rows(GraphBuilder& b, ValueId x) {
  if (b.type(x).element != ElementType::F32) x = b.op("Cast", {x}, {{"to", static_cast<int64_t>(ElementType::F32)}});
  return b.rank(x) == 1 ? b.op("Unsqueeze", {x, b.integers({0})}) : x;
}

/// States the scalar kernel and, for vectors, fast ones.
void consider_svm(KernelQuery& l, const SvmCall& svm) {
  const char* const row = svm.is_classifier ? "scalar_svm_classifier" : "scalar_svm_regressor";
  l.consider(row, svm.macs(), 0, [&l, svm, row] {
    const SvmModel& m = svm.model;
    std::optional<PointerArg> vectors;
    if (m.vector_count > 0) vectors = l.weights("support_vectors", ElementType::F32, m.vectors);
    StepBuilder call = l.call(row);
    call.tensor(svm.y);
    if (svm.is_classifier) call.pointer(l.out(0));
    call.tensor(svm.x).params(svm_params(l, m, vectors));
    if (svm.is_classifier) {
      call.params(svm_class_params(l, m));
      call.pointer(
          l.share_workspace("room", ElementType::F32, m.vector_count + 4 * m.classes * m.classes + 4 * m.classes, svm.x.extents[0]));
    } else {
      call.flag(svm.one_class());
    }
    call.emit();
  });
  if (l.optimise() && svm.model.vector_count > 0) consider_fast_svm(l, svm);
}

scalar::Svm scalar_svm(const SvmModel& m) {
  constexpr std::string_view kKernels[] = {"linear", "poly", "rbf", "sigmoid"};
  return {.kernel = static_cast<scalar::SvmKernel>(std::ranges::find(kKernels, svm_kernel_name(m)) - kKernels),
          .gamma = m.kernel[0],
          .coef0 = m.kernel[1],
          .degree = m.kernel[2],
          .vectors = m.vectors.data(),
          .vector_count = m.vector_count,
          .coefficients = m.coefficients.data(),
          .rho = m.rho.data()};
}

/// Whether no coefficient is less than 0.
bool is_positive(const SvmModel& m) {
  return std::ranges::all_of(m.coefficients, [](float c) { return c >= 0; });
}

// ---- The regressor

void infer_svm_regressor(Inference& n) { n.output(0, ElementType::F32, {rows_of(n, model_of(n.node())), 1}); }

std::optional<std::vector<ValueId>> decompose_regressor(GraphBuilder& b, const Node& node) {
  const ValueId x = rows(b, node.input(0));
  if (x == node.input(0)) return std::nullopt;
  return std::vector{b.op("ai.onnx.ml.SVMRegressor", {x}, node.attributes)};
}

void evaluate_svm_regressor(Evaluation& e) {
  const SvmModel m = model_of(e.node());
  scalar::svm_regressor(e.out<float>(), e.in<float>(0), scalar_svm(m), e.node().integer("one_class", 0) != 0);
}

void lower_svm_regressor(KernelQuery& l) { consider_svm(l, {.node = l.node(), .model = model_of(l.node()), .x = l.in(0), .y = l.out(0)}); }

// ---- The classifier

void infer_svm_classes(Inference& n) {
  const SvmModel m = model_of(n.node());
  const Dim count = rows_of(n, m);
  n.output(0, ElementType::I64, {count});
  n.output(1, ElementType::F32, {count, m.scores()});
}

void infer_svm_classifier(Inference& n) {
  infer_svm_classes(n);
  if (!class_labels(n.node()).strings.empty()) n.output(0, ElementType::String, {rows_of(n, model_of(n.node()))});
}

std::optional<std::vector<ValueId>> decompose_svm_classifier(GraphBuilder& b, const Node& node) {
  const std::vector<ValueId> both = b.ops("onnxc.SvmClasses", {rows(b, node.input(0))}, 2, node.attributes);
  return std::vector{pick_labels(b, node, both[0]), both[1]};
}

void evaluate_svm_classes(Evaluation& e) {
  const SvmModel m = model_of(e.node());
  const scalar::SvmClasses classes{.classes = m.classes,
                                   .vectors_of = m.vectors_of.data(),
                                   .prob_a = m.prob_a.empty() ? nullptr : m.prob_a.data(),
                                   .prob_b = m.prob_b.empty() ? nullptr : m.prob_b.data(),
                                   .post = post_transform_of(post_transform_arg(e.node())),
                                   .positive = is_positive(m)};
  std::vector<float> room(static_cast<std::size_t>(m.vector_count + 4 * m.classes * m.classes + 4 * m.classes));
  e.allocate(0, ElementType::I64, {e.input(0).shape[0]});
  e.allocate(1, ElementType::F32, {e.input(0).shape[0], m.scores()});
  scalar::svm_classifier(e.out<float>(1), e.out<int64_t>().data, e.in<float>(0), scalar_svm(m), classes, room.data());
}

void lower_svm_classes(KernelQuery& l) {
  consider_svm(l, {.node = l.node(), .model = model_of(l.node()), .x = l.in(0), .y = l.out(1), .is_classifier = true});
}

}  // namespace

std::string svm_kernel_name(const SvmModel& m) {
  std::string kernel = m.kernel_type;
  std::ranges::transform(kernel, kernel.begin(), [](char c) { return static_cast<char>(c + 32); });
  return kernel;
}

NamedArgs svm_params(KernelQuery& l, const SvmModel& m, std::optional<PointerArg> vectors) {
  NamedArgs params{{"kernel", EnumArg{"scalar::SvmKernel", svm_kernel_name(m)}},
                   {"gamma", number_arg(static_cast<double>(m.kernel[0]))},
                   {"coef0", number_arg(static_cast<double>(m.kernel[1]))},
                   {"degree", number_arg(static_cast<double>(m.kernel[2]))}};
  if (vectors) {
    params.emplace_back("vectors", *vectors);
    params.emplace_back("vector_count", dim_arg(m.vector_count));
  }
  params.emplace_back("coefficients", l.weights("coefficients", ElementType::F32, m.coefficients));
  params.emplace_back("rho", l.weights("rho", ElementType::F32, m.rho));
  return params;
}

NamedArgs svm_class_params(KernelQuery& l, const SvmModel& m) {
  NamedArgs params{{"classes", dim_arg(m.classes)}};
  if (m.vector_count > 0) params.emplace_back("vectors_of", l.weights("vectors_per_class", ElementType::I64, m.vectors_of));
  if (!m.prob_a.empty()) {
    params.emplace_back("prob_a", l.weights("prob_a", ElementType::F32, m.prob_a));
    params.emplace_back("prob_b", l.weights("prob_b", ElementType::F32, m.prob_b));
  }
  params.emplace_back("post", post_transform_arg(l.node()));
  if (is_positive(m)) params.emplace_back("positive", flag_arg(true));
  return params;
}

double SvmCall::macs() const {
  const double rows = x.extents[0].is_constant() ? static_cast<double>(x.extents[0].value()) : 1;
  return rows * static_cast<double>(std::max<int64_t>(model.vector_count, 1) * model.features);
}

bool SvmCall::one_class() const { return node.integer("one_class", 0) != 0; }

extern const Operator op_SVMRegressor, op_SVMClassifier, op_SvmClasses;
const Operator op_SVMRegressor{.name = "SVMRegressor",
                               .domain = "ai.onnx.ml",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .infer = infer_svm_regressor,
                               .decompose = decompose_regressor,
                               .evaluate = evaluate_svm_regressor,
                               .lower = lower_svm_regressor};
const Operator op_SVMClassifier{.name = "SVMClassifier",
                                .domain = "ai.onnx.ml",
                                .min_inputs = 1,
                                .max_inputs = 1,
                                .max_outputs = 2,
                                .infer = infer_svm_classifier,
                                .decompose = decompose_svm_classifier};
const Operator op_SvmClasses{.name = "SvmClasses",
                             .domain = "onnxc",
                             .min_inputs = 1,
                             .max_inputs = 1,
                             .min_outputs = 2,
                             .max_outputs = 2,
                             .infer = infer_svm_classes,
                             .evaluate = evaluate_svm_classes,
                             .lower = lower_svm_classes};

}  // namespace onnxc
