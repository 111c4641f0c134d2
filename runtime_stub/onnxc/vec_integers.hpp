// Vectors of integers for expressions that convert between them and floats: 8, 16 or 32 bits in memory, 32 in a lane.
//
//   Whole<T>                       Vec::width values of T
//   Unsaturated<T>                 the same before they are saturated; saturate(x) is a Whole<T>
//   load_whole(p), store(x, p)     any alignment; with n: lanes [0, n) alone, other lanes load as 0
//   fn::cast<float>(x)             rounded once if T has 32 bits, else exact
//   fn::cast<T>(Vec)               truncates; out of range it saturates, of NaN it gives 0
//   fn::cast<T>(Whole<X>)          wraps
//   fn::add, sub, mul              of i32, wrap
#pragma once
#include <limits>
#include <type_traits>
#include <utility>

#include "vec_packed.hpp"

namespace onnxc::inline ONNXC_ISA {

template <class T>
concept lane_integer = std::is_same_v<T, uint8_t> || std::is_same_v<T, int8_t> || std::is_same_v<T, uint16_t> ||
                       std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t>;

template <lane_integer T>
struct Whole {
  IntVec lanes;  ///< each within the range of T
};

/// What is yet to be saturated: that takes no instruction of its own where values are packed.
template <lane_integer T>
struct Unsaturated {
  IntVec lanes;  ///< each stands for the nearest value of T
};

#if defined(ONNXC_HELIUM)
/// Loads widen and stores narrow; a predicate leaves out lanes from n on.
template <lane_integer T>
ONNXC_INLINE Whole<T> load_whole(const T* p) {
  if constexpr (std::is_same_v<T, uint8_t>) return {(IntVec::Raw)vldrbq_u32(p)};
  else if constexpr (std::is_same_v<T, int8_t>) return {(IntVec::Raw)vldrbq_s32(p)};
  else if constexpr (std::is_same_v<T, uint16_t>) return {(IntVec::Raw)vldrhq_u32(p)};
  else if constexpr (std::is_same_v<T, int16_t>) return {(IntVec::Raw)vldrhq_s32(p)};
  else return {(IntVec::Raw)vldrwq_s32(p)};
}
template <lane_integer T>
ONNXC_INLINE Whole<T> load_whole(const T* p, int64_t n) {
  const mve_pred16_t first = vctp32q(static_cast<uint32_t>(n));
  if constexpr (std::is_same_v<T, uint8_t>) return {(IntVec::Raw)vldrbq_z_u32(p, first)};
  else if constexpr (std::is_same_v<T, int8_t>) return {(IntVec::Raw)vldrbq_z_s32(p, first)};
  else if constexpr (std::is_same_v<T, uint16_t>) return {(IntVec::Raw)vldrhq_z_u32(p, first)};
  else if constexpr (std::is_same_v<T, int16_t>) return {(IntVec::Raw)vldrhq_z_s32(p, first)};
  else return {(IntVec::Raw)vldrwq_z_s32(p, first)};
}
template <lane_integer T>
ONNXC_INLINE void store(Whole<T> x, T* p) {
  if constexpr (sizeof(T) == 1) vstrbq_s32(reinterpret_cast<int8_t*>(p), (int32x4_t)x.lanes.raw);
  else if constexpr (sizeof(T) == 2) vstrhq_s32(reinterpret_cast<int16_t*>(p), (int32x4_t)x.lanes.raw);
  else vstrwq_s32(p, (int32x4_t)x.lanes.raw);
}
template <lane_integer T>
ONNXC_INLINE void store(Whole<T> x, T* p, int64_t n) {
  const mve_pred16_t first = vctp32q(static_cast<uint32_t>(n));
  if constexpr (sizeof(T) == 1) vstrbq_p_s32(reinterpret_cast<int8_t*>(p), (int32x4_t)x.lanes.raw, first);
  else if constexpr (sizeof(T) == 2) vstrhq_p_s32(reinterpret_cast<int16_t*>(p), (int32x4_t)x.lanes.raw, first);
  else vstrwq_p_s32(p, (int32x4_t)x.lanes.raw, first);
}
ONNXC_INLINE IntVec min(IntVec a, IntVec b) { return {(IntVec::Raw)vminq_s32((int32x4_t)a.raw, (int32x4_t)b.raw)}; }
ONNXC_INLINE IntVec max(IntVec a, IntVec b) { return {(IntVec::Raw)vmaxq_s32((int32x4_t)a.raw, (int32x4_t)b.raw)}; }
#else
template <lane_integer T, class... N>
ONNXC_INLINE Whole<T> load_whole(const T* p, N... n) {
  if constexpr (sizeof(T) == 4) return {(IntVec::Raw)detail::load_packed(p, n...)};
  else return {detail::widen_packed<T>(detail::load_packed(p, n...))};
}
template <lane_integer T, class... N>
ONNXC_INLINE void store(Whole<T> x, T* p, N... n) {
  if constexpr (sizeof(T) == 4) detail::store_packed((detail::Packed<T>)x.lanes.raw, p, n...);
  else detail::store_packed(detail::narrow_packed<T>(x.lanes), p, n...);
}

ONNXC_INLINE IntVec min(IntVec a, IntVec b) { return {a.raw < b.raw ? a.raw : b.raw}; }
ONNXC_INLINE IntVec max(IntVec a, IntVec b) { return {a.raw < b.raw ? b.raw : a.raw}; }
#endif

template <lane_integer T>
ONNXC_INLINE Whole<T> saturate(Unsaturated<T> x) {
  using Limits = std::numeric_limits<T>;
  return {min(max(x.lanes, IntVec::all(Limits::min())), IntVec::all(Limits::max()))};
}
template <lane_integer T, class... N>
ONNXC_INLINE void store(Unsaturated<T> x, T* p, N... n) {
#if defined(ONNXC_HELIUM)
  // Two moves that saturate, without constants: from 32 to 16 bits and from there to 8, each to the lower end of its lane.
  const auto lanes = (int32x4_t)x.lanes.raw;
  const int16x8_t any = vreinterpretq_s16_s32(lanes);
  if constexpr (std::is_same_v<T, uint8_t>) {
    const uint16x8_t halves = vqmovunbq_s32(vreinterpretq_u16_s16(any), lanes);
    return store(Whole<T>{(IntVec::Raw)vqmovnbq_u16(vreinterpretq_u8_u16(halves), halves)}, p, n...);
  } else if constexpr (std::is_same_v<T, int8_t>) {
    const int16x8_t halves = vqmovnbq_s32(any, lanes);
    return store(Whole<T>{(IntVec::Raw)vqmovnbq_s16(vreinterpretq_s8_s16(halves), halves)}, p, n...);
  }
#endif
  store(saturate(x), p, n...);
}

#if defined(__AVX512BW__) && !defined(ONNXC_NO_INTRINSICS)
/// Whether store_four is one pack of 64 bytes.
template <class Lanes>
inline constexpr bool kStoresFour = false;
template <lane_integer T>
  requires(sizeof(T) == 1)
inline constexpr bool kStoresFour<Unsaturated<T>> = true;

/// Stores four vectors, of which each `together`, 1, 2 or 4, follow each other: at p[0], p[together], ...
template <int together, lane_integer T>
ONNXC_INLINE void store_four(const Unsaturated<T> (&x)[4], T* const (&p)[4]) {
  typedef uint8_t Packed __attribute__((vector_size(64)));
  const Packed bytes = (Packed)x86::pack_bytes<std::is_signed_v<T>>(x[0].lanes.raw, x[1].lanes.raw, x[2].lanes.raw, x[3].lanes.raw);
  ONNXC_UNROLL for (int i = 0; i < 4; i += together) {
    const uint8_t* const from = reinterpret_cast<const uint8_t*>(&bytes) + 16 * i;
    __builtin_memcpy(p[i], from, 16 * together);
  }
}
#else
template <class Lanes>
inline constexpr bool kStoresFour = false;
#endif

namespace fn {

template <class T, lane_integer X>
  requires std::is_same_v<T, float>
ONNXC_INLINE Vec cast(Whole<X> x) {
  return to_float(x.lanes);
}

template <lane_integer T>
ONNXC_INLINE Whole<T> cast(Vec x) {
  using Limits = std::numeric_limits<T>;
  constexpr auto low = static_cast<float>(Limits::min());
  // max and min give their second operand where the first is NaN.
  const Vec number = std::is_unsigned_v<T> ? x : select(x == x, x, Vec::all(0.0f));
  const Vec above = onnxc::max(number, Vec::all(low));
  if constexpr (sizeof(T) < 4) {
    return {truncate(onnxc::min(above, Vec::all(static_cast<float>(Limits::max()))))};
  } else {
    constexpr float end = 0x1p31f;
    const Vec inside = onnxc::min(above, Vec::all(2147483520.0f));  // the float before
    const IntVec whole = truncate(inside);
    return {bits(select(above >= Vec::all(end), from_bits(IntVec::all(Limits::max())), from_bits(whole)))};
  }
}
template <lane_integer T>
ONNXC_INLINE Whole<T> cast(Constant x) {
  return cast<T>(static_cast<Vec>(x));
}

template <lane_integer T, lane_integer X>
ONNXC_INLINE Whole<T> cast(Whole<X> x) {
  constexpr int shift = 32 - 8 * static_cast<int>(sizeof(T));
  if constexpr (std::is_unsigned_v<T>) return {x.lanes & IntVec::all(static_cast<int32_t>(std::numeric_limits<T>::max()))};
  else if constexpr (shift > 0) return {(x.lanes << shift) >> shift};
  else return {x.lanes};
}
template <class T, lane_integer X>
ONNXC_INLINE auto cast(Unsaturated<X> x) {
  return cast<T>(saturate(x));
}

/// x / scale, or a number that rounds to the same whole one, for |x / scale| up to 256. scale: 1, or one for which the compiler has found that
/// (lowering/exact_division.h). A fused multiply-add finds the error of the product with the reciprocal.
ONNXC_INLINE Vec steps_of(Vec x, Constant scale) {
  if (scale.value == 1.0f) return x;
  if constexpr (!kHasFma) return x / scale;
  const Vec r = Vec::all(1.0f / scale.value), q = x * r;
  return onnxc::fma(onnxc::fnma(scale, q, x), r, q);
}

/// x / scale, rounded half to even, plus zero, saturated; 0 of NaN. zero: a whole number in the range of T. scale: as steps_of has it, or 1 if T has
/// 16 bits.
template <lane_integer T>
  requires(sizeof(T) < 4)
ONNXC_INLINE Unsaturated<T> quantize(Vec x, Constant scale, Constant zero) {
  using Limits = std::numeric_limits<T>;
  const IntVec offset = IntVec::all(static_cast<int32_t>(zero.value));
  if (kToIntSaturates && scale.value == 1.0f) {
    if (zero.value == 0.0f) return {to_int(x)};
    const IntVec steps = to_int(select(x == x, x, Vec::all(-zero.value)));
    // 18 bits have room for all that is not saturated, and their sum with the offset does not overflow.
    return {onnxc::min(onnxc::max(steps, IntVec::all(-0x20000)), IntVec::all(0x1ffff)) + offset};
  }
  // max and min give their second operand where one is NaN.
  if (kToIntGivesLeast && std::is_unsigned_v<T> && scale.value == 1.0f) return {to_int(onnxc::min(Vec::all(0x1p30f), x)) + offset};
  const Vec number = std::is_unsigned_v<T> ? x : select(x == x, x, Vec::all(-zero.value * scale.value));
  const float low = static_cast<float>(Limits::min()) - zero.value, high = static_cast<float>(Limits::max()) - zero.value;
  return {to_int(steps_of(onnxc::min(onnxc::max(number, Vec::all(low * scale.value)), Vec::all(high * scale.value)), scale)) + offset};
}

/// cast<float>(quantize<uint8_t>(x, scale, zero)) - zero
ONNXC_INLINE Vec byte_steps(Vec x, Constant scale, Constant zero) {
  const Vec above = onnxc::max(x, Vec::all(-zero.value * scale.value)),
            inside = onnxc::min(above, Vec::all((255.0f - zero.value) * scale.value));
  return to_float(to_int(steps_of(inside, scale)));
}

template <class T>
concept lanes_of_i32 = std::is_same_v<T, Whole<int32_t>> || std::is_same_v<T, IntegerConstant>;

ONNXC_INLINE IntVec all_lanes(Whole<int32_t> x) { return x.lanes; }
ONNXC_INLINE IntVec all_lanes(IntegerConstant x) { return IntVec::all(x.value); }

template <lanes_of_i32 A, lanes_of_i32 B>
ONNXC_INLINE Whole<int32_t> add(A a, B b) {
  return {all_lanes(a) + all_lanes(b)};
}
template <lanes_of_i32 A, lanes_of_i32 B>
ONNXC_INLINE Whole<int32_t> sub(A a, B b) {
  return {all_lanes(a) - all_lanes(b)};
}
template <lanes_of_i32 A, lanes_of_i32 B>
ONNXC_INLINE Whole<int32_t> mul(A a, B b) {
  return {all_lanes(a) * all_lanes(b)};
}
template <class T>
ONNXC_INLINE auto cast(IntegerConstant x) {
  return cast<T>(Whole<int32_t>{IntVec::all(x.value)});
}

}  // namespace fn
}  // namespace onnxc::inline ONNXC_ISA
