// What both kernels of attention take (attention.hpp for many queries, attention_decode.hpp for few).
#pragma once
#include <cmath>

#include "combine.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Steps between batches, heads and rows (queries, keys), in elements. Elements of a row follow each other.
struct HeadSteps {
  int64_t batch, head, row;
};

/// y = softmax(scale q k^T + mask) v for each batch and head.
struct AttentionParams {
  int64_t batch, heads, queries, keys;
  int64_t size, value_size;  ///< elements of a row of q and k, and of v and y
  float scale;
  HeadSteps q, k, v, y;
  int64_t shared_heads = 1;    ///< as many heads of q, one after the other, have the same head of k and v
  HeadSteps mask = {0, 0, 0};  ///< of [queries, keys]; a step of 0 repeats
  bool causal = false;         ///< query i sees keys up to i + past
  int64_t past = 0;
  bool nan_is_zero = false;  ///< probabilities of a query that are NaN, as those of one that sees no key, count as 0
  int64_t splits = 1;        ///< blocks that share the keys of a query (attention_decode)
};

namespace detail {

ONNXC_DEVICE int64_t keys_seen(const AttentionParams& p, int64_t query) {
  return p.causal ? min_of(p.keys, max_of(0, query + p.past + 1)) : p.keys;
}

/// Where a batch and head lie.
struct Head {
  const float *q, *k, *v, *mask;
  float* y;
  ONNXC_DEVICE Head(float* to, const float* queries, const float* keys, const float* values, const float* added, const AttentionParams& p,
                    int64_t number) {
    const int64_t batch = number / p.heads, head = number - batch * p.heads, shared = head / p.shared_heads;
    q = queries + batch * p.q.batch + head * p.q.head;
    k = keys + batch * p.k.batch + shared * p.k.head;
    v = values + batch * p.v.batch + shared * p.v.head;
    y = to + batch * p.y.batch + head * p.y.head;
    mask = added == nullptr ? nullptr : added + batch * p.mask.batch + head * p.mask.head;
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
