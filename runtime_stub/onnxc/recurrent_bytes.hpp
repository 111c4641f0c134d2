// scalar/recurrent_bytes.hpp with constant r: products by gemm_quads on packed panels, and functions on vectors.
//
//   lstm_bytes<8, 2>(y, h, c, x, r, nullptr, nullptr, nullptr, nullptr, gates, bytes, row_sums, {.steps = 48, .batch = 8, ...});
//
// The matrix of each direction is packed by itself into panels of NV vectors (gemm_quads.hpp). Scales, zeros and sums of
// its columns are padded to whole panels; sums are those of r - zero. What zero points add to a sum of bytes is taken away behind
// the product, by the sums of rows and columns:
//
//   the sum of (q - zero_h) (r - zero) = the sum of q r - zero * (the sum of q) - zero_h * (the sum of r - zero)
//
// Sums fit 32 bits for up to kMostBytesDepth hidden values. Accuracy: products are exact but for the roundings of their definition; sigmoid and
// tanh are those of vfn.hpp.
#pragma once
#include "contract/recurrent_bytes.hpp"
#include "gemm_quads.hpp"
#include "recurrent.hpp"
#include "scalar/recurrent_bytes.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

struct PackedByteMatrices : scalar::ByteMatrices {
  uint8_t* bytes;
  int32_t* row_sums;
  PackedByteMatrices operator+(int64_t elements) const { return {scalar::ByteMatrices::operator+(elements), bytes, row_sums}; }
};
inline PackedByteMatrices at_step(PackedByteMatrices r, int64_t step) {
  r.step = step;
  return r;
}

/// The epilogue that makes a product of h of sums of bytes.
struct ByteStep {
  PerCol<int32_t> zeros, sums;
  PerCol<float> scales;
  PerRow<int32_t> row_sums;
  int32_t zero;
  float scale;

  template <class L, class Load>
  ONNXC_INLINE Vec operator()(L, Whole<int32_t> acc, Load&& load) const {
    const IntVec of_rows = times(load(zeros).lanes, load(row_sums).lanes), of_columns = times(load(sums).lanes, IntVec::all(zero));
    return to_float(acc.lanes - of_rows - of_columns) * (Vec::all(scale) * load(scales));
  }

 private:
  static ONNXC_INLINE IntVec times(IntVec a, IntVec b) { return {(IntVec::Raw)((IntVec::Unsigned)a.raw * (IntVec::Unsigned)b.raw)}; }
};

template <int MR, int NV>
struct ByteMath : VectorMath<MR, NV> {
  static constexpr int64_t matrix_size(int64_t rows, int64_t columns) {
    return VectorMath<MR, NV>::matrix_size(4 * contract::quads(rows), columns);
  }
  static void product(float* out, const float* h, const PackedByteMatrices& r, int64_t rows, int64_t depth, int64_t columns) {
    const scalar::ByteRange range = range_of(h, r, rows, depth);
    const int64_t pitch = contract::recurrent_bytes_pitch(depth);
    for (int64_t i = 0; i < rows; ++i) r.row_sums[i] = to_bytes(r.bytes + i * pitch, h + i * depth, depth, range);
    const ByteStep step{{r.zeros}, {r.sums}, {r.scales}, {r.row_sums}, static_cast<int32_t>(range.zero), range.scale};
    const QuadGemmParams p{.m = rows, .n = columns, .k = depth, .lda = pitch, .ldc = columns};
    if (rows == 1) return gemm_quads<1, NV>(Share{}, r.bytes, r.codes, out, p, step);  // a tile of more rows would multiply for all of them
    gemm_quads<MR, NV>(Share{}, r.bytes, r.codes, out, p, step);
  }

 private:
  static scalar::ByteRange range_of(const float* h, const PackedByteMatrices& r, int64_t rows, int64_t depth) {
    Vec low = Vec::all(0.0f), high = low;
    for (int64_t i = 0; i < rows; ++i, h += depth) {
      if (!r.counts(i)) continue;
      const auto see = [&](Vec x) ONNXC_INLINE_LAMBDA { low = onnxc::min(x, low), high = onnxc::max(x, high); };
      int64_t k = 0;
      for (; k + Vec::width <= depth; k += Vec::width) see(Vec::load(h + k));
      if (k < depth) see(Vec::load(h + k, depth - k));
    }
    float lows[Vec::width], highs[Vec::width], least = 0, most = 0;
    low.store(lows);
    high.store(highs);
    for (int lane = 0; lane < Vec::width; ++lane) {
      least = lows[lane] < least ? lows[lane] : least;
      most = highs[lane] > most ? highs[lane] : most;
    }
    return {least, most};
  }

  /// Writes a row in bytes and returns their sum.
  static int32_t to_bytes(uint8_t* bytes, const float* h, int64_t depth, scalar::ByteRange range) {
    const Vec scale = Vec::all(range.scale), zero = Vec::all(range.zero);
    IntVec sums = IntVec::all(0);
    const auto code = [&](Vec x) ONNXC_INLINE_LAMBDA { return fn::cast<uint8_t>(onnxc::round(x / scale) + zero); };
    int64_t k = 0;
    for (; k + Vec::width <= depth; k += Vec::width) {
      const Whole<uint8_t> q = code(Vec::load(h + k));
      store(q, bytes + k);
      sums = sums + q.lanes;
    }
    int32_t lanes[Vec::width], sum = 0;
    store(Whole<int32_t>{sums}, lanes);
    for (const int32_t lane : lanes) sum += lane;
    for (; k < depth; ++k) {
      bytes[k] = static_cast<uint8_t>(range.code(h[k]));
      sum += bytes[k];
    }
    return sum;
  }
};

}  // namespace detail

/// The same as scalar::lstm_bytes. bytes: room for batch rows of contract::recurrent_bytes_pitch(hidden); row_sums: batch values.
template <int MR, int NV>
void lstm_bytes(float* y, float* h, float* c, const float* x, const int8_t* r, const float* peepholes, const float* initial_h,
                const float* initial_c, const int32_t* lengths, float* gates, uint8_t* bytes, int32_t* row_sums,
                scalar::RecurrentParams p) {
  const detail::PackedByteMatrices matrices{{r, p.scales, p.zeros, p.sums, lengths, 4 * contract::quads(p.hidden)}, bytes, row_sums};
  scalar::lstm<float, detail::ByteMath<MR, NV>>(y, h, c, x, matrices, peepholes, initial_h, initial_c, lengths, gates, p);
}

}  // namespace onnxc::inline ONNXC_ISA
