#include "compiler/ops/ml/classes.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {

std::vector<std::string> strings_of(const Node& node, const std::string& attribute) {
  const auto it = node.attributes.find(attribute);
  if (it == node.attributes.end()) return {};
  if (const auto* list = std::get_if<std::vector<std::string>>(&it->second)) return *list;
  node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a list of strings", attribute));
}

std::vector<float> floats_of(const Node& node, const std::string& attribute) {
  const auto it = node.attributes.find(attribute);
  if (it == node.attributes.end()) return {};
  if (const auto* list = std::get_if<std::vector<float>>(&it->second)) return *list;
  node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' is not a list of floats", attribute));
}

Constant string_constant(std::vector<std::string> strings, std::vector<int64_t> shape) {
  auto tensor = std::make_shared<TensorData>(TensorData::zeros(ElementType::String, std::move(shape)));
  ONNXC_CHECK(tensor->strings.size() == strings.size(), "strings fill their shape");
  tensor->strings = std::move(strings);
  return tensor;
}

ClassLabels class_labels(const Node& node) {
  ClassLabels labels{strings_of(node, "classlabels_strings"),
                     node.integers(node.has("classlabels_int64s") ? "classlabels_int64s" : "classlabels_ints")};
  if (!labels.strings.empty()) labels.integers.clear();
  if (labels.count() == 0) node.fail(ErrorKind::Invalid, "has no labels of classes");
  return labels;
}

ValueId pick_labels(GraphBuilder& b, const Node& node, ValueId classes) {
  const ClassLabels labels = class_labels(node);
  if (labels.strings.empty()) {
    bool are_indices = true;
    for (std::size_t i = 0; i < labels.integers.size(); ++i) are_indices = are_indices && labels.integers[i] == static_cast<int64_t>(i);
    return are_indices ? classes : b.op("Gather", {b.integers(labels.integers), classes});
  }
  return b.op("Gather", {b.graph().add_constant(node.name + ".labels", string_constant(labels.strings, {labels.count()})), classes});
}

namespace {
/// In the order of scalar::PostTransform.
constexpr std::string_view kPostTransforms[] = {"none", "softmax", "logistic", "softmax_zero", "probit"};
}  // namespace

scalar::PostTransform post_transform_of(const Arg& arg) {
  return static_cast<scalar::PostTransform>(std::ranges::find(kPostTransforms, std::get<EnumArg>(arg).value) - kPostTransforms);
}

Arg post_transform_arg(const Node& node) {
  std::string word = node.string("post_transform", "NONE");
  std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  if (std::ranges::find(kPostTransforms, word) != std::end(kPostTransforms)) return EnumArg{"scalar::PostTransform", word};
  node.fail(ErrorKind::Invalid, "post_transform is '" + node.string("post_transform", "NONE") +
                                    "'; NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO and PROBIT are allowed");
}

}  // namespace onnxc
