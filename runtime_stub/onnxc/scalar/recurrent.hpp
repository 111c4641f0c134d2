// RNN, GRU and LSTM behind their input projection: the recurrence, as ONNX defines it.
//
// x [steps, batch, directions, gates * hidden] holds X W^T and the biases; r [directions, hidden, gates * hidden] is R transposed. For each direction, each
// sequence and each of its steps in turn the cell makes the next h (and c) of the last:
//
//   RNN    h = f(x + h R)
//   GRU    z, r = f(x + h R)   n = g(x + (r h) R) or g(x + r (h R + b))   h = (1 - z) n + z h        gates z r n
//   LSTM   i, f = f(x + h R + p c)   n = g(x + h R)   c = f c + i n   o = f(x + h R + p c)   h = o k(c)   gates i o f n
//
// y [steps, directions, batch, hidden] takes every h, zeros behind a sequence's length; null where nobody wants it. h and c [directions, batch, hidden] hold the
// state: the initial one before, the last one after. A sequence that runs backward starts at its own last step.
#pragma once
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class Activation { affine, elu, hard_sigmoid, leaky_relu, relu, scaled_tanh, sigmoid, softplus, softsign, tanh, thresholded_relu };

struct ActivationParams {
  Activation kind = Activation::tanh;
  double alpha = 0, beta = 0;
};

struct RecurrentParams {
  int64_t steps, batch, directions, hidden;
  bool backward = false;             ///< of the first direction; a second one always is
  double clip = 0;                   ///< bounds what enters an activation to [-clip, clip]; 0: unbounded
  bool input_forget = false;         ///< LSTM: f = 1 - i
  bool linear_before_reset = false;  ///< GRU: the second form of n
  ActivationParams activations[6] = {};   ///< f, g, k of the first direction, then of the second
};

template <class T>
T activate(const ActivationParams& f, T x) {
  const T alpha = static_cast<T>(f.alpha), beta = static_cast<T>(f.beta);
  switch (f.kind) {
    case Activation::affine: return alpha * x + beta;
    case Activation::elu: return x >= T(0) ? x : alpha * (std::exp(x) - T(1));
    case Activation::hard_sigmoid: return fn::max(T(0), fn::min(T(1), alpha * x + beta));
    case Activation::leaky_relu: return x >= T(0) ? x : alpha * x;
    case Activation::relu: return fn::max(x, T(0));
    case Activation::scaled_tanh: return alpha * std::tanh(beta * x);
    case Activation::sigmoid: return fn::sigmoid(x);
    case Activation::softplus: return fn::softplus(x);
    case Activation::softsign: return x / (T(1) + std::fabs(x));
    case Activation::tanh: return std::tanh(x);
    case Activation::thresholded_relu: return x > alpha ? x : T(0);
  }
  return x;
}

namespace detail {

/// out[j] = sum over k of h[k] * r[k * pitch + j] for j in [first, last), k in order.
template <class T>
void times_matrix(T* out, const T* h, const T* r, int64_t hidden, int64_t pitch, int64_t first, int64_t last) {
  constexpr int64_t kBlock = 32;  // sums that stay in registers; their loop becomes vectors
  int64_t j = first;
  for (; j + kBlock <= last; j += kBlock) {
    T sum[kBlock] = {};
    for (int64_t k = 0; k < hidden; ++k) {
      const T value = h[k];
      const T* const row = r + k * pitch + j;
      for (int64_t i = 0; i < kBlock; ++i) sum[i] += value * row[i];
    }
    for (int64_t i = 0; i < kBlock; ++i) out[j + i] = sum[i];
  }
  for (; j < last; ++j) {
    T sum = 0;
    for (int64_t k = 0; k < hidden; ++k) sum += h[k] * r[k * pitch + j];
    out[j] = sum;
  }
}

/// Calls cell(direction, state, row of x) for every step of every sequence, with the offset of its state.
template <int Gates, class T, class Cell>
void for_each_step(T* y, const T* h, const T* x, const int32_t* lengths, const RecurrentParams& p, Cell cell) {
  const int64_t width = Gates * p.hidden;
  for (int64_t d = 0; d < p.directions; ++d) {
    const bool backward = p.backward || d == 1;
    for (int64_t b = 0; b < p.batch; ++b) {
      const int64_t given = lengths != nullptr ? lengths[b] : p.steps, length = given < 0 ? 0 : given > p.steps ? p.steps : given;
      const int64_t state = (d * p.batch + b) * p.hidden;
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = backward ? length - 1 - s : s;
        cell(d, state, x + ((t * p.batch + b) * p.directions + d) * width);
        if (y == nullptr) continue;
        for (int64_t j = 0; j < p.hidden; ++j) y[((t * p.directions + d) * p.batch + b) * p.hidden + j] = h[state + j];
      }
      if (y == nullptr) continue;
      for (int64_t t = length; t < p.steps; ++t) {
        for (int64_t j = 0; j < p.hidden; ++j) y[((t * p.directions + d) * p.batch + b) * p.hidden + j] = T(0);
      }
    }
  }
}

