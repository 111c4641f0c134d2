// RNN, GRU and LSTM behind their input projection: the recurrence, as ONNX defines it.
//
// x [steps, batch, directions, gates * hidden] holds X W^T and the biases. r holds R transposed: for each direction a
// matrix [hidden, gates * hidden], or for GRU two, [hidden, 2 * hidden] of z and r and [hidden, hidden] of n. In every
// direction a step makes the next h (and c) of all sequences from the last:
//
//   RNN    h = f(x + h R)
//   GRU    z, r = f(x + h R)   n = g(x + (r h) R) or g(x + r (h R + b))   h = (1 - z) n + z h        gates z r n
//   LSTM   i, f = f(x + h R + p c)   n = g(x + h R)   c = f c + i n   o = f(x + h R + p c)   h = o k(c)   gates i o f n
//
// y [steps, directions, batch, hidden] receives every h, and zeros behind a sequence's length; it is null where nobody
// reads it. h and c [directions, batch, hidden] hold the state: the initial one before, the last one after; of a sequence
// of length 0 zeros, as ONNX Runtime has them where ONNX is silent. A sequence that runs backward starts at its own last step.
#pragma once
#include "../expr.hpp"
#include "../fn.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

enum class Activation { affine, elu, hard_sigmoid, leaky_relu, relu, scaled_tanh, sigmoid, softplus, softsign, tanh, thresholded_relu };

struct ActivationParams {
  Activation kind = Activation::tanh;
  double alpha = 0, beta = 0;
};

struct RecurrentParams {
  int64_t steps, batch, directions, hidden;
  bool backward = false;                 ///< of the first direction; a second one always is
  double clip = 0;                       ///< bounds what enters the activations of gates to [-clip, clip]; 0: unbounded
  bool input_forget = false;             ///< LSTM: f = 1 - i
  bool linear_before_reset = false;      ///< GRU: the second form of n
  ActivationParams activations[6] = {};  ///< f, g, k of the first direction, then of the second
  const float* scales = nullptr;         ///< recurrent.hpp: of r's columns, where r is of int8_t
  const int32_t* zeros = nullptr;        ///< recurrent_bytes.hpp: of r's columns, whose weights are (r - zero) * scale
  const int32_t* sums = nullptr;         ///< the same: sums down r's columns, each without its zero
};

