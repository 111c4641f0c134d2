// Vectors of integers for expressions that convert between them and floats: 8, 16 or 32 bits in memory, 32 in a lane.
//
//   Whole<T>                       Vec::width values of T
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
    return (Packed<T>)typename Of::Words{word};
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
  return {x86::widen(x)};
}
#else
/// Each value goes to the upper end of its lane, and from there to the lower.
template <class T, std::size_t... i>
ONNXC_INLINE IntVec::Raw raise(Packed<T> x, std::index_sequence<i...>) {
  constexpr int per_lane = 4 / sizeof(T), zero = sizeof(Packed<T>) / sizeof(T);
  return (IntVec::Raw)__builtin_shufflevector(x, Packed<T>{}, (i % per_lane == per_lane - 1 ? static_cast<int>(i / per_lane) : zero)...);
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
  return __builtin_shufflevector(parts, parts, static_cast<int>(i % Vec::width * per_lane)...);
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

/// x / scale, rounded half to even, plus zero, saturated; 0 of NaN. zero: a whole number in the range of T, of at most 16 bits. scale: 1, or within
/// [2^-60, 2^60], and no fraction of all ones.
///
/// Numbers are brought into the range before they are converted. A quotient is a product with the reciprocal, whose error a fused multiply-add finds exactly
/// (Markstein's method): corrected twice it is the nearest float, as division gives it.
template <lane_integer T>
  requires(sizeof(T) < 4)
ONNXC_INLINE Whole<T> quantize(Vec x, Constant scale, Constant zero) {
  using Limits = std::numeric_limits<T>;
  const float low = static_cast<float>(Limits::min()) - zero.value, high = static_cast<float>(Limits::max()) - zero.value;
  // max and min give their second operand where the first is NaN.
  const Vec number = std::is_unsigned_v<T> ? x : select(x == x, x, Vec::all(-zero.value * scale.value));
  Vec inside = onnxc::min(onnxc::max(number, Vec::all(low * scale.value)), Vec::all(high * scale.value));
  if (scale.value != 1.0f) {
    if constexpr (kHasFma) {
      const Vec s = scale, r = Vec::all(1.0f / scale.value), q = inside * r;
      const Vec near = onnxc::fma(onnxc::fnma(s, q, inside), r, q);
      inside = onnxc::fma(onnxc::fnma(s, near, inside), r, near);
    } else {
      inside = inside / scale;
    }
  }
  return {to_int(inside) + IntVec::all(static_cast<int32_t>(zero.value))};
}

template <lane_integer T, lane_integer X>
ONNXC_INLINE Whole<T> cast(Whole<X> x) {
  constexpr int shift = 32 - 8 * static_cast<int>(sizeof(T));
  if constexpr (std::is_unsigned_v<T>) return {x.lanes & IntVec::all(static_cast<int32_t>(std::numeric_limits<T>::max()))};
  else if constexpr (shift > 0) return {(x.lanes << shift) >> shift};
  else return {x.lanes};
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
