// Constants as they are stored, read as floats: kernels get the same floats whatever the storage type.
//
//   T of the array       an element of column j is
//   float                itself
//   float16, bfloat16    widened, which is exact
//   int8_t               float(code) * scales[j], rounded once; the compiler has checked that this is the weight
//                        (compiler/select/weights/stored.h)
//
//   const auto panel = panel_of(b, scales, i, k, NR);   // of an array of panels [k][NR]: a pointer, or Codes
//   load(panel + s * NR, j)                             // Vec: the elements of row s from column j on
//
// Arrays need no more alignment than that of their elements.
#pragma once
#include "types.hpp"
#include "vec_integers.hpp"

namespace onnxc::inline ONNXC_ISA {

/// A row of codes of 8 bits and the scales of its columns. It moves from row to row as a pointer does.
struct Codes {
  const int8_t* codes;
  const float* scales;
  ONNXC_INLINE friend Codes operator+(Codes row, int64_t elements) { return {row.codes + elements, row.scales}; }
  ONNXC_INLINE Codes& operator+=(int64_t elements) {
    codes += elements;
    return *this;
  }
};

/// Panel number `panel` of an array of panels, each of k rows of nr elements. `scales`: where T is int8_t, those of all
/// columns, padded to whole panels.
template <class T>
ONNXC_INLINE const T* panel_of(const T* b, const float*, int64_t panel, int64_t k, int64_t nr) {
  return b + panel * k * nr;
}
ONNXC_INLINE Codes panel_of(const int8_t* b, const float* scales, int64_t panel, int64_t k, int64_t nr) {
  return {b + panel * k * nr, scales + panel * nr};
}

/// The address of the first element of a row.
template <class T>
ONNXC_INLINE const T* address_of(const T* row) {
  return row;
}
ONNXC_INLINE const int8_t* address_of(Codes row) { return row.codes; }

namespace detail {

template <class Raw, class T>
ONNXC_INLINE Raw load_raw(const T* p) {
  Raw raw;
  __builtin_memcpy(&raw, p, sizeof raw);
  return raw;
}

/// Floats of binary16 by integer operations alone. The exponent moves by 112, or by twice that for infinity and NaN.
/// Subnormals are whole numbers of 2^-24.
ONNXC_INLINE Vec widen_halves(IntVec code) {
  const IntVec magnitude = (code & IntVec::all(0x7fff)) << 13, sign = (code & IntVec::all(0x8000)) << 16;
  const IntVec bias = IntVec::all(112 << 23), moved = magnitude + bias;
  const Vec number = select(magnitude < IntVec::all(0x1f << 23), from_bits(moved), from_bits(moved + bias)),
            small = to_float(magnitude >> 13) * Vec::all(0x1p-24f);
  return from_bits(bits(select(magnitude < IntVec::all(1 << 23), small, number)) | sign);
}

}  // namespace detail

/// Vec::width elements from p on.
ONNXC_INLINE Vec widen(const bfloat16* p) { return from_bits(load_whole(&p->bits).lanes << 16); }
ONNXC_INLINE Vec widen(const float16* p) {
#if defined(__F16C__) && defined(__AVX__) && !defined(ONNXC_NO_INTRINSICS)
  return {x86::widen_halves(detail::load_raw<x86::Halves>(p))};
#elif defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS)
  return {vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&p->bits)))};
#else
  return detail::widen_halves(load_whole(&p->bits).lanes);
#endif
}
ONNXC_INLINE Vec widen(const int8_t* p) { return to_float(load_whole(p).lanes); }

/// The elements of a row from column j on.
ONNXC_INLINE Vec load(const float* row, int64_t j) { return Vec::load(row + j); }
ONNXC_INLINE Vec load(const float16* row, int64_t j) { return widen(row + j); }
ONNXC_INLINE Vec load(const bfloat16* row, int64_t j) { return widen(row + j); }
ONNXC_INLINE Vec load(Codes row, int64_t j) { return widen(row.codes + j) * Vec::load(row.scales + j); }

/// Elements of two rows that lie in pairs (tile.hpp), from j on. They belong to the columns from `column` on, or with
/// load_pairs to half as many columns, in two lanes each.
template <class T>
ONNXC_INLINE Vec load(const T* rows, int64_t j, int64_t) {
  return load(rows, j);
}
ONNXC_INLINE Vec load(Codes rows, int64_t j, int64_t column) { return widen(rows.codes + j) * Vec::load(rows.scales + column); }
template <class T>
ONNXC_INLINE Vec load_pairs(const T* rows, int64_t j, int64_t) {
  return load(rows, j);
}
ONNXC_INLINE Vec load_pairs(Codes rows, int64_t j, int64_t column) {
  return widen(rows.codes + j) * twice(Vec::load(rows.scales + column, Vec::width / 2));
}

}  // namespace onnxc
