// Operators on features that are compositions: ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Scaler; and Normalizer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ops/ml/classes.h"
#include "runtime_stub/onnxc/scalar/ml/normalizer.hpp"

namespace onnxc {
namespace {

bool is_feature(ElementType t) { return t == ElementType::F32 || t == ElementType::F64 || t == ElementType::I64 || t == ElementType::I32; }

void need_features(Inference& n, int i) {
  if (!is_feature(n.element(i))) n.fail(fmt::format("input {} is {}", i, name(n.element(i))));
}

ValueId cast(GraphBuilder& b, ValueId x, ElementType to) {
  return b.type(x).element == to ? x : b.op("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

/// Numbers as a constant of that type: one, or one for each column.
template <class T>
ValueId row(GraphBuilder& b, ElementType type, const std::vector<T>& values) {
  auto t = std::make_shared<TensorData>(TensorData::zeros(type, {static_cast<int64_t>(values.size())}));
  const auto width = static_cast<std::size_t>(info(type).bits) / 8;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits =
        is_float(type) ? to_bits(type, static_cast<double>(values[i])) : static_cast<uint64_t>(static_cast<int64_t>(values[i]));
    std::memcpy(t->bytes.data() + i * width, &bits, width);
  }
  return b.graph().add_constant("values", std::move(t));
}

void check_row(Inference& n, const char* attribute, std::size_t size) {
  const Extents& x = n.extents(0);
  if (size == 0) n.fail(fmt::format("attribute '{}' is missing", attribute));
  if (size == 1) return;
  if (x.empty()) n.fail(fmt::format("attribute '{}' has {} values for a scalar", attribute, size));
  n.unify(x.back(), static_cast<int64_t>(size), "the number of features");
}

// ---- ArrayFeatureExtractor: Gather along the last axis

void infer_array_feature_extractor(Inference& n) {
  Extents out = n.extents(0);
  if (out.empty()) n.fail("the input is a scalar");
  if (n.element(1) != ElementType::I64) n.fail(fmt::format("the indices are {}, not i64", name(n.element(1))));
  if (out.size() == 1) out.insert(out.begin(), 1);
  out.back() = element_count(n.extents(1));
  n.output(0, n.element(0), std::move(out));
}

std::optional<std::vector<ValueId>> decompose_array_feature_extractor(GraphBuilder& b, const Node& node) {
  ValueId x = node.input(0), indices = node.input(1);
  if (b.rank(x) == 1) x = b.op("Unsqueeze", {x, b.integers({0})});
  if (b.rank(indices) != 1) indices = b.op("Reshape", {indices, b.integers({-1})});
  return std::vector{b.op("Gather", {x, indices}, {{"axis", int64_t{-1}}})};
}

// ---- Binarizer

void infer_binarizer(Inference& n) {
  need_features(n, 0);
  n.output(0, n.type(0));
}

std::optional<std::vector<ValueId>> decompose_binarizer(GraphBuilder& b, const Node& node) {
  const ElementType type = b.type(node.input(0)).element, wide = type == ElementType::F32 ? type : ElementType::F64;
  const ValueId above = b.op("Greater", {cast(b, node.input(0), wide), b.number(wide, static_cast<double>(node.number("threshold", 0)))});
  return std::vector{cast(b, above, type)};
}

// ---- FeatureVectorizer: the columns of all inputs, each truncated or padded to its number of columns

void infer_feature_vectorizer(Inference& n) {
  const std::vector<int64_t> columns = n.node().integers("inputdimensions");
  const int inputs = n.node().own_inputs();
  if (static_cast<int>(columns.size()) != inputs)
    n.fail(fmt::format("inputdimensions has {} values for {} inputs", columns.size(), inputs));
  Dim rows = 1, sum = 0;
  for (int i = 0; i < inputs; ++i) {
    need_features(n, i);
    const Extents& x = n.extents(i);
    if (x.size() != 1 && x.size() != 2) n.fail(fmt::format("input {} has shape {}, not [rows, columns]", i, text(x)));
    const Dim own = x.size() == 1 ? Dim(1) : x[0];
    rows = i == 0 ? own : n.unify(rows, own, "the number of rows");
    if (columns[static_cast<std::size_t>(i)] < 0) n.fail(fmt::format("inputdimensions holds {}", columns[static_cast<std::size_t>(i)]));
    sum += columns[static_cast<std::size_t>(i)];
  }
  n.output(0, ElementType::F32, {rows, sum});
}

std::optional<std::vector<ValueId>> decompose_feature_vectorizer(GraphBuilder& b, const Node& node) {
  const std::vector<int64_t> columns = node.integers("inputdimensions");
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ValueId x = cast(b, node.input(static_cast<int>(i)), ElementType::F32);
    if (b.rank(x) == 1) x = b.op("Unsqueeze", {x, b.integers({0})});
    const Dim own = b.extents(x)[1], wanted = columns[i];
    if (!always_at_least(wanted, own)) x = b.op("Slice", {x, b.integers({0}), b.integers({columns[i]}), b.integers({1})});
    if (!(b.extents(x)[1] == wanted)) {
      const ValueId pads = b.shape({0, 0, 0, wanted - b.extents(x)[1]});
      x = b.op("Pad", {x, pads});
    }
    parts.push_back(x);
  }
  return std::vector{parts.size() == 1 ? parts[0] : b.op("Concat", std::move(parts), {{"axis", int64_t{1}}})};
}

// ---- Imputer

void infer_imputer(Inference& n) {
  need_features(n, 0);
  if (is_float(n.element(0))) check_row(n, "imputed_value_floats", floats_of(n.node(), "imputed_value_floats").size());
  else check_row(n, "imputed_value_int64s", n.node().integers("imputed_value_int64s").size());
  n.output(0, n.type(0));
}

std::optional<std::vector<ValueId>> decompose_imputer(GraphBuilder& b, const Node& node) {
  const ValueId x = node.input(0);
  const ElementType type = b.type(x).element;
  const float replaced = node.number("replaced_value_float", 0);
  if (!is_float(type)) {
    const ValueId missing = b.op("Equal", {x, row<int64_t>(b, type, {node.integer("replaced_value_int64", 0)})});
    return std::vector{b.op("Where", {missing, row(b, type, node.integers("imputed_value_int64s")), x})};
  }
  const ValueId missing = std::isnan(replaced) ? b.op("IsNaN", {x}) : b.op("Equal", {x, b.number(type, static_cast<double>(replaced))});
  return std::vector{b.op("Where", {missing, row(b, type, floats_of(node, "imputed_value_floats")), x})};
}

// ---- Scaler: (x - offset) * scale

void infer_scaler(Inference& n) {
  need_features(n, 0);
  const auto offset = floats_of(n.node(), "offset"), scale = floats_of(n.node(), "scale");
  if (!offset.empty()) check_row(n, "offset", offset.size());
  if (!scale.empty()) check_row(n, "scale", scale.size());
  n.output(0, ElementType::F32, n.extents(0));
}

std::optional<std::vector<ValueId>> decompose_scaler(GraphBuilder& b, const Node& node) {
  ValueId x = cast(b, node.input(0), ElementType::F32);
  if (const auto offset = floats_of(node, "offset"); !offset.empty()) x = b.op("Sub", {x, row(b, ElementType::F32, offset)});
  if (const auto scale = floats_of(node, "scale"); !scale.empty()) x = b.op("Mul", {x, row(b, ElementType::F32, scale)});
  return std::vector{x == node.input(0) ? b.op("Identity", {x}) : x};
}

// ---- Normalizer: by the largest element with a kernel of its own, by other norms as a composition

int norm_of(const Node& node) {
  const std::string norm = node.string("norm", "MAX");
  if (norm == "MAX") return 0;
  if (norm == "L1") return 1;
  if (norm == "L2") return 2;
  node.fail(ErrorKind::Invalid, fmt::format("norm is '{}'; MAX, L1 and L2 are allowed", norm));
}

void infer_normalizer(Inference& n) {
  need_features(n, 0);
  norm_of(n.node());
  if (n.rank(0) != 1 && n.rank(0) != 2) n.fail(fmt::format("the input has shape {}, not [rows, columns]", text(n.extents(0))));
  n.output(0, ElementType::F32, n.extents(0));
}

std::optional<std::vector<ValueId>> decompose_normalizer(GraphBuilder& b, const Node& node) {
  const ValueId x = cast(b, node.input(0), ElementType::F32);
  if (const int norm = norm_of(node); norm != 0) {
    const int64_t axis = b.rank(x) - 1;
    const ValueId sum = b.op(norm == 1 ? "ReduceL1" : "ReduceL2", {x, b.integers({axis})}, {{"keepdims", int64_t{1}}});
    const ValueId one = b.number(ElementType::F32, 1), is_zero = b.op("Equal", {sum, b.number(ElementType::F32, 0)});
    return std::vector{b.op("Div", {x, b.op("Where", {is_zero, one, sum})})};
  }
  if (x == node.input(0)) return std::nullopt;
  return std::vector{b.op("ai.onnx.ml.Normalizer", {x}, node.attributes)};
}

void evaluate_normalizer(Evaluation& e) {
  const std::vector<int64_t>& x = e.input(0).shape;
  scalar::normalizer(e.out<float>().data, e.in<float>(0).data, x.size() == 1 ? 1 : x[0], x.back());
}

void lower_normalizer(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  l.call("scalar_normalizer")
      .pointer(y)
      .pointer(x)
      .dim(x.extents.size() == 1 ? Dim(1) : x.extents[0])
      .dim(x.extents.back())
      .may_share(y, x)
      .emit();
}

}  // namespace

extern const Operator op_ArrayFeatureExtractor, op_Binarizer, op_FeatureVectorizer, op_Imputer, op_Scaler, op_Normalizer;
const Operator op_ArrayFeatureExtractor{.name = "ArrayFeatureExtractor",
                                        .domain = "ai.onnx.ml",
                                        .min_inputs = 2,
                                        .max_inputs = 2,
                                        .max_outputs = 1,
                                        .infer = infer_array_feature_extractor,
                                        .decompose = decompose_array_feature_extractor};
const Operator op_Binarizer{.name = "Binarizer",
                            .domain = "ai.onnx.ml",
                            .min_inputs = 1,
                            .max_inputs = 1,
                            .max_outputs = 1,
                            .infer = infer_binarizer,
                            .decompose = decompose_binarizer};
const Operator op_FeatureVectorizer{.name = "FeatureVectorizer",
                                    .domain = "ai.onnx.ml",
                                    .min_inputs = 1,
                                    .max_outputs = 1,
                                    .infer = infer_feature_vectorizer,
                                    .decompose = decompose_feature_vectorizer};
const Operator op_Imputer{.name = "Imputer",
                          .domain = "ai.onnx.ml",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .infer = infer_imputer,
                          .decompose = decompose_imputer};
const Operator op_Scaler{.name = "Scaler",
                         .domain = "ai.onnx.ml",
                         .min_inputs = 1,
                         .max_inputs = 1,
                         .max_outputs = 1,
                         .infer = infer_scaler,
                         .decompose = decompose_scaler};
const Operator op_Normalizer{.name = "Normalizer",
                             .domain = "ai.onnx.ml",
                             .min_inputs = 1,
                             .max_inputs = 1,
                             .max_outputs = 1,
                             .infer = infer_normalizer,
                             .decompose = decompose_normalizer,
                             .evaluate = evaluate_normalizer,
                             .lower = lower_normalizer};

}  // namespace onnxc