template <class T>
void start_from(T* state, const T* initial, const RecurrentParams& p) {
  for (int64_t i = 0; i < p.directions * p.batch * p.hidden; ++i) state[i] = initial != nullptr ? initial[i] : T(0);
}

template <class T>
ONNXC_INLINE T bounded(T x, double clip) {
  return clip > 0 ? fn::clip(x, static_cast<T>(-clip), static_cast<T>(clip)) : x;
}

}  // namespace detail

/// gates: room for hidden values. initial_h and lengths may be null.
template <class T>
void rnn(T* y, T* h, const T* x, const T* r, const T* initial_h, const int32_t* lengths, T* gates, RecurrentParams p) {
  detail::start_from(h, initial_h, p);
  detail::for_each_step<1>(y, h, x, lengths, p, [&](int64_t d, int64_t state, const T* xt) {
    detail::times_matrix(gates, h + state, r + d * p.hidden * p.hidden, p.hidden, p.hidden, 0, p.hidden);
    for (int64_t j = 0; j < p.hidden; ++j) h[state + j] = activate(p.activations[d * 3], detail::bounded(xt[j] + gates[j], p.clip));
  });
}

/// gates: room for 4 * hidden values. bias [directions, hidden] is what n adds to h R where linear_before_reset; it, initial_h and lengths may be null.
template <class T>
void gru(T* y, T* h, const T* x, const T* r, const T* bias, const T* initial_h, const int32_t* lengths, T* gates, RecurrentParams p) {
  const int64_t n = p.hidden;
  detail::start_from(h, initial_h, p);
  detail::for_each_step<3>(y, h, x, lengths, p, [&](int64_t d, int64_t state, const T* xt) {
    const ActivationParams &f = p.activations[d * 3], &g = p.activations[d * 3 + 1];
    const T* const matrix = r + d * n * 3 * n;
    T *const ht = h + state, *const reset = gates + 3 * n;
    detail::times_matrix(gates, ht, matrix, n, 3 * n, 0, p.linear_before_reset ? 3 * n : 2 * n);
    for (int64_t j = 0; j < n; ++j) {
      gates[j] = activate(f, detail::bounded(xt[j] + gates[j], p.clip));
      reset[j] = activate(f, detail::bounded(xt[n + j] + gates[n + j], p.clip));
      if (!p.linear_before_reset) reset[j] *= ht[j];
    }
    if (p.linear_before_reset) {
      for (int64_t j = 0; j < n; ++j) gates[2 * n + j] = reset[j] * (gates[2 * n + j] + (bias != nullptr ? bias[d * n + j] : T(0)));
    } else {
      detail::times_matrix(gates, reset, matrix, n, 3 * n, 2 * n, 3 * n);
    }
    for (int64_t j = 0; j < n; ++j) {
      const T next = activate(g, detail::bounded(xt[2 * n + j] + gates[2 * n + j], p.clip));
      ht[j] = (T(1) - gates[j]) * next + gates[j] * ht[j];
    }
  });
}

/// gates: room for 4 * hidden values. peepholes [directions, 3 * hidden] for i, o, f; they, initial_h, initial_c and lengths may be null.
template <class T>
void lstm(T* y, T* h, T* c, const T* x, const T* r, const T* peepholes, const T* initial_h, const T* initial_c, const int32_t* lengths, T* gates, RecurrentParams p) {
  const int64_t n = p.hidden;
  detail::start_from(h, initial_h, p);
  detail::start_from(c, initial_c, p);
  detail::for_each_step<4>(y, h, x, lengths, p, [&](int64_t d, int64_t state, const T* xt) {
    const ActivationParams &f = p.activations[d * 3], &g = p.activations[d * 3 + 1], &k = p.activations[d * 3 + 2];
    const T* const peep = peepholes != nullptr ? peepholes + d * 3 * n : nullptr;
    T *const ht = h + state, *const ct = c + state;
    detail::times_matrix(gates, ht, r + d * n * 4 * n, n, 4 * n, 0, 4 * n);
    for (int64_t j = 0; j < n; ++j) {
      const T old = ct[j];
      const auto gate = [&](int64_t number, T seen, int64_t peephole) {
        const T sum = xt[number * n + j] + gates[number * n + j];
        return activate(f, detail::bounded(peep != nullptr ? sum + peep[peephole * n + j] * seen : sum, p.clip));
      };
      const T input = gate(0, old, 0), forget = p.input_forget ? T(1) - input : gate(2, old, 2);
      const T next = activate(g, detail::bounded(xt[3 * n + j] + gates[3 * n + j], p.clip)), cell = forget * old + input * next;
      const T output = gate(1, cell, 1);
      ct[j] = cell;
      ht[j] = output * activate(k, detail::bounded(cell, p.clip));
    }
  });
}

}  // namespace onnxc::scalar
