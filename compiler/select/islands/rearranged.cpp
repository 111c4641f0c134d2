#include "compiler/select/islands/rearranged.h"

#include <algorithm>

#include "compiler/ops/axis.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/shape/transpose.h"
#include "compiler/select/islands/terms.h"

namespace onnxc {
namespace {

/// The walks of a row-major axis of that extent, whose elements are `stride` apart.
std::vector<Walk> walk(Dim extent, Dim stride) { return extent == Dim(1) ? std::vector<Walk>{} : std::vector<Walk>{{extent, stride}}; }

std::vector<std::vector<Walk>> row_major(const Extents& extents, Dim stride) {
  std::vector<std::vector<Walk>> axes(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis]) axes[axis] = walk(extents[axis], stride);
  return axes;
}

/// Deals the walks of a shape out to the axes of another one, which has as many elements. Empty if an axis would begin inside of a walk that
/// cannot be cut.
std::optional<std::vector<std::vector<Walk>>> reshaped(const std::vector<std::vector<Walk>>& axes, const Extents& to) {
  std::vector<Walk> rest;
  for (const auto& axis : axes) rest.insert(rest.end(), axis.begin(), axis.end());
  std::vector<std::vector<Walk>> result(to.size());
  for (std::size_t axis = to.size(); axis-- > 0;) {
    const auto is_one = [](Dim extent) { return extent == Dim(1); };
    if (is_one(to[axis])) continue;
    if (const std::vector<Walk> one = joined(rest); one.size() == 1) {  // what is left lies as a row-major tensor does
      const auto ahead = row_major({to.begin(), to.begin() + static_cast<std::ptrdiff_t>(axis) + 1}, one[0].stride);
      std::ranges::copy(ahead, result.begin());
      return result;
    }
    if (std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(axis), is_one)) {
      result[axis] = std::move(rest);
      return result;
    }
    Dim wanted = to[axis];
    while (!(wanted == Dim(1))) {
      if (rest.empty()) return std::nullopt;
      Walk& last = rest.back();
      const bool known = wanted.is_constant() && last.extent.is_constant();
      if (last.extent == wanted || (known && last.extent.value() > 0 && wanted.value() % last.extent.value() == 0)) {
        result[axis].insert(result[axis].begin(), last);
        wanted = last.extent == wanted ? Dim(1) : Dim(wanted.value() / last.extent.value());
        rest.pop_back();
      } else if (known && wanted.value() > 0 && last.extent.value() % wanted.value() == 0) {
        result[axis].insert(result[axis].begin(), {wanted, last.stride});
        last = {last.extent.value() / wanted.value(), last.stride * wanted};
        wanted = 1;
      } else {
        return std::nullopt;
      }
    }
  }
  if (!rest.empty()) return std::nullopt;
  return result;
}

/// Nodes that only rename axes.
bool renames(const Node& node) {
  return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Identity");
}

