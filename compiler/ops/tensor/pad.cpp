// Pad: elements before and after each axis, or fewer where a pad is negative. Modes: constant (a box and its border), reflect, edge, wrap.
// Before opset 11 pads and value were attributes.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/run_time_axes.h"
#include "compiler/ops/tensor/moves.h"
#include "runtime_stub/onnxc/scalar/pad.hpp"

namespace onnxc {
namespace {

/// If only a run knows the axes: pads of all axes, with the given ones put in their places.
void name_padded_axes(GraphBuilder& b, Node& node) {
  if (!node.has_input(3) || !node.has_input(1) || b.graph()[node.inputs[3]].constant || b.graph()[node.inputs[3]].elements) return;
  const Type &x = b.type(node.inputs[0]), &axes = b.type(node.inputs[3]);
  if (!x.ranked || !axes.is_tensor() || !axes.ranked || axes.rank() != 1) return;
  const auto rank = static_cast<int64_t>(x.rank());
  const ValueId given = b.op("Cast", {node.inputs[3]}, {{"to", static_cast<int64_t>(ElementType::I64)}});
  const ValueId before = b.op("Mod", {b.op("Add", {given, b.integers({rank})}), b.integers({rank})});
  const ValueId both = b.op("Concat", {before, b.op("Add", {before, b.integers({rank})})}, {{"axis", int64_t{0}}});
  node.inputs[1] = b.op("ScatterElements", {b.integers(std::vector<int64_t>(static_cast<std::size_t>(2 * rank), 0)), both, node.inputs[1]});
  node.inputs.resize(3);
}

void resolve_pad(GraphBuilder& b, Node& node) {
  if (node.version >= 11) return name_padded_axes(b, node);
  const char* pads = node.version < 2 ? "paddings" : "pads";
  const ValueId value = b.number(b.type(node.inputs[0]).element, static_cast<double>(node.number("value", 0)));
  node.inputs = {node.inputs[0], b.integers(node.integers(pads)), value};
  node.attributes.erase(pads);
  node.attributes.erase("value");
}

/// Pads before and after every axis of the input.
struct Pads {
  DimList before, after;
};
Pads pads_of(const Operands& operands) {
  const std::size_t rank = operands.in[0].size();
  Pads pads{DimList(rank, 0), DimList(rank, 0)};
  const auto& list = operands.known(1);
  if (operands.has(3) && !Inference::are_constant(operands.known(3))) {
    for (std::size_t k = 0; k < list.size() / 2; ++k) {
      const DimList named = axis_indicators({operands.known(3)[k]}, static_cast<int>(rank));
      for (std::size_t axis = 0; axis < rank; ++axis) {
        pads.before[axis] = select(named[axis], list[k], pads.before[axis]);
        pads.after[axis] = select(named[axis], list[list.size() / 2 + k], pads.after[axis]);
      }
    }
    return pads;
  }
  for (std::size_t k = 0; k < list.size() / 2; ++k) {
    const int64_t given = operands.has(3) ? operands.known(3)[k].value() : static_cast<int64_t>(k);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<int64_t>(rank) : given);
    pads.before[axis] = list[k];
    pads.after[axis] = list[list.size() / 2 + k];
  }
  return pads;
}

Moves move_pad(const Operands& operands) {
  const Pads pads = pads_of(operands);
  Move box = move_all(operands, 0, 0, {});
  Extents extents;
  for (std::size_t k = 0; k < box.axes.size(); ++k) {
    box.from.push_back(max(0, Dim(0) - pads.before[k]));
    // Cropping at the end may reach into the padding at the beginning.
    const Dim before = max(0, pads.before[k]);
    box.to.push_back(pads.after[k].min_value() < 0 ? min(before, operands.out[0][k]) : before);
    box.axes[k].extent = max(0, box.axes[k].extent + min(0, pads.before[k]) + min(0, pads.after[k]));
    extents.push_back(box.axes[k].extent);
  }
  const DimList to = box.to;
  Moves moves{{std::move(box)}, nullptr};
  fill_around(moves, operands.out[0], to, extents, operands.has(2) ? 2 : Move::kFill);
  return moves;
}

bool is_constant_mode(const Node& node) { return node.string("mode", "constant") == "constant"; }

void infer_pad(Inference& n) {
  const std::string mode = n.node().string("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    n.fail(fmt::format("mode is '{}'; constant, reflect, edge and wrap are allowed", mode));
  const std::size_t count = n.known_elements(1, "the pads").size();
  Extents out = n.extents(0);
  std::size_t axes = out.size();
  if (n.has(3)) {
    const DimList list = n.known_elements(3, "the axes");
    static_cast<void>(checked_axis_indicators(n, list, n.rank(0)));
    axes = list.size();
  }
  if (count != 2 * axes) n.fail(fmt::format("has {} pads for {} axes", count, axes));
  if (n.has(2) && n.element(2) != n.element(0)) n.fail(fmt::format("the value is {}, the data {}", name(n.element(2)), name(n.element(0))));
  if (n.has(2) && !(element_count(n.extents(2)) == Dim(1))) n.fail(fmt::format("the value has shape {}", text(n.extents(2))));
  const Pads pads = pads_of(Operands(n.graph(), n.node()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Dim kept = out[k] + min(0, pads.before[k]) + min(0, pads.after[k]);
    out[k] = n.let(out[k] + pads.before[k] + pads.after[k], "pad");
    if (mode != "constant" && kept.max_value() <= 0 && out[k].min_value() > 0)
      n.fail(fmt::format("mode {} has nothing to repeat along axis {}", mode, k));
  }
  n.output(0, n.element(0), std::move(out));
  if (is_constant_mode(n.node())) infer_moved_elements(n, move_pad);
}

void evaluate_pad(Evaluation& e) {
  if (is_constant_mode(e.node())) return evaluate_moves(e, move_pad);
  const Pads pads = pads_of(Operands(e));
  Ints before;
  for (Dim d : pads.before) before[before.size++] = d.value();
  const std::string mode = e.node().string("mode", "");
  const PadMode padding = mode == "edge" ? PadMode::edge : mode == "wrap" ? PadMode::wrap : PadMode::reflect;
  for_size(e.type(0), [&]<class T>() { e.check(scalar::pad<T>(e.out<T>(), e.in<T>(0), before, padding)); });
}

void lower_pad(KernelQuery& l) {
  if (is_constant_mode(l.node())) return lower_moves(l, move_pad);
  const Pads pads = pads_of(Operands(l.graph(), l.node()));
  const View x = l.in(0);
  l.call("scalar_pad").tensor(l.out(0)).tensor(x).dims(pads.before).enumerator("PadMode", l.node().string("mode", "")).emit();
}

}  // namespace

extern const Operator op_Pad;
const Operator op_Pad{.name = "Pad",
                      .min_inputs = 2,
                      .max_inputs = 4,
                      .max_outputs = 1,
                      .resolve = resolve_pad,
                      .infer = infer_pad,
                      .evaluate = evaluate_pad,
                      .lower = lower_pad,
                      .layout = LayoutRule::Follows};

}  // namespace onnxc
