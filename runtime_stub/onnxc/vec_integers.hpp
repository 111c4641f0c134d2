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

#include "vec.hpp"

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

namespace detail {

/// Vec::width elements of T as they lie in memory, at the beginning of a register of at least 16 bytes.
template <class T>
constexpr int kPackedBytes = static_cast<int>(sizeof(T)) * Vec::width;
template <class T>
struct PackedOf {
  typedef T Raw __attribute__((vector_size(kPackedBytes<T> < 16 ? 16 : kPackedBytes<T>)));
  typedef Raw Anywhere __attribute__((aligned(1), may_alias));
  using Word = std::conditional_t<kPackedBytes<T> == 4, int32_t, int64_t>;
  typedef Word Words __attribute__((vector_size(16)));
};
template <class T>
using Packed = typename PackedOf<T>::Raw;

/// Where values take less than a register, as one number: a copy into a part of a register goes through memory.
template <class T>
ONNXC_INLINE Packed<T> load_packed(const T* p) {
  using Of = PackedOf<T>;
  if constexpr (kPackedBytes<T> < 16) {
    typename Of::Word word;
    __builtin_memcpy(&word, p, sizeof word);
    if constexpr (kPackedBytes<T> == 4) return (Packed<T>)typename Of::Words{word, 0, 0, 0};
    else return (Packed<T>)typename Of::Words{word, 0};
  } else {
    return *reinterpret_cast<const typename Of::Anywhere*>(p);
  }
}
template <class T>
ONNXC_INLINE void store_packed(Packed<T> x, T* p) {
  using Of = PackedOf<T>;
  if constexpr (kPackedBytes<T> < 16) {
    const typename Of::Word word = ((typename Of::Words)x)[0];
    __builtin_memcpy(p, &word, sizeof word);
  } else {
    *reinterpret_cast<typename Of::Anywhere*>(p) = x;
  }
}

/// The first n elements, and zeros.
template <class T>
ONNXC_INLINE Packed<T> load_packed(const T* p, int64_t n) {
#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(ONNXC_NO_INTRINSICS)
  if constexpr (sizeof(T) == 1) return (Packed<T>)x86::load_bytes(p, n);
  else if constexpr (sizeof(T) == 2) return (Packed<T>)x86::load_halves(p, n);
  else return (Packed<T>)x86::load_ints(p, n);
#else
  T elements[Vec::width] = {};
  for (int64_t i = 0; i < n; ++i) elements[i] = p[i];
  return load_packed(static_cast<const T*>(elements));
#endif
}
/// The first n elements alone.
template <class T>
ONNXC_INLINE void store_packed(Packed<T> x, T* p, int64_t n) {
#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(ONNXC_NO_INTRINSICS)
  if constexpr (sizeof(T) == 1) x86::store_bytes(p, n, (x86::Bytes)x);
  else if constexpr (sizeof(T) == 2) x86::store_halves(p, n, (x86::Halves)x);
  else x86::store_ints(p, n, (x86::Ints)x);
#else
  T elements[Vec::width];
  store_packed(x, static_cast<T*>(elements));
  for (int64_t i = 0; i < n; ++i) p[i] = elements[i];
#endif
}

#if defined(__SSE4_1__) && (defined(__AVX2__) || !defined(__AVX__)) && !defined(ONNXC_NO_INTRINSICS)
template <class T>
ONNXC_INLINE IntVec widen_packed(Packed<T> x) {
  return {(IntVec::Raw)x86::widen(x)};
}
#else
/// Each value goes to the upper end of its lane, and from there to the lower.
template <class T, std::size_t... i>
ONNXC_INLINE IntVec::Raw raise(Packed<T> x, std::index_sequence<i...>) {
  constexpr int per_lane = 4 / sizeof(T), zero = sizeof(Packed<T>) / sizeof(T);
  return (IntVec::Raw)shuffle<(i % per_lane == per_lane - 1 ? static_cast<int>(i / per_lane) : zero)...>(x, Packed<T>{});
}
template <class T>
ONNXC_INLINE IntVec widen_packed(Packed<T> x) {
  constexpr int shift = 32 - 8 * static_cast<int>(sizeof(T));
  const IntVec::Raw raised = raise<T>(x, std::make_index_sequence<4 * Vec::width / sizeof(T)>{});
  if constexpr (std::is_signed_v<T>) return {raised >> shift};
  else return {(IntVec::Raw)((IntVec::Unsigned)raised >> shift)};
}
#endif

template <class T, std::size_t... i>
ONNXC_INLINE Packed<T> take_low(IntVec x, std::index_sequence<i...>) {
  typedef T Parts __attribute__((vector_size(4 * Vec::width)));
  constexpr int per_lane = 4 / sizeof(T);
  const Parts parts = (Parts)x.raw;
  return shuffle<static_cast<int>(i % Vec::width * per_lane)...>(parts, parts);
}
/// The lower bits of each lane.
template <class T>
ONNXC_INLINE Packed<T> narrow_packed(IntVec x) {
#if defined(__AVX512F__) && !defined(ONNXC_NO_INTRINSICS)
  if constexpr (sizeof(T) == 1) return (Packed<T>)x86::narrow_to_bytes(x.raw);
  else return (Packed<T>)x86::narrow_to_halves(x.raw);
#else
  return take_low<T>(x, std::make_index_sequence<sizeof(Packed<T>) / sizeof(T)>{});
#endif
}

}  // namespace detail

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

template <lane_integer T>
ONNXC_INLINE Whole<T> saturate(Unsaturated<T> x) {
  using Limits = std::numeric_limits<T>;
  return {min(max(x.lanes, IntVec::all(Limits::min())), IntVec::all(Limits::max()))};
}
template <lane_integer T, class... N>
ONNXC_INLINE void store(Unsaturated<T> x, T* p, N... n) {
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
    return {{__builtin_convertvector(onnxc::min(above, Vec::all(static_cast<float>(Limits::max()))).raw(), IntVec::Raw)}};
  } else {
    constexpr float end = 0x1p31f;
    const Vec inside = onnxc::min(above, Vec::all(2147483520.0f));  // the float before
    const IntVec whole{__builtin_convertvector(inside.raw(), IntVec::Raw)};
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
