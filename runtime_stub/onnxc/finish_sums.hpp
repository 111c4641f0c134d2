// How products of bytes end: an epilogue sees sums of 32 bits as integers, and gives elements of the type of the result.
#pragma once
#include "expr.hpp"
#include "scaled_sums.hpp"
#include "vec_halves.hpp"
#include "vec_integers.hpp"
#include "vfn.hpp"

namespace onnxc::inline ONNXC_ISA::detail {

template <class... N>
ONNXC_INLINE Vec load_operand(const float* p, N... n) {
  return Vec::load(p, n...);
}
template <lane_integer T, class... N>
ONNXC_INLINE Whole<T> load_operand(const T* p, N... n) {
  return load_whole(p, n...);
}
template <lane_half T, class... N>
ONNXC_INLINE Halves<T> load_operand(const T* p, N... n) {
  return load_halves(p, n...);
}
template <lane_half T>
ONNXC_INLINE Halves<T> repeat_operand(T value) {
  return fn::cast<T>(Vec::all(static_cast<float>(value)));
}
ONNXC_INLINE Vec repeat_operand(float value) { return Vec::all(value); }
template <lane_integer T>
ONNXC_INLINE Whole<T> repeat_operand(T value) {
  return {IntVec::all(static_cast<int32_t>(value))};
}

/// What an epilogue makes of sums at (row, col), or of their first n lanes.
template <class Epi, class... N>
ONNXC_INLINE auto finished(const Epi& epi, IntVec sums, Index row, Index col, N... n) {
#if defined(ONNXC_SOFT_FLOATS)
  const ProductSums first{{sums}};
#else
  const Whole<int32_t> first{sums};
#endif
  return epi(Lanes{}, first, [&](const auto& operand) {
    if constexpr (std::remove_cvref_t<decltype(operand)>::varies_by_col) return load_operand(operand.at(row, col), n...);
    else return repeat_operand(*operand.at(row, col));
  });
}
/// The same, stored in the type that it has.
template <class Epi, class Y, class... N>
ONNXC_INLINE void finish_sums(const Epi& epi, IntVec sums, Index row, Index col, Y* c, N... n) {
  const auto result = finished(epi, sums, row, col, n...);
  if constexpr (std::is_same_v<Y, float>) static_cast<Vec>(result).store(c, n...);
  else store(result, c, n...);
}

/// The same of n sums in memory, those of neighbours in a row.
template <class Epi, class Y>
ONNXC_INLINE void finish_row(const Epi& epi, const int32_t* sums, int32_t n, Index row, Index col, Y* c) {
  int32_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) finish_sums(epi, load_whole(sums + i).lanes, row, col + i, c + i);
  if (Vec::width > 1 && i < n) finish_sums(epi, load_whole(sums + i, Index{n - i}).lanes, row, col + i, c + i, Index{n - i});
}

}  // namespace onnxc::inline ONNXC_ISA::detail
