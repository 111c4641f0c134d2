// Attention, as compositions share it.
#pragma once
#include "compiler/ops/contrib/composition.h"

namespace onnxc {

struct Heads {
  ValueId q = kAbsent, k = kAbsent,
          v = kAbsent;            ///< [batch, heads, tokens, size]; k and v may have fewer heads, each for as many of q in a row
  ValueId bias = kAbsent;         ///< added to the scores: broadcasts to [batch, heads, tokens of q, tokens of k]
  double scale = 1, softcap = 0;  ///< softcap: scores become softcap * tanh(scores / softcap), where it is not 0
  ValueId sink = kAbsent;         ///< [heads]: a further score of each row, whose value is 0
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

/// Inputs 0, 1 and 2 as heads: q, k and v, [batch, tokens, channels] each, or all side by side in the first. k and v have `groups` heads.
Heads grouped_heads(Composition& c, int64_t heads, int64_t groups);

/// `scale`, or 1 / sqrt(size of a head).
double attention_scale(const Composition& c, Dim head_size);

/// x [batch, heads, tokens, size] with pairs of its first elements rotated: cosines and sines are [batch or 1, 1, tokens, pairs].
ValueId rotate(Composition& c, ValueId x, ValueId cosines, ValueId sines, bool interleaved);
/// Rows of a cache [positions, pairs] at `positions` [batch, tokens], as `rotate` wants them.
ValueId angles(Composition& c, ValueId cache, ValueId positions);

struct Tokens {
  Dim batch = 0, queries = 0, keys = 0;  ///< keys: those of before and of the call
  Dim before = 0;                        ///< of the keys
  ValueId start = kAbsent;               ///< [1], i64: where the call's keys begin, in place of `before`; behind the call's there are none
};
/// What is added to the scores of [batch, heads, tokens of q, tokens of k], or kAbsent: mask_filter_value where the mask says so; with `causal`, the lowest
/// number where a key comes after the query, the last of which stand together; a bias of its own.
///
/// Masks of ONNX Runtime: [batch, keys] or [batch, queries, keys], 0 where a key is not seen; [batch, 1, longest, longest], of which the rows of the queries
/// count; [batch], the number of keys that are seen; [2 batch], that, then the first key that is; [3 batch + 2], that, then where packed queries and keys would
/// begin; [batch, 1] or [1, 1] is none.
ValueId score_bias(Composition& c, ValueId mask, ValueId bias, bool causal, const Tokens& tokens);

}  // namespace onnxc
