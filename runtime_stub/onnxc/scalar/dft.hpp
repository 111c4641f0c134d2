// DFT and STFT, as ONNX defines them. Complex numbers are a last axis of extent 2, real ones of extent 1. Complex f32
// signals are transformed in f32, as NumPy does it, all others in f64, and so are lengths with large prime factors.
#pragma once
#include "../base.hpp"
#include "../fn.hpp"
#include "fft.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

struct DftParams {
  int64_t length = 0;     ///< of the transform; 0: the extent of the axis
  bool inverse = false;   ///< e^+, and divided by the length
  bool onesided = false;  ///< forward: y holds bins [0, length / 2]; inverse: x does, and y is real
  bool chirp = false;     ///< lengths with large prime factors may be transformed as a chirp; work then has fft_numbers(length) doubles
};

/// One axis [outer, extent, inner] of x; see `dft`. A share has some of the lines.
template <class W, class T, class Transform>
ONNXC_ANYWHERE void dft_axis(Tensor<T> y, Tensor<const T> x, int k, Transform fft, int64_t n, DftParams params, Share share) {
  const int rank = x.shape.rank;
  const int64_t parts = x.shape[rank - 1], results = y.shape[rank - 1], extent = x.shape[k], bins = y.shape[k];
  const int64_t outer = x.shape.count(0, k), inner = x.shape.count(k + 1, rank - 1);
  const W scale = params.inverse ? 1 / static_cast<W>(n) : W(1);
  const auto [first, last] = share.slice(outer * inner);
  for (int64_t line = first; line < last; ++line) {
    const int64_t o = line / inner, i = line % inner;
    const auto read = [&](int64_t at) -> Complex<W> {
      if (at >= extent) return {};
      const T* const v = x.data + ((o * extent + at) * inner + i) * parts;
      return {fn::cast<W>(v[0]), parts == 2 ? fn::cast<W>(v[1]) : W(0)};
    };
    if (params.inverse && params.onesided) {
      // The other half is the conjugate of this one; what is its own conjugate is real.
      for (int64_t b = 0; b <= n / 2; ++b) {
        Complex<W> v = read(b);
        if (b == 0 || 2 * b == n) v.im = 0;
        fft.x[b] = v;
        if (b != 0) fft.x[n - b] = {v.re, -v.im};
      }
    } else {
      for (int64_t b = 0; b < n; ++b) fft.x[b] = read(b);
    }
    fft.transform(params.inverse);
    for (int64_t b = 0; b < bins; ++b) {
      T* const to = y.data + ((o * bins + b) * inner + i) * results;
      to[0] = fn::cast<T>(fft.x[b].re * scale);
      if (results == 2) to[1] = fn::cast<T>(fft.x[b].im * scale);
    }
  }
}

/// Transforms x along the axis that `axis` names. Its signals are cut or padded with zeros to the length. A share has
/// some of the signals; work: 6 doubles of its own for each element of the length. An axis out of range gives
/// ONNXC_INDEX_OUT_OF_RANGE, a transform of length 0 ONNXC_BAD_DIMENSION. No aliasing.
template <class T, class I>
ONNXC_ANYWHERE Status dft(Tensor<T> y, Tensor<const T> x, Tensor<const I> axis, double* work, DftParams params, Share share = {}) {
  const int rank = x.shape.rank;
  const int64_t given = static_cast<int64_t>(axis.data[0]), a = given < 0 ? given + rank : given;
  if (a < 0 || a >= rank - 1) return {ONNXC_INDEX_OUT_OF_RANGE};
  const int k = static_cast<int>(a);
  const int64_t n = params.length != 0 ? params.length : x.shape[k];
  if (y.count() == 0) return {};
  if (n < 1) return {ONNXC_BAD_DIMENSION};
  if (params.chirp && has_large_factor(n)) {
    dft_axis<double>(y, x, k, ChirpFft(work, n), n, params, share);
    return {};
  }
  if constexpr (sizeof(T) == 4) {
    if (x.shape[rank - 1] == 2) {
      dft_axis<float>(y, x, k, Fft<float>(reinterpret_cast<float*>(work), n), n, params, share);
      return {};
    }
  }
  dft_axis<double>(y, x, k, Fft<double>(work, n), n, params, share);
  return {};
}

template <class T, class Transform>
ONNXC_ANYWHERE void stft_frames(Tensor<T> y, Tensor<const T> x, const T* window, Transform fft, int64_t length, int64_t step, Share share) {
  const int64_t samples = x.shape[1], parts = x.shape.rank == 3 ? x.shape[2] : 1, frames = y.shape[1], bins = y.shape[2];
  const auto [first, last] = share.slice(x.shape[0] * frames);
  T* to = y.data + first * bins * 2;
  for (int64_t frame = first; frame < last; ++frame) {
    const int64_t b = frame / frames, f = frame % frames;
    for (int64_t i = 0; i < length; ++i) {
      const T* const v = x.data + (b * samples + f * step + i) * parts;
      const double w = window != nullptr ? fn::cast<double>(window[i]) : 1.0;
      fft.x[i] = {fn::cast<double>(v[0]) * w, parts == 2 ? fn::cast<double>(v[1]) * w : 0.0};
    }
    fft.transform(false);
    for (int64_t k = 0; k < bins; ++k, to += 2) {
      to[0] = fn::cast<T>(fft.x[k].re);
      to[1] = fn::cast<T>(fft.x[k].im);
    }
  }
}

/// y[b, f, k] = DFT of x[b, f * step + i] * window[i] for i in [0, length), k in [0, bins). x is [b, samples, 1 or 2]
/// (a missing last axis has extent 1), y is [b, frames, bins, 2]. A null window is all ones. Frames lie within the
/// signal. Computed in f64. No aliasing. A share has some of the frames; work: 6 * length doubles of its own, or
/// fft_numbers(length) where it may be a chirp.
template <class T>
ONNXC_ANYWHERE void stft(Tensor<T> y, Tensor<const T> x, const T* window, double* work, int64_t length, int64_t step, bool chirp,
                         Share share = {}) {
  if (y.count() == 0) return;
  if (chirp && has_large_factor(length)) stft_frames(y, x, window, ChirpFft(work, length), length, step, share);
  else stft_frames(y, x, window, Fft<double>(work, length), length, step, share);
}

}  // namespace onnxc::scalar
