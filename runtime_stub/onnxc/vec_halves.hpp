// Vectors of float16 and bfloat16 for expressions that convert between them and floats, with which they are computed.
//
//   Halves<T>                      Vec::width values of T
//   load_halves(p), store(x, p)    any alignment; with n: lanes [0, n) alone, other lanes load as 0
//   fn::cast<float>(x)             exact
//   fn::cast<T>(Vec)               rounded once, half to even
//
// Values of bfloat16 are held as floats, whose lower halves are 0, so that rounding in registers needs no conversion back.
#pragma once
#include "stored.hpp"

namespace onnxc::inline ONNXC_ISA {

template <class T>
concept lane_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <lane_half T>
struct Halves;
template <>
struct Halves<bfloat16> {
  Vec value;
};

#if defined(__F16C__) && defined(__AVX__) && !defined(ONNXC_NO_INTRINSICS)
template <>
struct Halves<float16> {
  x86::Halves raw;
};
#elif defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS)
template <>
struct Halves<float16> {
  float16x4_t raw;
};
#else
template <>
struct Halves<float16> {
  IntVec codes;
};
#endif

namespace detail {

/// mask ? a : b
ONNXC_INLINE IntVec select_bits(Mask mask, IntVec a, IntVec b) { return bits(select(mask, from_bits(a), from_bits(b))); }

/// The nearest bfloat16 as a float; a NaN becomes quiet.
ONNXC_INLINE Vec round_to_bfloat(Vec x) {
  const IntVec code = bits(x), magnitude = code & IntVec::all(0x7fffffff);
  const IntVec odd = (code >> 16) & IntVec::all(1), nearest = code + IntVec::all(0x7fff) + odd;
  const IntVec rounded = select_bits(IntVec::all(0x7f800000) < magnitude, code | IntVec::all(0x400000), nearest);
  return from_bits(rounded & IntVec::all(static_cast<int32_t>(0xffff0000)));
}

/// Codes of binary16 by operations on floats: adding a power of two, by which the place of binary16's last bit becomes that of a float's, rounds.
/// Two factors before it, which cancel but for 4, make infinity of what is too large.
ONNXC_INLINE IntVec narrow_to_half_codes(Vec x) {
  const IntVec code = bits(x), magnitude = code & IntVec::all(0x7fffffff);
  Vec large = abs(x) * Vec::all(0x1p112f);
  pin(large);  // or -ffast-math joins the factors
  const Vec quadruple = large * Vec::all(0x1p-110f);
  const IntVec exponent = code & IntVec::all(0x7f800000), least = IntVec::all(0x38800000),
               place = select_bits(exponent < least, least, exponent) + IntVec::all(0x07800000);
  Vec sum = quadruple + from_bits(place);
  pin(sum);
  const IntVec found = bits(sum), number = ((found >> 13) & IntVec::all(0x7c00)) + (found & IntVec::all(0xfff));
  return select_bits(IntVec::all(0x7f800000) < magnitude, IntVec::all(0x7e00), number) | ((code >> 16) & IntVec::all(0x8000));
}

}  // namespace detail

namespace fn {

template <lane_half T>
ONNXC_INLINE Halves<T> cast(Vec x) {
  if constexpr (std::is_same_v<T, bfloat16>) return {onnxc::detail::round_to_bfloat(x)};
#if defined(__F16C__) && defined(__AVX__) && !defined(ONNXC_NO_INTRINSICS)
  else return {x86::narrow_to_halves(x.raw())};
#elif defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS)
  else return {vcvt_f16_f32(x.raw())};
#else
  else return {onnxc::detail::narrow_to_half_codes(x)};
#endif
}
template <lane_half T>
ONNXC_INLINE Halves<T> cast(Constant x) {
  return cast<T>(static_cast<Vec>(x));
}
template <class T, lane_half X>
  requires std::is_same_v<T, float>
ONNXC_INLINE Vec cast(Halves<X> x) {
  if constexpr (std::is_same_v<X, bfloat16>) return x.value;
#if defined(__F16C__) && defined(__AVX__) && !defined(ONNXC_NO_INTRINSICS)
  else return {x86::widen_halves(x.raw)};
#elif defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS)
  else return {vcvt_f32_f16(x.raw)};
#else
  else return onnxc::detail::widen_halves(x.codes);
#endif
}

}  // namespace fn

template <lane_half T>
ONNXC_INLINE Halves<T> load_halves(const T* p) {
  if constexpr (std::is_same_v<T, bfloat16>) return {widen(p)};
#if (defined(__F16C__) && defined(__AVX__) && !defined(ONNXC_NO_INTRINSICS)) || (defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS))
  else return {detail::load_raw<decltype(Halves<float16>::raw)>(p)};
#else
  else return {load_whole(&p->bits).lanes};
#endif
}
template <lane_half T>
ONNXC_INLINE Halves<T> load_halves(const T* p, int64_t n) {
  T lanes[Vec::width];
  detail::store_packed(detail::load_packed(&p->bits, n), &lanes[0].bits);
  return load_halves(lanes);
}

template <lane_half T>
ONNXC_INLINE void store(Halves<T> x, T* p) {
  if constexpr (std::is_same_v<T, bfloat16>) detail::store_packed<uint16_t>(detail::narrow_packed<uint16_t>(bits(x.value) >> 16), &p->bits);
#if (defined(__F16C__) && defined(__AVX__) && !defined(ONNXC_NO_INTRINSICS)) || (defined(__aarch64__) && !defined(ONNXC_NO_INTRINSICS))
  else __builtin_memcpy(&p->bits, &x.raw, sizeof x.raw);
#else
  else detail::store_packed<uint16_t>(detail::narrow_packed<uint16_t>(x.codes), &p->bits);
#endif
}
template <lane_half T>
ONNXC_INLINE void store(Halves<T> x, T* p, int64_t n) {
  T lanes[Vec::width];
  store(x, lanes);
  detail::store_packed(detail::load_packed(&lanes[0].bits), &p->bits, n);
}

}  // namespace onnxc::inline ONNXC_ISA
