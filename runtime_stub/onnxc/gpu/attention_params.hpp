// What both kernels of attention take (attention.hpp for many queries, attention_decode.hpp for few).
#pragma once
#include <cmath>

#include "../attention_forms.hpp"
#include "combine.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// y = softmax(scores(scale q k^T)) v for each batch and head. `scores` is an epilogue over the product and operands of attention_forms.hpp; a product that is not finite must not leave it finite, unless the operands alone decide.
struct AttentionParams {
  int64_t batch, heads, queries, keys;
  int64_t size, value_size;  ///< elements of a row of q and k, and of v and y
  float scale;
  HeadSteps q, k, v, y;
  int64_t shared_heads = 1;       ///< as many heads of q, one after the other, have the same head of k and v
  HeadSteps cleared = {0, 0, 0};  ///< from query to query, whose probabilities all count as 0 where it is true
  bool causal = false;            ///< query i sees keys up to i + past
  int64_t past = 0;
  bool nan_is_zero = false;  ///< probabilities of a query that are NaN, as those of one that sees no key, count as 0
  int64_t splits = 1;        ///< blocks that share the keys of a query (attention_decode)
};

namespace detail {

ONNXC_DEVICE int64_t keys_seen(const AttentionParams& p, int64_t query) {
  return p.causal ? min_of(p.keys, max_of(0, query + p.past + 1)) : p.keys;
}

/// A batch and head: where they lie, and their scores.
template <class Scores>
struct Head {
  int64_t batch, number;
  const float *q, *k, *v;
  const bool* cleared;  ///< may be null
  float* y;
  ONNXC_DEVICE Head(float* to, const float* queries, const float* keys, const float* values, const bool* clear, const AttentionParams& p,
                    int64_t at) {
    batch = at / p.heads;
    number = at - batch * p.heads;
    const int64_t shared = number / p.shared_heads;
    q = queries + batch * p.q.batch + number * p.q.head;
    k = keys + batch * p.k.batch + shared * p.k.head;
    v = values + batch * p.v.batch + shared * p.v.head;
    y = to + batch * p.y.batch + number * p.y.head;
    cleared = clear == nullptr ? nullptr : clear + batch * p.cleared.batch + number * p.cleared.head;
  }
  /// The score of a query and a key, from the scaled product of their rows.
  ONNXC_DEVICE float score(const Scores& scores, float product, int64_t query, int64_t key) const {
    return scores(Scalar{}, product, [&]<class Form>(const Form& form) {
      return form.data[batch * form.batch + number * form.head + query * form.row + (Form::kVariesByKey ? key : 0)];
    });
  }
  ONNXC_DEVICE bool is_cleared(const AttentionParams& p, int64_t query) const {
    return cleared != nullptr && cleared[query * p.cleared.row];
  }
  /// What a query whose probabilities all count as 0 has in a column: 0, or NaN if a value is not finite.
  ONNXC_DEVICE float times_zero(const AttentionParams& p, int64_t query, int64_t col) const {
    const int64_t seen = keys_seen(p, query);
    float sum = 0;
    ONNXC_KEEP_LOOP
    for (int64_t key = 0; key < seen; ++key) sum = fmaf(0.0f, v[key * p.v.row + col], sum);
    return sum;
  }
};

}  // namespace detail
}  // namespace onnxc::gpu
