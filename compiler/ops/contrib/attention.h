// Attention, as compositions share it.
#pragma once
#include "compiler/ops/contrib/composition.h"

namespace onnxc {

struct Heads {
  ValueId q = kAbsent, k = kAbsent, v = kAbsent;  ///< [batch, heads, tokens, size]; k and v may have fewer heads, each for as many of q in a row
  ValueId bias = kAbsent;                         ///< added to the scores: broadcasts to [batch, heads, tokens of q, tokens of k]
  double scale = 1, softcap = 0;                  ///< softcap: scores become softcap * tanh(scores / softcap), where it is not 0
  ValueId sink = kAbsent;                         ///< [heads]: a further score of each row, whose value is 0
};
struct Attended {
  ValueId y;        ///< [batch, heads, tokens of q, size of v]
  ValueId scores;   ///< before softmax, with the bias
  ValueId weights;  ///< after it
};
Attended attend(Composition& c, const Heads& heads);

/// [batch, tokens, heads * size] as [batch, heads, tokens, size], and back.
ValueId split_heads(Composition& c, ValueId x, int64_t heads);
ValueId join_heads(Composition& c, ValueId x);

/// `scale`, or 1 / sqrt(size of a head).
double attention_scale(const Composition& c, Dim head_size);

/// x [batch, heads, tokens, size] with pairs of its first elements rotated: cosines and sines are [batch or 1, 1, tokens, pairs].
ValueId rotate(Composition& c, ValueId x, ValueId cosines, ValueId sines, bool interleaved);
/// Rows of a cache [positions, pairs] at `positions` [batch, tokens], as `rotate` wants them.
ValueId angles(Composition& c, ValueId cache, ValueId positions);

/// The cache with `x` [batch, heads, tokens, size] written from `start` [batch] on, `length` long.
ValueId extended(Composition& c, ValueId cache, ValueId x, ValueId start, Dim length);

}  // namespace onnxc