/// Makes of an operand what `node` does, as its output `value`. False, with x unchanged, if that is more than a move.
bool apply(const Graph& graph, const Node& node, ValueId value, Rearranged& x) {
  const Extents &in = graph[node.inputs[0]].type.extents, &out = graph[value].type.extents;
  if (node.epilogue) return false;
  if (node.is("Transpose")) {
    std::vector<std::vector<Walk>> axes;
    for (const int64_t axis : permutation_of(node, static_cast<int>(in.size()))) axes.push_back(x.axes[static_cast<std::size_t>(axis)]);
    x.axes = std::move(axes);
    return true;
  }
  if (renames(node)) {
    auto axes = reshaped(x.axes, out);
    if (!axes) return false;
    x.axes = std::move(*axes);
    return true;
  }
  if (node.is("Expand")) {
    const std::size_t ahead = out.size() - in.size();
    std::vector<std::vector<Walk>> axes;
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      const bool repeats = axis < ahead || in[axis - ahead] == Dim(1);
      if (!repeats && may_repeat(in[axis - ahead], out[axis])) return false;
      axes.push_back(repeats ? walk(out[axis], 0) : x.axes[axis - ahead]);
    }
    x.axes = std::move(axes);
    return true;
  }
  if (node.is("Split")) {
    const auto axis = static_cast<std::size_t>(axis_of(node, 0, std::ssize(in)));
    if (x.axes[axis].size() != 1) return false;
    Dim first = 0;
    for (std::size_t i = 0; node.outputs[i] != value; ++i) {
      if (node.outputs[i] == kAbsent) return false;
      first += graph[node.outputs[i]].type.extents[axis];
    }
    x.offset += first * x.axes[axis][0].stride;
    x.axes[axis] = walk(out[axis], x.axes[axis][0].stride);
    return true;
  }
  if (node.is("Gather")) {
    const TensorData* const indices = graph.constant(node.input(1));
    const auto axis = static_cast<std::size_t>(axis_of(node, 0, std::ssize(in)));
    if (indices == nullptr || indices->count() != 1 || indices->shape.size() > 1 || !in[axis].is_constant()) return false;
    const auto given = static_cast<int64_t>(to_doubles(*indices)[0]);
    const int64_t index = given < 0 ? given + in[axis].value() : given;
    if (index < 0 || index >= in[axis].value() || x.axes[axis].size() > 1) return false;
    if (!x.axes[axis].empty()) x.offset += x.axes[axis][0].stride * index;
    x.axes[axis].clear();
    if (indices->shape.empty()) x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    return true;
  }
  return false;
}

/// Whether the node may be a move of its first operand, or a multiple of it.
bool follows(const Graph& graph, const Node& node, bool with_factors) {
  if (node.inputs.empty() || node.inputs[0] == kAbsent) return false;
  const auto is_f32 = [&](ValueId v) {
    const Type& type = graph[v].type;
    return type.is_tensor() && type.ranked && type.element == ElementType::F32;
  };
  if (!is_f32(node.inputs[0])) return false;
  if (!node.is_map()) return renames(node) || node.is("Transpose") || node.is("Expand") || node.is("Split") || node.is("Gather");
  return with_factors && node.inputs.size() == 1 && is_f32(node.outputs[0]) && factor_of(*node.epilogue).has_value();
}

}  // namespace

std::optional<double> factor_of(const Expr& e) {
  const Terms t(e);
  const int root = t.root();
  const bool product = t.applies(root, Fn::Mul), quotient = t.applies(root, Fn::Div);
  if (!product && !quotient) return std::nullopt;
  const int left = t.arg(root, 0), right = t.arg(root, 1);
  if (t.input(left)) {
    const auto c = t.number(right);
    return c && quotient ? std::optional(1 / *c) : c;
  }
  return product && t.input(right) ? t.number(left) : std::nullopt;
}

std::vector<Walk> joined(const std::vector<Walk>& walks) {
  std::vector<Walk> result;
  for (const Walk& next : walks) {
    if (!result.empty() && result.back().stride == next.stride * next.extent)
      result.back() = {result.back().extent * next.extent, next.stride};
    else result.push_back(next);
  }
  return result;
}

Rearranged as_it_is(const Graph& graph, ValueId value) {
  return {.source = value, .axes = row_major(graph[value].type.extents, 1), .nodes = {}};
}

Rearranged rearranged(const Surroundings& around, ValueId value, bool with_factors) {
  const Graph& graph = around.graph;
  std::vector<std::pair<const Node*, ValueId>> moves;  // from the last one
  ValueId source = value;
  while (around.definitions[source] >= 0) {
    const Node& node = graph.node(around.definitions[source]);
    if (!follows(graph, node, with_factors)) break;
    moves.emplace_back(&node, source);
    source = node.inputs[0];
  }
  Rearranged x = as_it_is(graph, source);
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    const auto& [node, output] = *move;
    if (node->is_map()) {
      x.factor *= *factor_of(*node->epilogue);
      x.nodes.push_back(node);
    } else if (apply(graph, *node, output, x)) {
      x.nodes.push_back(node);
    } else {
      x = as_it_is(graph, output);
    }
  }
  return x;
}

}  // namespace onnxc
