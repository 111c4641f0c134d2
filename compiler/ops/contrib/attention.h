// Attention as the compositions share it.
#pragma once
#include "compiler/ops/contrib/composition.h"

namespace onnxc {

struct Heads {
  ValueId q = kAbsent, k = kAbsent,
          v = kAbsent;     ///< [batch, heads, tokens, size]; k and v may have fewer heads, each for as many of q in a row
  ValueId bias = kAbsent;  ///< added to the scores; broadcasts to [batch, heads, tokens of q, tokens of k]
  /// If softcap is not 0, scores become softcap * tanh(scores / softcap).
  double scale = 1, softcap = 0;
  ValueId sink = kAbsent;  ///< [heads]: one more score for each row, whose value is 0
};
struct Attended {
  ValueId y;        ///< [batch, heads, tokens of q, size of v]
  ValueId scores;   ///< before softmax, with the bias
  ValueId weights;  ///< after softmax
};
Attended attend(Composition& c, const Heads& heads);

/// [batch, tokens, heads * size] as [batch, heads, tokens, size], and the reverse.
ValueId split_heads(Composition& c, ValueId x, int64_t heads);
ValueId join_heads(Composition& c, ValueId x);

/// Inputs 0, 1 and 2 as heads: q, k and v, [batch, tokens, channels] each, or all three side by side in input 0. k
/// and v have `groups` heads.
Heads grouped_heads(Composition& c, int64_t heads, int64_t groups);

/// `scale`, or 1 / sqrt(size of a head).
double attention_scale(const Composition& c, Dim head_size);

/// x [batch, heads, tokens, size] with its first elements rotated in pairs. Cosines and sines are [batch or 1, 1,
/// tokens, pairs].
ValueId rotate(Composition& c, ValueId x, ValueId cosines, ValueId sines, bool interleaved);
/// The rows of a cache [positions, pairs] at `positions` [batch, tokens], as `rotate` takes them.
ValueId angles(Composition& c, ValueId cache, ValueId positions);

struct Tokens {
  Dim batch = 0, queries = 0, keys = 0;  ///< keys: those before the call and its own
  Dim before = 0;                        ///< the number of keys before the call
  /// [1], i64: where the call's keys begin, instead of `before`. There are no keys after the call's.
  ValueId start = kAbsent;
};
/// What is added to scores [batch, heads, tokens of q, tokens of k], or kAbsent. It is the sum of: mask_filter_value
/// where the mask hides a key; with `causal`, the lowest number where a key comes after the query, with the last
/// query aligned to the last key; and `bias`.
///
/// ONNX Runtime has these masks: [batch, keys] or [batch, queries, keys], 0 where a key is hidden; [batch, 1,
/// longest, longest], of which the rows of the queries count; [batch], the number of visible keys; [2 batch], these,
/// then the first visible key of each; [3 batch + 2], these, then where packed queries and keys would begin; [batch,
/// 1] or [1, 1], no mask.
ValueId score_bias(Composition& c, ValueId mask, ValueId bias, bool causal, const Tokens& tokens);

}  // namespace onnxc
