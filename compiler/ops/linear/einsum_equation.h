// The equation of an Einsum, and how it becomes products of two operands (einsum.cpp has the whole idea).
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ops/operator.h"

namespace onnxc {

/// A letter, or -1, -2, ... for the axes of the ellipsis, counted from the last.
using Label = int;
using Labels = std::vector<Label>;

inline bool contains(const Labels& labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }
/// The first axis of that label, or as many as there are.
inline std::size_t axis_of(const Labels& labels, Label l) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), l) - labels.begin());
}
/// Whether one label stands for two axes, whose diagonal is meant.
bool has_repeats(const Labels& labels);

struct Equation {
  std::vector<Labels> terms;  ///< a label for each axis of each operand
  Labels output;
};

/// For operands of these ranks. Fails with Invalid where the equation does not fit them.
Equation parse_equation(const Node& node, const std::vector<int>& ranks);
Equation equation_of(const Graph& graph, const Node& node);

/// What two extents of one label come to, which shape rules have found to broadcast.
Dim wider(Dim a, Dim b);

/// Products, reductions and changes of axes that give the same; nothing where a label repeats within an operand.
std::optional<std::vector<ValueId>> decompose_einsum(GraphBuilder& b, const Node& node);

}  // namespace onnxc
