// Normalisations that are compositions: InstanceNormalization, GroupNormalization, MeanVarianceNormalization, LpNormalization.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/ops/norm/norm.h"
#include "compiler/ops/reduce/reduce.h"

namespace onnxc {
namespace {

void infer_same(Inference& n) { n.output(0, n.type(0)); }

// ---- InstanceNormalization: y = (x - mean) * (scale / sqrt(variance + epsilon)) + bias, over the spatial axes of
// each channel of each image

void infer_instance_norm(Inference& n) {
  if (n.rank(0) < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", n.rank(0)));
  for (int i = 1; i <= 2; ++i)
    n.unify(n.rank(i) == 1 ? n.extents(i)[0] : Dim(-1), n.extents(0)[1], "the channels of the input and of the parameters");
  n.output(0, n.type(0));
}

std::optional<std::vector<ValueId>> decompose_instance_norm(GraphBuilder& b, const Node& node) {
  if (auto in_float = compute_in_float(b, node)) return in_float;
  const ValueId x = node.input(0);
  const int rank = b.rank(x);
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  const ValueId d = b.op("Sub", {x, mean_along(b, x, axes)});
  const ValueId squares = b.op("ReduceSumSquare", {d, b.integers(axes)});
  const ValueId variance = b.op("Div", {squares, count_along(b, x, axes, b.type(x).element)});
  const ValueId factor =
      b.op("Mul", {inverse_deviation(b, variance, node.number("epsilon", 1e-5f)), along_channels(b, node.input(1), rank)});
  return std::vector{b.op("Add", {b.op("Mul", {d, factor}), along_channels(b, node.input(2), rank)})};
}

// ---- GroupNormalization: LayerNormalization of [n, groups, rest], then a scale and bias for each channel

/// Before opset 21 scale and bias had one value for each group.
void resolve_group_norm(GraphBuilder&, Node& node) {
  if (node.version < 21) node.attributes["by_group"] = int64_t{1};
}

void infer_group_norm(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() < 2) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  const int64_t groups = n.node().integer("num_groups", 0);
  if (groups < 1) n.fail(fmt::format("num_groups is {}", groups));
  if (x[1].is_constant() && x[1].value() % groups != 0) n.fail(fmt::format("{} channels do not divide by {} groups", x[1].value(), groups));
  const bool by_group = n.node().integer("by_group", 0) != 0;
  for (int i = 1; i <= 2; ++i)
    n.unify(n.rank(i) == 1 ? n.extents(i)[0] : Dim(-1), by_group ? Dim(groups) : x[1], "the values of scale and bias");
  n.output(0, n.type(0));
}

std::optional<std::vector<ValueId>> decompose_group_norm(GraphBuilder& b, const Node& node) {
  if (auto in_float = compute_in_float(b, node)) return in_float;
  const ValueId x = node.input(0);
  const int rank = b.rank(x);
  const bool by_group = node.integer("by_group", 0) != 0;
  const ValueId groups = b.op("Reshape", {x, b.integers({0, node.integer("num_groups", 1), -1})});
  ValueId y = b.op("LayerNormalization", {groups}, {{"axis", int64_t{2}}, {"epsilon", node.number("epsilon", 1e-5f)}});
  const auto shape = b.op("Shape", {x});
  if (!by_group) y = b.op("Reshape", {y, shape}, {{"allowzero", int64_t{1}}});
  const int image = by_group ? 3 : rank;
  y = b.op("Add", {b.op("Mul", {y, along_channels(b, node.input(1), image)}), along_channels(b, node.input(2), image)});
  if (by_group) y = b.op("Reshape", {y, shape}, {{"allowzero", int64_t{1}}});
  return std::vector{y};
}

// ---- MeanVarianceNormalization: (x - mean) / (deviation + 1e-9)

std::optional<std::vector<ValueId>> decompose_mean_variance_norm(GraphBuilder& b, const Node& node) {
  if (auto in_float = compute_in_float(b, node)) return in_float;
  const ValueId x = node.input(0);
  std::vector<int64_t> axes = node.integers("axes", {0, 2, 3});
  for (int64_t& axis : axes) {
    if (axis < -b.rank(x) || axis >= b.rank(x))
      node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", axis, b.rank(x)));
    if (axis < 0) axis += b.rank(x);
  }
  const ElementType type = b.type(x).element;
  const ValueId d = b.op("Sub", {x, mean_along(b, x, axes)});
  const ValueId variance = b.op("Div", {b.op("ReduceSumSquare", {d, b.integers(axes)}), count_along(b, x, axes, type)});
  return std::vector{b.op("Div", {d, b.op("Add", {b.op("Sqrt", {variance}), b.number(type, 1e-9)})})};
}

// ---- LpNormalization: x / norm along an axis, 0 where the norm is 0

void infer_lp_norm(Inference& n) {
  n.axis(n.node().integer("axis", -1), n.rank(0));
  const int64_t p = n.node().integer("p", 2);
  if (p != 1 && p != 2) n.fail(fmt::format("p is {}; 1 or 2 are allowed", p));
  n.output(0, n.type(0));
}

std::optional<std::vector<ValueId>> decompose_lp_norm(GraphBuilder& b, const Node& node) {
  if (auto in_float = compute_in_float(b, node)) return in_float;
  const ValueId x = node.input(0), axes = b.integers({node.integer("axis", -1)}), zero = b.number(b.type(x).element, 0);
  const ValueId norm = b.op(node.integer("p", 2) == 1 ? "ReduceL1" : "ReduceL2", {x, axes});
  return std::vector{b.op("Where", {b.op("Equal", {norm, zero}), zero, b.op("Div", {x, norm})})};
}

}  // namespace

std::span<const Operator> table_normalizations() {
  static const Operator rows[] = {
      {.name = "InstanceNormalization",
       .min_inputs = 3,
       .max_inputs = 3,
       .max_outputs = 1,
       .infer = infer_instance_norm,
       .decompose = decompose_instance_norm},
      {.name = "GroupNormalization",
       .min_inputs = 3,
       .max_inputs = 3,
       .max_outputs = 1,
       .resolve = resolve_group_norm,
       .infer = infer_group_norm,
       .decompose = decompose_group_norm},
      {.name = "MeanVarianceNormalization",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .infer = infer_same,
       .decompose = decompose_mean_variance_norm},
      {.name = "LpNormalization",
       .min_inputs = 1,
       .max_inputs = 1,
       .max_outputs = 1,
       .infer = infer_lp_norm,
       .decompose = decompose_lp_norm},
  };
  return rows;
}

}  // namespace onnxc
