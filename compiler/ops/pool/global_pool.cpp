// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: reductions over the spatial axes.
#include <fmt/format.h>

#include "compiler/ops/in_float.h"

namespace onnxc {
namespace {

void infer_global_pool(Inference& n) {
  Extents out = n.extents(0);
  if (out.size() < 2) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", out.size()));
  for (std::size_t axis = 2; axis < out.size(); ++axis) out[axis] = 1;
  n.output(0, n.element(0), std::move(out));
}

std::optional<std::vector<ValueId>> decompose_global_pool(GraphBuilder& b, const Node& node) {
  const ValueId x = node.input(0);
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < b.rank(x); ++axis) axes.push_back(axis);
  if (node.op == "GlobalLpPool") {
    if (auto in_float = compute_in_float(b, node)) return in_float;
  }
  if (axes.empty()) return std::vector{node.op == "GlobalLpPool" ? b.op("Abs", {x}) : x};
  const auto reduce = [&](std::string_view op, ValueId v) { return b.op(op, {v, b.integers(axes)}); };
  if (node.op == "GlobalAveragePool") return std::vector{reduce("ReduceMean", x)};
  if (node.op == "GlobalMaxPool") return std::vector{reduce("ReduceMax", x)};
  const auto it = node.attributes.find("p");  // a float before opset 2
  const double p = it == node.attributes.end()                 ? 2.0
                   : std::holds_alternative<float>(it->second) ? static_cast<double>(std::get<float>(it->second))
                                                               : static_cast<double>(node.integer("p", 2));
  if (p == 1) return std::vector{reduce("ReduceL1", x)};
  if (p == 2) return std::vector{reduce("ReduceL2", x)};
  const ElementType type = b.type(x).element;
  const ValueId powers = b.op("Pow", {b.op("Abs", {x}), b.number(type, p)});
  return std::vector{b.op("Pow", {reduce("ReduceSum", powers), b.number(type, 1 / p)})};
}

Operator global_pool(std::string_view name) {
  return {.name = name, .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_global_pool, .decompose = decompose_global_pool};
}

}  // namespace

std::span<const Operator> table_global_pools() {
  static const Operator rows[] = {global_pool("GlobalAveragePool"), global_pool("GlobalMaxPool"), global_pool("GlobalLpPool")};
  return rows;
}

}  // namespace onnxc
