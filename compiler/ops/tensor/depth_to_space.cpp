// DepthToSpace and SpaceToDepth: blocks of b x b pixels become channels and back. One strided copy does it in any layout.
//
//   DCR   channel of the deep image = (row in block * b + column in block) * depth + channel of the wide image
//   CRD                               channel of the wide image * b * b + row in block * b + column in block
#include <fmt/format.h>

#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

bool is_crd(const Node& node) {
  const std::string mode = node.string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.fail(ErrorKind::Invalid, fmt::format("mode is '{}'; DCR and CRD are allowed", mode));
  return mode == "CRD";
}

int64_t block_of(const Node& node) {
  const int64_t b = node.integer("blocksize", 0);
  if (b < 1 || b > 1 << 20) node.fail(ErrorKind::Invalid, fmt::format("blocksize is {}", b));
  return b;
}

/// Loops over n, row and column in the block, channel, row and column of blocks. The `deep` side has many channels,
/// the `wide` side many pixels.
Move rearrange(const Extents& wide, int64_t b, bool crd, bool to_wide) {
  const Dim depth = wide[1];
  struct Loop {
    Dim extent;
    int deep;
    Dim deep_step;
    int wide;
    Dim wide_step;
  };
  const Dim row_step = crd ? Dim(b) : depth * b, column_step = crd ? Dim(1) : depth, channel_step = crd ? Dim(b * b) : Dim(1);
  const Loop loops[] = {{wide[0], 0, 1, 0, 1},  {depth, 1, channel_step, 1, 1},      {floor_div(wide[2], b), 2, 1, 2, b},
                        {b, 1, row_step, 2, 1}, {floor_div(wide[3], b), 3, 1, 3, b}, {b, 1, column_step, 3, 1}};
  Move move;
  for (const Loop& l : loops) {
    if (to_wide) move.axes.push_back({.extent = l.extent, .from = l.deep, .to = l.wide, .from_step = l.deep_step, .to_step = l.wide_step});
    else move.axes.push_back({.extent = l.extent, .from = l.wide, .to = l.deep, .from_step = l.wide_step, .to_step = l.deep_step});
  }
  return move;
}

Moves move_depth_to_space(const Operands& operands) {
  return {{rearrange(operands.out[0], block_of(operands.node), is_crd(operands.node), true)}, nullptr};
}
Moves move_space_to_depth(const Operands& operands) {
  return {{rearrange(operands.in[0], block_of(operands.node), is_crd(operands.node), false)}, nullptr};
}

/// extent / divisor, which must leave no remainder.
Dim exact(Inference& n, Dim extent, int64_t divisor, const char* what) {
  const Dim quotient = floor_div(extent, divisor);
  n.unify(extent, quotient * divisor, what);
  return quotient;
}

void infer_depth_to_space(Inference& n) {
  if (n.rank(0) != 4) n.fail(fmt::format("the input has rank {}, not 4", n.rank(0)));
  const Extents& in = n.extents(0);
  const int64_t b = block_of(n.node());
  is_crd(n.node());
  n.output(0, n.element(0), {in[0], exact(n, in[1], b * b, "the channels do not divide into blocks"), in[2] * b, in[3] * b});
}

void infer_space_to_depth(Inference& n) {
  if (n.rank(0) != 4) n.fail(fmt::format("the input has rank {}, not 4", n.rank(0)));
  const Extents& in = n.extents(0);
  const int64_t b = block_of(n.node());
  is_crd(n.node());
  constexpr const char* what = "the image does not divide into blocks";
  n.output(0, n.element(0), {in[0], in[1] * (b * b), exact(n, in[2], b, what), exact(n, in[3], b, what)});
}

}  // namespace

extern const Operator op_DepthToSpace, op_SpaceToDepth;
const Operator op_DepthToSpace{.name = "DepthToSpace",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .infer = infer_depth_to_space,
                               .evaluate = evaluate_as<move_depth_to_space>,
                               .lower = lower_as<move_depth_to_space>,
                               .layout = LayoutRule::Follows};
const Operator op_SpaceToDepth{.name = "SpaceToDepth",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .max_outputs = 1,
                               .infer = infer_space_to_depth,
                               .evaluate = evaluate_as<move_space_to_depth>,
                               .lower = lower_as<move_space_to_depth>,
                               .layout = LayoutRule::Follows};

}  // namespace onnxc
