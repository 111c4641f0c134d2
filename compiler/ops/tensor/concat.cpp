// Concat: its inputs one after the other along an axis. Before opset 4 the axis was optional, 1 where absent.
#include <fmt/format.h>

#include "compiler/ops/axis.h"
#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

void resolve_concat(GraphBuilder&, Node& node) {
  if (node.version < 4 && !node.has("axis")) node.attributes["axis"] = int64_t{1};
}

Moves move_concat(const Operands& operands) {
  Moves moves;
  const std::size_t rank = operands.out[0].size(), axis = static_cast<std::size_t>(axis_of(operands.node, 0, static_cast<int64_t>(rank)));
  DimList at(rank, 0);
  for (int i = 0; i < static_cast<int>(operands.in.size()); ++i) {
    moves.list.push_back(move_all(operands, i, 0, at));
    at[axis] += operands.in[static_cast<std::size_t>(i)][axis];
  }
  return moves;
}

void infer_concat(Inference& n) {
  if (!n.node().has("axis")) n.fail("has no axis");
  Extents out = n.extents(0);
  const auto axis = static_cast<std::size_t>(n.axis(n.node().integer("axis", 0), n.rank(0)));
  for (int i = 1; i < n.node().own_inputs(); ++i) {
    const Extents& in = n.extents(i);
    if (in.size() != out.size()) n.fail(fmt::format("input {} has rank {}, where input 0 has rank {}", i, in.size(), out.size()));
    if (n.element(i) != n.element(0)) n.fail(fmt::format("input {} is {}, where input 0 is {}", i, name(n.element(i)), name(n.element(0))));
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = k == axis ? out[k] + in[k] : n.unify(out[k], in[k], "the inputs differ beside the axis");
  }
  n.output(0, n.element(0), std::move(out));
  infer_moved_elements(n, move_concat);
}

}  // namespace

extern const Operator op_Concat;
const Operator op_Concat{.name = "Concat",
                         .min_inputs = 1,
                         .max_outputs = 1,
                         .resolve = resolve_concat,
                         .infer = infer_concat,
                         .evaluate = evaluate_as<move_concat>,
                         .lower = lower_as<move_concat>,
                         .layout = LayoutRule::Follows};

}  // namespace onnxc
