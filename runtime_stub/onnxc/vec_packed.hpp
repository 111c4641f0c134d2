// Vec::width elements of 8, 16 or 32 bits as they lie in memory, and the lanes of 32 bits that they are widened to.
//
//   Packed<T>                              Vec::width elements of T, at the beginning of a register of at least 16 bytes; a T where Vec has one lane
//   load_packed(p), store_packed(x, p)     any alignment; with n: the first n elements alone, and zeros
//   widen_packed<T>(x), narrow_packed<T>(x)   from and to IntVec, of which it takes the lower bits
#pragma once
#include <bit>
#include <type_traits>
#include <utility>

#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

#if ONNXC_VECTOR_FLOATS == 1

template <class T>
using Packed = T;

template <class T>
ONNXC_INLINE T load_packed(const T* p) {
  return *p;
}
template <class T>
ONNXC_INLINE void store_packed(Packed<T> x, T* p) {
  *p = x;
}
template <class T>
ONNXC_INLINE T load_packed(const T* p, int64_t n) {
  return n > 0 ? *p : T{0};
}
template <class T>
ONNXC_INLINE void store_packed(Packed<T> x, T* p, int64_t n) {
  if (n > 0) *p = x;
}
template <class T>
ONNXC_INLINE IntVec widen_packed(Packed<T> x) {
  return {x};
}
template <class T>
ONNXC_INLINE Packed<T> narrow_packed(IntVec x) {
  return static_cast<T>(x.raw);
}

#else

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

/// Which of the elements of T that take the place of a lane of 32 bits has its lower bits, and which its upper.
template <class T>
constexpr int kLowest = std::endian::native == std::endian::little ? 0 : 4 / static_cast<int>(sizeof(T)) - 1;
template <class T>
constexpr int kUppermost = 4 / static_cast<int>(sizeof(T)) - 1 - kLowest<T>;

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
  return (IntVec::Raw)shuffle<(i % per_lane == kUppermost<T> ? static_cast<int>(i / per_lane) : zero)...>(x, Packed<T>{});
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
  return shuffle<static_cast<int>(i % Vec::width * per_lane + kLowest<T>)...>(parts, parts);
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

#endif

}  // namespace onnxc::inline ONNXC_ISA::detail