template <class T>
ONNXC_ANYWHERE T activate(const ActivationParams& f, T x) {
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

/// How a cell multiplies and applies functions, one number at a time. recurrent.hpp has another one.
struct ScalarMath {
  /// Elements of a matrix of `rows` by `columns` as `product` reads it.
  static constexpr int64_t matrix_size(int64_t rows, int64_t columns) { return rows * columns; }

  /// out[i, j] = sum over k of h[i, k] * r[k, j], k in order; i < rows, k < depth, j < columns.
  template <class T>
  ONNXC_ANYWHERE static void product(T* out, const T* h, const T* r, int64_t rows, int64_t depth, int64_t columns) {
    constexpr int64_t kBlock = 32;  // sums that stay in registers; their loop becomes vectors
    for (int64_t i = 0; i < rows; ++i, h += depth, out += columns) {
      int64_t j = 0;
      for (; j + kBlock <= columns; j += kBlock) {
        T sum[kBlock] = {};
        for (int64_t k = 0; k < depth; ++k) {
          for (int64_t lane = 0; lane < kBlock; ++lane) sum[lane] += h[k] * r[k * columns + j + lane];
        }
        for (int64_t lane = 0; lane < kBlock; ++lane) out[j + lane] = sum[lane];
      }
      for (; j < columns; ++j) {
        T sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += h[k] * r[k * columns + j];
        out[j] = sum;
      }
    }
  }

  template <class T>
  ONNXC_ANYWHERE static void activate(const ActivationParams& f, T* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = scalar::activate(f, x[i]);
  }
};

/// The matrices as a product in this step reads them: those of bytes have it in mind.
template <class Matrices>
ONNXC_ANYWHERE Matrices at_step(Matrices r, int64_t) {
  return r;
}

namespace detail {

/// For every direction and step, calls before(d, step), then row(d, b, row of x) for each sequence b that is not over,
/// between(d), and then last_row(d, b, row of x) for each. Then h of the step is copied to y.
ONNXC_EITHER template <int Gates, class T, class Before, class Row, class Between, class LastRow>
ONNXC_ANYWHERE void for_each_step(T* y, const T* h, const T* x, const int32_t* lengths, const RecurrentParams& p, Before before, Row row,
                                  Between between, LastRow last_row) {
  const int64_t width = Gates * p.hidden;
  const auto length_of = [&](int64_t b) {
    const int64_t given = lengths != nullptr ? lengths[b] : p.steps;
    return given < 0 ? int64_t{0} : given > p.steps ? p.steps : given;
  };
  int64_t longest = 0;
  for (int64_t b = 0; b < p.batch; ++b) longest = length_of(b) > longest ? length_of(b) : longest;
  for (int64_t d = 0; d < p.directions; ++d) {
    const bool backward = p.backward || d == 1;
    for (int64_t s = 0; s < longest; ++s) {
      const auto each = [&](auto&& work) {
        for (int64_t b = 0; b < p.batch; ++b) {
          const int64_t length = length_of(b), t = backward ? length - 1 - s : s;
          if (s < length) work(b, t, x + ((t * p.batch + b) * p.directions + d) * width);
        }
      };
      before(d, s);
      each([&](int64_t b, int64_t, const T* xt) { row(d, b, xt); });
      between(d);
      each([&](int64_t b, int64_t t, const T* xt) {
        last_row(d, b, xt);
        if (y == nullptr) return;
        for (int64_t j = 0; j < p.hidden; ++j)
          y[((t * p.directions + d) * p.batch + b) * p.hidden + j] = h[(d * p.batch + b) * p.hidden + j];
      });
    }
    for (int64_t b = 0; y != nullptr && b < p.batch; ++b) {
      for (int64_t t = length_of(b); t < p.steps; ++t) {
        for (int64_t j = 0; j < p.hidden; ++j) y[((t * p.directions + d) * p.batch + b) * p.hidden + j] = T(0);
      }
    }
  }
}

template <class T>
ONNXC_ANYWHERE void start_from(T* state, const T* initial, const RecurrentParams& p) {
  for (int64_t i = 0; i < p.directions * p.batch * p.hidden; ++i) state[i] = initial != nullptr ? initial[i] : T(0);
}

/// After the last step, as it takes part in what is common to all sequences until then.
template <class T>
ONNXC_ANYWHERE void clear_empty(T* state, const int32_t* lengths, const RecurrentParams& p) {
  for (int64_t row = 0; lengths != nullptr && row < p.directions * p.batch; ++row) {
    for (int64_t j = 0; lengths[row % p.batch] <= 0 && j < p.hidden; ++j) state[row * p.hidden + j] = T(0);
  }
}

// What lambdas of functions for both sides call, which may be a class for the host alone.
ONNXC_EITHER template <class Math, class T, class Matrices>
ONNXC_ANYWHERE void product(T* y, const T* x, const Matrices& r, int64_t m, int64_t k, int64_t n) {
  Math::product(y, x, r, m, k, n);
}
ONNXC_EITHER template <class Math, class T>
ONNXC_ANYWHERE void activate(const ActivationParams& f, T* x, int64_t n) {
  Math::activate(f, x, n);
}

/// f(bounded x) in place.
ONNXC_EITHER template <class Math, class T>
ONNXC_ANYWHERE void gate(const ActivationParams& f, T* x, int64_t n, double clip) {
  for (int64_t i = 0; clip > 0 && i < n; ++i) x[i] = fn::clip(x[i], static_cast<T>(-clip), static_cast<T>(clip));
  Math::activate(f, x, n);
}

}  // namespace detail

/// r: a pointer, or what Math::product reads and what moves on as a pointer does. gates: room for batch * hidden
/// values. initial_h and lengths may be null.
ONNXC_EITHER template <class T, class Math = ScalarMath, class Matrices>
ONNXC_ANYWHERE void rnn(T* y, T* h, const T* x, Matrices r, const T* initial_h, const int32_t* lengths, T* gates, RecurrentParams p) {
  const int64_t n = p.hidden, batch = p.batch;
  detail::start_from(h, initial_h, p);
  detail::for_each_step<1>(
      y, h, x, lengths, p,
      [&](int64_t d, int64_t) { detail::product<Math>(gates, h + d * batch * n, r + d * Math::matrix_size(n, n), batch, n, n); },
      [](int64_t, int64_t, const T*) {}, [](int64_t) {},
      [&](int64_t d, int64_t b, const T* xt) {
        T *const g = gates + b * n, *const ht = h + (d * batch + b) * n;
        for (int64_t j = 0; j < n; ++j) g[j] += xt[j];
        detail::gate<Math>(p.activations[d * 3], g, n, p.clip);
        for (int64_t j = 0; j < n; ++j) ht[j] = g[j];
      });
  detail::clear_empty(h, lengths, p);
}

/// gates: room for batch * 4 * hidden values. bias [directions, hidden] is what n adds to h R where
/// linear_before_reset. bias, initial_h and lengths may be null.
ONNXC_EITHER template <class T, class Math = ScalarMath, class Matrices>
ONNXC_ANYWHERE void gru(T* y, T* h, const T* x, Matrices r, const T* bias, const T* initial_h, const int32_t* lengths, T* gates,
                        RecurrentParams p) {
  const int64_t n = p.hidden, batch = p.batch, first = Math::matrix_size(n, 2 * n), both = first + Math::matrix_size(n, n);
  T *const reset_h = gates + batch * 2 * n, *const news = gates + batch * 3 * n;  // what n multiplies, and the product
  detail::start_from(h, initial_h, p);
  detail::for_each_step<3>(
      y, h, x, lengths, p,
      [&](int64_t d, int64_t) {
        detail::product<Math>(gates, h + d * batch * n, r + d * both, batch, n, 2 * n);
        for (int64_t i = 0; i < batch * n; ++i) reset_h[i] = h[d * batch * n + i];
      },
      [&](int64_t d, int64_t b, const T* xt) {
        T* const g = gates + b * 2 * n;
        for (int64_t j = 0; j < 2 * n; ++j) g[j] += xt[j];
        detail::gate<Math>(p.activations[d * 3], g, 2 * n, p.clip);
        for (int64_t j = 0; !p.linear_before_reset && j < n; ++j) reset_h[b * n + j] *= g[n + j];
      },
      [&](int64_t d) { detail::product<Math>(news, reset_h, r + d * both + first, batch, n, n); },
      [&](int64_t d, int64_t b, const T* xt) {
        const T* const g = gates + b * 2 * n;
        T *const next = news + b * n, *const ht = h + (d * batch + b) * n;
        for (int64_t j = 0; p.linear_before_reset && j < n; ++j)
          next[j] = g[n + j] * (next[j] + (bias != nullptr ? bias[d * n + j] : T(0)));
        for (int64_t j = 0; j < n; ++j) next[j] += xt[2 * n + j];
        detail::gate<Math>(p.activations[d * 3 + 1], next, n, p.clip);
        for (int64_t j = 0; j < n; ++j) ht[j] = (T(1) - g[j]) * next[j] + g[j] * ht[j];
      });
  detail::clear_empty(h, lengths, p);
}

/// gates: room for batch * 4 * hidden values. peepholes [directions, 3 * hidden] are those of i, o, f. peepholes,
/// initial_h, initial_c and lengths may be null.
ONNXC_EITHER template <class T, class Math = ScalarMath, class Matrices>
ONNXC_ANYWHERE void lstm(T* y, T* h, T* c, const T* x, Matrices r, const T* peepholes, const T* initial_h, const T* initial_c,
                         const int32_t* lengths, T* gates, RecurrentParams p) {
  const int64_t n = p.hidden, batch = p.batch;
  detail::start_from(h, initial_h, p);
  detail::start_from(c, initial_c, p);
  detail::for_each_step<4>(
      y, h, x, lengths, p,
      [&](int64_t d, int64_t step) {
        detail::product<Math>(gates, h + d * batch * n, at_step(r + d * Math::matrix_size(n, 4 * n), step), batch, n, 4 * n);
      },
      [](int64_t, int64_t, const T*) {}, [](int64_t) {},
      [&](int64_t d, int64_t b, const T* xt) {
        const ActivationParams &f = p.activations[d * 3], &g = p.activations[d * 3 + 1], &k = p.activations[d * 3 + 2];
        T *const input = gates + b * 4 * n, *const output = input + n, *const forget = input + 2 * n, *const next = input + 3 * n;
        T *const ht = h + (d * batch + b) * n, *const ct = c + (d * batch + b) * n;
        for (int64_t j = 0; j < 4 * n; ++j) input[j] += xt[j];
        const auto see = [&](T* x_gate, int64_t number) {
          for (int64_t j = 0; peepholes != nullptr && j < n; ++j) x_gate[j] += peepholes[(d * 3 + number) * n + j] * ct[j];
        };
        see(input, 0);
        detail::gate<Math>(f, input, n, p.clip);
        if (p.input_forget) {
          for (int64_t j = 0; j < n; ++j) forget[j] = T(1) - input[j];
        } else {
          see(forget, 2);
          detail::gate<Math>(f, forget, n, p.clip);
        }
        detail::gate<Math>(g, next, n, p.clip);
        for (int64_t j = 0; j < n; ++j) ct[j] = forget[j] * ct[j] + input[j] * next[j];
        see(output, 1);
        detail::gate<Math>(f, output, n, p.clip);
        for (int64_t j = 0; j < n; ++j) ht[j] = ct[j];
        detail::activate<Math>(k, ht, n);
        for (int64_t j = 0; j < n; ++j) ht[j] *= output[j];
      });
  detail::clear_empty(h, lengths, p);
  detail::clear_empty(c, lengths, p);
}

}  // namespace onnxc::scalar
