// RNN, GRU and LSTM in f32 with constant R: the recurrence of scalar/recurrent.hpp, with products by gemm on packed
// panels and functions on vectors.
//
//   lstm<14, 2>(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, gates, {.steps = 48, .batch = 1, ...});
//
// Each matrix of r is packed by itself into gemm's panels of NV vectors. Its elements are floats, or of a narrower type
// that is read as the same floats (stored.hpp); those of int8_t have RecurrentParams::scales, for each matrix padded to
// whole panels. All sequences of a batch take a step together, so a step reads r once. Accuracy: that of gemm, and of
// sigmoid and tanh in vfn.hpp.
#pragma once
#include "gemv.hpp"
#include "scalar/recurrent.hpp"
#include "vfn.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Packed matrices of codes, all of `depth` rows. It moves from one to the next as a pointer does.
struct CodedMatrices {
  const int8_t* codes;
  const float* scales;
  int64_t depth;
  CodedMatrices operator+(int64_t elements) const { return {codes + elements, scales + elements / depth, depth}; }
};
template <class T>
const T* matrices_of(const T* r, const scalar::RecurrentParams&) {
  return r;
}
inline CodedMatrices matrices_of(const int8_t* r, const scalar::RecurrentParams& p) { return {r, p.scales, p.hidden}; }

template <int MR, int NV>
struct VectorMath {
  static constexpr int64_t matrix_size(int64_t rows, int64_t columns) {
    constexpr int64_t kColumns = NV * Vec::width;
    return rows * ((columns + kColumns - 1) / kColumns * kColumns);
  }
  template <class T>
  static void product(float* out, const float* h, const T* r, int64_t rows, int64_t depth, int64_t columns) {
    gemm_any<MR, NV>(Share{}, h, r, out, {.m = rows, .n = columns, .k = depth, .lda = depth, .ldc = columns});
  }
  static void product(float* out, const float* h, CodedMatrices r, int64_t rows, int64_t depth, int64_t columns) {
    gemm_any<MR, NV>(Share{}, h, r.codes, out, {.m = rows, .n = columns, .k = depth, .lda = depth, .ldc = columns, .scales = r.scales});
  }
  static void activate(const scalar::ActivationParams& f, float* x, int64_t n) {
    if (f.kind == scalar::Activation::sigmoid) return each(x, n, [](Vec v) ONNXC_INLINE_LAMBDA { return fn::sigmoid(v); });
    if (f.kind == scalar::Activation::tanh) return each(x, n, [](Vec v) ONNXC_INLINE_LAMBDA { return fn::tanh(v); });
    scalar::ScalarMath::activate(f, x, n);
  }

 private:
  template <class F>
  static ONNXC_INLINE void each(float* x, int64_t n, F f) {
    int64_t i = 0;
    for (; i + Vec::width <= n; i += Vec::width) f(Vec::load(x + i)).store(x + i);
    if (i < n) f(Vec::load(x + i, n - i)).store(x + i, n - i);
  }
};

}  // namespace detail

/// The same as scalar::rnn, scalar::gru and scalar::lstm.
template <int MR, int NV, class T>
void rnn(float* y, float* h, const float* x, const T* r, const float* initial_h, const int32_t* lengths, float* gates,
         scalar::RecurrentParams p) {
  scalar::rnn<float, detail::VectorMath<MR, NV>>(y, h, x, detail::matrices_of(r, p), initial_h, lengths, gates, p);
}
template <int MR, int NV, class T>
void gru(float* y, float* h, const float* x, const T* r, const float* bias, const float* initial_h, const int32_t* lengths, float* gates,
         scalar::RecurrentParams p) {
  scalar::gru<float, detail::VectorMath<MR, NV>>(y, h, x, detail::matrices_of(r, p), bias, initial_h, lengths, gates, p);
}
template <int MR, int NV, class T>
void lstm(float* y, float* h, float* c, const float* x, const T* r, const float* peepholes, const float* initial_h, const float* initial_c,
          const int32_t* lengths, float* gates, scalar::RecurrentParams p) {
  scalar::lstm<float, detail::VectorMath<MR, NV>>(y, h, c, x, detail::matrices_of(r, p), peepholes, initial_h, initial_c, lengths, gates,
                                                  p);
}

}  // namespace onnxc
