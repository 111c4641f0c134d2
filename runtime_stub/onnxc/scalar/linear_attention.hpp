// LinearAttention, as ONNX defines it: a recurrence over tokens whose state is a matrix for each key-value head.
#pragma once
#include <cmath>

#include "../base.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct LinearAttentionParams {
  int64_t q_heads = 1, k_heads = 1, kv_heads = 1;
  double scale = 1;
  int64_t window =
      0;  ///< states of the last tokens, before the batch: of past the last one is read, and those of present without a token are 0
};

/// For each token: S = exp(decay) * S, v = beta * (v - S^T k), S = S + k v^T, y = scale * S^T q. Without decay or beta
/// (no elements) their step is left out.
///
/// y [b, t, max(q_heads, kv_heads) * dv], present and past [b, kv_heads, dk, dv] (past without elements is 0), q [b, t,
/// q_heads * dk], k [b, t, k_heads * dk], v [b, t, kv_heads * dv], decay [b, t, kv_heads or kv_heads * dk], beta [b, t,
/// kv_heads or 1]. Of two numbers of heads one divides the other, and each of the fewer heads serves as many
/// consecutive ones of the others. Computed in f32. No aliasing. A share has some of the states (b, head);
/// work: (dk + 1) * dv floats of its own.
template <class T, class S>
ONNXC_ANYWHERE void linear_attention(Tensor<T> y, Tensor<S> present, Tensor<const T> q, Tensor<const T> k, Tensor<const T> v,
                                     Tensor<const S> past, Tensor<const T> decay, Tensor<const T> beta, float* work,
                                     LinearAttentionParams params, Share share = {}) {
  const int64_t tokens = q.shape[1], heads = params.kv_heads, results = params.q_heads > heads ? params.q_heads : heads;
  const int64_t dk = q.shape[2] / params.q_heads, dv = v.shape[2] / heads, shared = results / heads;
  const int64_t slots = params.window > 0 ? params.window : 1, states = q.shape[0] * heads * dk * dv;
  const int64_t decays = decay.data != nullptr ? decay.shape[2] : 0, betas = beta.data != nullptr ? beta.shape[2] : 0;
  float *const state = work, *const write = work + dk * dv;
  const float scale = static_cast<float>(params.scale);
  const auto [first, last] = share.slice(q.shape[0] * heads);
  for (int64_t number = first; number < last; ++number) {
    const int64_t b = number / heads, h = number % heads;
    const int64_t whole = number * dk * dv;
    const auto keep = [&](int64_t slot) {
      for (int64_t i = 0; i < dk * dv; ++i) present.data[slot * states + whole + i] = fn::cast<S>(state[i]);
    };
    for (int64_t i = 0; i < dk * dv; ++i) state[i] = 0;
    for (int64_t slot = 0; slot + tokens < slots; ++slot) keep(slot);
    for (int64_t i = 0; i < dk * dv && past.data != nullptr; ++i) state[i] = fn::cast<float>(past.data[(slots - 1) * states + whole + i]);
    for (int64_t t = 0; t < tokens; ++t) {
      const int64_t token = b * tokens + t;
      const T *const key = k.data + (token * params.k_heads + h * params.k_heads / heads) * dk, *const value =
                                                                                                    v.data + (token * heads + h) * dv;
      for (int64_t d = 0; d < dk && decays != 0; ++d) {
        const float factor = std::exp(fn::cast<float>(decay.data[token * decays + (decays == heads ? h : h * dk + d)]));
        for (int64_t m = 0; m < dv; ++m) state[d * dv + m] *= factor;
      }
      for (int64_t m = 0; m < dv; ++m) {
        write[m] = fn::cast<float>(value[m]);
        if (betas == 0) continue;
        float sum = 0;
        for (int64_t d = 0; d < dk; ++d) sum += state[d * dv + m] * fn::cast<float>(key[d]);
        write[m] = fn::cast<float>(beta.data[token * betas + (betas == 1 ? 0 : h)]) * (write[m] - sum);
      }
      for (int64_t d = 0; d < dk; ++d) {
        for (int64_t m = 0; m < dv; ++m) state[d * dv + m] += fn::cast<float>(key[d]) * write[m];
      }
      for (int64_t i = 0; i < shared; ++i) {
        const int64_t result = h * shared + i, head = token * params.q_heads + result * params.q_heads / results;
        for (int64_t m = 0; m < dv; ++m) {
          float sum = 0;
          for (int64_t d = 0; d < dk; ++d) sum += fn::cast<float>(q.data[head * dk + d]) * state[d * dv + m];
          y.data[(token * results + result) * dv + m] = fn::cast<T>(scale * sum);
        }
      }
      if (const int64_t slot = slots - tokens + t; slot >= 0) keep(slot);
    }
    if (tokens == 0) keep(slots - 1);
  }
}

}  // namespace onnxc::scalar
