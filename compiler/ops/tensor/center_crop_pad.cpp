// CenterCropPad: crops or zero-pads axes to given extents, about the middle. An odd remainder goes to the end.
#include <fmt/format.h>

#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

Moves move_center(const Operands& operands) {
  Move box = move_all(operands, 0, 0, {});
  Extents extents;
  for (std::size_t k = 0; k < box.axes.size(); ++k) {
    const Dim in = operands.in[0][k], out = operands.out[0][k];
    box.from.push_back(floor_div(max(0, in - out), 2));
    box.to.push_back(floor_div(max(0, out - in), 2));
    box.axes[k].extent = min(in, out);
    extents.push_back(box.axes[k].extent);
  }
  const DimList to = box.to;
  Moves moves{{std::move(box)}, nullptr};
  fill_around(moves, operands.out[0], to, extents, Move::kFill);
  return moves;
}

void infer_center_crop_pad(Inference& n) {
  Extents out = n.extents(0);
  const DimList shape = n.known_elements(1, "the shape");
  std::vector<int64_t> axes = n.node().integers("axes");
  if (!n.node().has("axes")) {
    for (int k = 0; k < n.rank(0); ++k) axes.push_back(k);
  }
  if (axes.size() != shape.size()) n.fail(fmt::format("has {} extents for {} axes", shape.size(), axes.size()));
  std::vector<char> seen(out.size(), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<std::size_t>(n.axis(axes[k], n.rank(0)));
    if (seen[axis]++) n.fail(fmt::format("axis {} is given twice", axes[k]));
    out[axis] = shape[k];
  }
  n.output(0, n.element(0), std::move(out));
  infer_moved_elements(n, move_center);
}

}  // namespace

extern const Operator op_CenterCropPad;
const Operator op_CenterCropPad{.name = "CenterCropPad",
                                .min_inputs = 2,
                                .max_inputs = 2,
                                .max_outputs = 1,
                                .infer = infer_center_crop_pad,
                                .evaluate = evaluate_as<move_center>,
                                .lower = lower_as<move_center>,
                                .layout = LayoutRule::Follows};

}  // namespace onnxc
