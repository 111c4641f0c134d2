// Moves: a common description of operators that only move elements (Concat, Split, Slice, Pad, Tile, Expand, ...).
//
// A Move is a box of elements that one strided copy carries from an input to an output. An operator gives the list of
// its moves as a function of its shapes. The elements of small integer tensors, the reference value and the steps,
// for any layouts of the operands, all follow from it.
//
//   Concat axis 1 of [2, 3] and [2, 4]     box [2, 3] of input 0 -> y at [0, 0];   box [2, 4] of input 1 -> y at [0, 3]
//   Slice  starts 4, steps -2 of [5]       box [3] of input 0 from [4], step -2 -> y at [0], step 1
//
// The moves of an operator cover each element of its outputs once.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Whether the node's only output has values of its first input alone, each as it is.
bool only_moves(const Node& node);

struct Move {
  static constexpr int kFill = -1;
  /// One loop of the copy: the axis that it walks on either side, or -1 if that side does not move.
  struct Axis {
    Dim extent;
    int from = -1, to = -1;
    Dim from_step = 1, to_step = 1;
  };
  int input = 0;  ///< or kFill: the scalar `Moves::fill`
  int output = 0;
  std::vector<Axis> axes;
  /// The corner of the box in the input and in the output, an index for each axis. Empty: all zeros.
  DimList from, to;
};

struct Moves {
  std::vector<Move> list;
  Constant fill;  ///< one element; null means zero
};

/// A node as such a rule sees it: extents, and the elements of small integer inputs if they are known.
struct Operands {
  const Node& node;
  std::vector<Extents> in, out;  ///< empty for absent ones
  std::vector<std::optional<DimList>> elements;

  Operands(const Graph& graph, const Node& node);
  explicit Operands(Evaluation& evaluation);
  bool has(int i) const { return node.has_input(i); }
  /// Elements that the shape rule has asked for, so that they are known.
  const DimList& known(int i) const;
};
using MoveRule = Moves (*)(const Operands&);

/// The whole input i as a box at `to` in the output.
Move move_all(const Operands& operands, int input, int output, DimList to);
/// Appends moves of `source`, a scalar input or kFill, for everything outside the box [from, from + extents) of
/// output 0.
void fill_around(Moves& moves, const Extents& output, const DimList& from, const Extents& extents, int source);

/// Must be called by the shape rule once all outputs have their types.
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
