// What the classifiers of ai.onnx.ml share: labels, and how post_transform is named.
#pragma once
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/ml/scores.hpp"

namespace onnxc {

struct ClassLabels {
  std::vector<std::string> strings;
  std::vector<int64_t> integers;
  int64_t count() const { return static_cast<int64_t>(strings.size() + integers.size()); }
};

/// From attribute classlabels_strings, classlabels_ints or classlabels_int64s, one of which must be present.
ClassLabels class_labels(const Node& node);
/// The labels for an i64 tensor of class numbers.
ValueId pick_labels(GraphBuilder& builder, const Node& node, ValueId classes);

/// scalar::PostTransform::NAME for attribute post_transform.
Arg post_transform_arg(const Node& node);
/// The enumerator that such an argument names.
scalar::PostTransform post_transform_of(const Arg& arg);

/// A list of floats; empty where the attribute is missing.
std::vector<float> floats_of(const Node& node, const std::string& attribute);
std::vector<std::string> strings_of(const Node& node, const std::string& attribute);
/// Strings as a constant of that shape.
Constant string_constant(std::vector<std::string> strings, std::vector<int64_t> shape);

}  // namespace onnxc
