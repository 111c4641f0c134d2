// Which nodes are attention: y = softmax(scores(q k^T)) v, for each of a stack of heads.
//
//   q -> moves, factor --+
//                        +- MatMul -> expression of scores -> Softmax -> rows that are cleared -+
//   k -> moves, factor --+                                                                      +- MatMul -> Transpose -> y
//   v -> moves ---------------------------------------------------------------------------------+
//
// - Operands are read where they lie: Transpose, Reshape, Expand, Split, and a Gather of one index before them are strides, and factors of q and k
//   one scale. Heads that an Expand repeats are read by several heads of q (grouped queries).
// - The scores' expression is an epilogue of the first product, or a Map behind it, over operands of any shape that broadcasts to the scores: a
//   scale, a mask that is added or that chooses (Where), in any order, and tanh of them (softcap). On a GPU it must lead what is not finite on,
//   since products by parts make NaN of infinities, and the kernel then computes anew.
// - Probabilities may be replaced by 0 where they are NaN, or for whole queries.
// - The result may be written as a Transpose behind it has it, and a Reshape between the two that parts batches from heads.
//
// Each value inside has one use. What is of another form is computed node by node.
#pragma once
#include "compiler/ir/device.h"
#include "compiler/select/islands/rearranged.h"

namespace onnxc {

/// Where rows of one operand lie, in elements: row i of head h of batch b is at offset + b * batch + h / shared * head + i * row, and its elements
/// are `element` apart.
struct HeadRows {
  ValueId source = kAbsent;
  Dim offset = 0, batch = 0, head = 0, row = 0, element = 1;
  Dim shared = 1;
};

/// An operand of [.., queries, keys]: its steps between batches, heads and queries; between keys they are 1 or 0.
struct ScoreOperand {
  ValueId value;
  Dim batch = 0, head = 0, row = 0;
  bool by_key = false;
};

struct Attention {
  const Node *last = nullptr, *product = nullptr, *softmax = nullptr;
  Dim batch = 1, heads = 1, queries, keys, size, value_size;
  double scale = 1;  ///< of products
  HeadRows q, k, v, y;
  std::optional<Expr> scores;  ///< over the scaled product and `operands`; empty: the product itself
  std::vector<ScoreOperand> operands;
  bool nan_is_zero = false;             ///< probabilities
  std::optional<ScoreOperand> cleared;  ///< queries whose probabilities count as 0 where it is true
  std::vector<const Node*> absorbed;    ///< all nodes but the last, in order
};

/// The attention that `last` ends: a MatMul, or a Transpose behind it. f32. A processor's kernel reads rows whose elements follow each other, a
/// GPU's copies others.
std::optional<Attention> attention_of(const Surroundings& around, const Node& last, Device device);

}  // namespace onnxc
