// Split: an axis in parts, by given sizes or into equal ones (from opset 18 on, the last may be smaller). The sizes
// were an attribute in opsets 2 to 11.
#include <fmt/format.h>

#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

void resolve_split(GraphBuilder& b, Node& node) {
  if (node.version >= 18) return;
  if (node.version < 13 && node.has("split")) {
    if (node.inputs.size() < 2) node.inputs.push_back(b.integers(node.integers("split")));
    node.attributes.erase("split");
  }
  // In these opsets equal parts had to leave no remainder; the latest form allows one.
  if (!node.has_input(1)) node.attributes["num_outputs"] = static_cast<int64_t>(node.outputs.size());
  const Type& type = b.type(node.inputs[0]);
  const int64_t given = node.integer("axis", 0), axis = given < 0 ? given + type.rank() : given;
  if (node.has_input(1) || !type.ranked || axis < 0 || axis >= type.rank()) return;
  const Dim extent = type.extents[static_cast<std::size_t>(axis)];
  if (extent.is_constant() && extent.value() % static_cast<int64_t>(node.outputs.size()) != 0)
    node.fail(ErrorKind::Invalid, fmt::format("an extent of {} has no {} equal parts", extent.value(), node.outputs.size()));
}

Moves move_split(const Operands& operands) {
  Moves moves;
  const Extents& in = operands.in[0];
  const int64_t given = operands.node.integer("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<int64_t>(in.size()) : given);
  const auto count = static_cast<int>(operands.out.size());
  const Dim chunk = ceil_div(in[axis], count);
  // In closed form, since the sum of a thousand parts would be an expression of as many terms.
  Dim at = 0;
  for (int i = 0; i < count; ++i) {
    const Dim length = operands.has(1) ? operands.known(1)[static_cast<std::size_t>(i)] : max(0, min(chunk, in[axis] - chunk * i));
    Move move = move_all(operands, 0, i, {});
    move.axes[axis].extent = length;
    move.from.assign(in.size(), 0);
    move.from[axis] = at;
    moves.list.push_back(std::move(move));
    at = operands.has(1) ? at + length : min(chunk * (i + 1), in[axis]);
  }
  return moves;
}

void infer_split(Inference& n) {
  const Extents& in = n.extents(0);
  const auto axis = static_cast<std::size_t>(n.axis(n.node().integer("axis", 0), n.rank(0)));
  const auto count = static_cast<int>(n.node().outputs.size());
  const int64_t wanted = n.node().integer("num_outputs", count);
  if (n.has(1)) {
    const DimList sizes = n.known_elements(1, "the sizes of the parts");
    if (static_cast<int>(sizes.size()) != count) n.fail(fmt::format("has {} outputs for {} sizes", count, sizes.size()));
    Dim sum = 0;
    for (Dim size : sizes) {
      if (size.max_value() < 0) n.fail(fmt::format("a part has size {}", size.text()));
      sum += size;
    }
    n.unify(in[axis], sum, "the sizes of the parts");
  } else if (wanted != count) {
    n.fail(fmt::format("has {} outputs, where num_outputs is {}", count, wanted));
  }
  const Operands operands(n.graph(), n.node());
  const Moves moves = move_split(operands);
  for (int i = 0; i < count; ++i) {
    Extents out = in;
    out[axis] = moves.list[static_cast<std::size_t>(i)].axes[axis].extent;
    n.output(i, n.element(0), std::move(out));
  }
  infer_moved_elements(n, move_split);
}

}  // namespace

extern const Operator op_Split;
const Operator op_Split{.name = "Split",
                        .min_inputs = 1,
                        .max_inputs = 2,
                        .resolve = resolve_split,
                        .infer = infer_split,
                        .evaluate = evaluate_as<move_split>,
                        .lower = lower_as<move_split>,
                        .layout = LayoutRule::Follows};

}  // namespace onnxc
