// Moves: what operators that only move elements do (Concat, Split, Slice, Pad, Tile, Expand, ...), said once.
//
// A Move is a box of elements that one strided copy carries from an input to an output. An operator gives the list of its moves as a function of
// its shapes; from it follow the elements of small integer tensors, the reference value, and the steps, in whatever layouts the operands have.
//
//   Concat axis 1 of [2, 3] and [2, 4]     box [2, 3] of input 0 -> y at [0, 0];   box [2, 4] of input 1 -> y at [0, 3]
//   Slice  starts 4, steps -2 of [5]       box [3] of input 0 from [4], step -2 -> y at [0], step 1
//
// The moves of an operator cover each element of its outputs once.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

struct Move {
  static constexpr int kFill = -1;
  /// One loop of the copy: the axis it walks on either side, or -1 where it stays.
  struct Axis {
    Dim extent;
    int from = -1, to = -1;
    Dim from_step = 1, to_step = 1;
  };
  int input = 0;  ///< or kFill: the scalar `Moves::fill`
  int output = 0;
  std::vector<Axis> axes;
  DimList from, to;  ///< the corner of the box in input and output, an index for each of their axes; empty: all zeros
};

struct Moves {
  std::vector<Move> list;
  Constant fill;  ///< one element; null stands for zero
};

/// What a rule sees of its node: extents, and the elements of small integer inputs where they are known.
struct Operands {
  const Node& node;
  std::vector<Extents> in, out;  ///< of absent ones: empty
  std::vector<std::optional<DimList>> elements;

  Operands(const Graph& graph, const Node& node);
  explicit Operands(Evaluation& evaluation);
  bool has(int i) const { return node.has_input(i); }
  /// Elements that the shape rule has asked for, so they are known.
  const DimList& known(int i) const;
};
using MoveRule = Moves (*)(const Operands&);

/// The whole of input i as a box that lies at `to` in the output.
Move move_all(const Operands& operands, int input, int output, DimList to);
/// Appends what is not in the box [from, from + extents) of output 0: moves of `source`, a scalar input or kFill.
void fill_around(Moves& moves, const Extents& output, const DimList& from, const Extents& extents, int source);

/// To be called by the shape rule once all outputs have their types.
void infer_moved_elements(Inference& inference, MoveRule rule);
void evaluate_moves(Evaluation& evaluation, MoveRule rule);
void lower_moves(KernelQuery& lowering, MoveRule rule);

template <MoveRule rule>
void evaluate_as(Evaluation& e) {
  evaluate_moves(e, rule);
}
template <MoveRule rule>
void lower_as(KernelQuery& l) {
  lower_moves(l, rule);
}

}  // namespace onnxc
