// map: map_scalar on vectors. Operands are floats, also of 16 bits, integers of up to 32 bits, and bools which the expression sees as masks; each
// is a Stream or Fixed.
//
//   map<AddRelu>(share, {12, 768}, Stream{y, {768}}, Stream{x, {768}}, Stream{bias, {0}});
//
// Any alignment; the tail of a row is loaded and stored by lanes. See map_scalar.hpp for the operands.
#pragma once
#include "map_scalar.hpp"
#include "vec_halves.hpp"
#include "vfn.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

#if ONNXC_VECTOR_FLOATS == 1
ONNXC_INLINE Mask load_mask(const bool* p) { return {*p}; }
ONNXC_INLINE Mask load_mask(const bool* p, Index n) { return {n > 0 && *p}; }
ONNXC_INLINE void store_mask(Mask mask, bool* p) { *p = mask.bits; }
#else
typedef uint8_t ByteVec __attribute__((vector_size(Vec::width)));

ONNXC_INLINE Mask load_mask(const bool* p) {
  ByteVec bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return to_float({__builtin_convertvector(bytes, IntVec::Raw)}) != Vec::all(0.0f);
}
ONNXC_INLINE Mask load_mask(const bool* p, Index n) {
  bool lanes[Vec::width] = {};
  for (Index i = 0; i < n; ++i) lanes[i] = p[i];
  return load_mask(lanes);
}
ONNXC_INLINE void store_mask(Mask mask, bool* p) {
  const IntVec ones = bits(select(mask, from_bits(IntVec::all(1)), Vec::all(0.0f)));
  const ByteVec bytes = __builtin_convertvector(ones.raw, ByteVec);
  __builtin_memcpy(p, &bytes, sizeof bytes);
}
#endif

ONNXC_INLINE Vec load_lanes(const Stream<const float>&, const float* row, Index i) { return Vec::load(row + i); }
ONNXC_INLINE Vec load_lanes(const Stream<const float>&, const float* row, Index i, Index n) { return Vec::load(row + i, n); }
ONNXC_INLINE Mask load_lanes(const Stream<const bool>&, const bool* row, Index i) { return load_mask(row + i); }
ONNXC_INLINE Mask load_lanes(const Stream<const bool>&, const bool* row, Index i, Index n) { return load_mask(row + i, n); }
template <lane_integer T, class... N>
ONNXC_INLINE Whole<T> load_lanes(const Stream<const T>&, const T* row, Index i, N... n) {
  return load_whole(row + i, n...);
}
template <lane_integer T, class... N>
ONNXC_INLINE Whole<T> load_lanes(const Fixed<const T>&, const T* row, Index, N...) {
  return {IntVec::all(static_cast<int32_t>(*row))};
}
template <lane_half T, class... N>
ONNXC_INLINE Halves<T> load_lanes(const Stream<const T>&, const T* row, Index i, N... n) {
  return load_halves(row + i, n...);
}
template <lane_half T, class... N>
ONNXC_INLINE Halves<T> load_lanes(const Fixed<const T>&, const T* row, Index, N...) {
  return fn::cast<T>(Vec::all(static_cast<float>(*row)));
}
template <class... N>
ONNXC_INLINE Vec load_lanes(const Fixed<const float>&, const float* row, Index, N...) {
  return Vec::all(*row);
}
template <class... N>
ONNXC_INLINE Mask load_lanes(const Fixed<const bool>&, const bool* row, Index, N...) {
  return Lanes{}(*row);
}
template <class T>
ONNXC_INLINE Stream<const T> read_only(const Stream<T>& x) {
  return {x.data, x.outer};
}
template <class T>
ONNXC_INLINE Fixed<const T> read_only(const Fixed<T>& x) {
  return {x.data, x.outer};
}

ONNXC_INLINE void store_lanes(Vec y, float* p) { y.store(p); }
ONNXC_INLINE void store_lanes(Vec y, float* p, Index n) { y.store(p, n); }
template <template <class> class Of, class T, class... N>
ONNXC_INLINE void store_lanes(Of<T> y, T* p, N... n) {
  store(y, p, n...);
}
ONNXC_INLINE void store_lanes(Mask y, bool* p) { store_mask(y, p); }
ONNXC_INLINE void store_lanes(Mask y, bool* p, Index n) {
  bool lanes[Vec::width];
  store_mask(y, lanes);
  for (Index i = 0; i < n; ++i) p[i] = lanes[i];
}

template <class Expr, class Out, class... In>
ONNXC_INLINE void map_vectors(Share share, const Shape& shape, const Stream<Out>& out, const In&... in) {
  for_rows(
      share, shape,
      [&](Index first, Index last, auto* y, auto*... x) {
        Index i = first;
        for (; i + Vec::width <= last; i += Vec::width) store_lanes(Expr::apply(Lanes{}, load_lanes(in, x, i)...), y + i);
        if (const Index n = last - i; Vec::width > 1 && n > 0) store_lanes(Expr::apply(Lanes{}, load_lanes(in, x, i, n)...), y + i, n);
      },
      out, in...);
}

}  // namespace detail

/// See the head of the file.
template <class Expr, class Out, class... In>
void map(Share share, Passed<Shape> shape, Stream<Out> out, In... in) {
  detail::map_vectors<Expr>(share, shape, out, detail::read_only(in)...);
}

}  // namespace onnxc
