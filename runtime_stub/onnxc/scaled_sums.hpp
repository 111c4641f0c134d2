// How sums of products of bytes become bytes where floats are computed in software: what is printed as
//
//   quantize<uint8_t>(mul(cast<float>(sum), factor), 1, zero)
//
// takes a product of integers instead of three calls of the library, and gives the same bits. Types stand for what is not computed yet: a sum, the sum
// as a float, its product with a factor. All other functions see the float that they stand for.
#pragma once
#include "nearest_int.hpp"
#include "vec_integers.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {
[[gnu::noinline]] inline int32_t nearest_float_product(int32_t n, float factor) { return nearest_int(static_cast<float>(n) * factor); }
}  // namespace detail

/// The nearest integer to the float nearest to n * factor, half to even both times; where that is beyond 511 either way, some number beyond 511.
///
/// n has at most 24 bits, so that it is a float, and so has the fraction of the factor, f. The product n f is taken with 16 bits behind the point. A float
/// below 512 has at least 15 bits there, so rounding to it moves the product by 2^-16 at most: that decides nothing unless the product is about
/// halfway between two integers. There, and where numbers are larger or far from usual ones, floats decide.
inline int32_t nearest_product(int32_t n, float factor) {
  const auto bits = std::bit_cast<uint32_t>(factor);
  const auto magnitude = n < 0 ? 0u - static_cast<uint32_t>(n) : static_cast<uint32_t>(n);
  const uint32_t out = 134 - (bits >> 23 & 0xffu);  // the bits beyond those
  if (magnitude >> 24 != 0 || out > 47) return detail::nearest_float_product(n, factor);
  const uint64_t product = uint64_t{magnitude} * ((bits & 0x7fffffu) | 0x800000u);
  const uint64_t fixed = product >> out;
  const auto point = static_cast<uint32_t>(fixed), fraction = point & 0xffffu;
  if (fixed >> 32 != 0 || fraction - 0x7ffeu < 4) return detail::nearest_float_product(n, factor);
  const auto rounded = static_cast<int32_t>((point >> 16) + (fraction >> 15));
  return (n < 0) != (bits >> 31 != 0) ? -rounded : rounded;
}

/// Sums that an epilogue begins with.
struct ProductSums : Whole<int32_t> {};
/// cast<float>(sums)
struct FloatSums {
  IntVec sums;
  ONNXC_INLINE operator Vec() const { return to_float(sums); }
};
/// cast<float>(sums) * factor
struct ScaledSums {
  IntVec sums;
  Vec factor;
  ONNXC_INLINE operator Vec() const { return to_float(sums) * factor; }
};

#if ONNXC_VECTOR_FLOATS == 1
namespace fn {
template <class T>
  requires std::is_same_v<T, float>
ONNXC_INLINE FloatSums cast(ProductSums x) {
  return {x.lanes};
}
ONNXC_INLINE ScaledSums mul(FloatSums a, Vec b) { return {a.sums, b}; }
ONNXC_INLINE ScaledSums mul(FloatSums a, Constant b) { return {a.sums, b}; }

template <lane_integer T>
  requires(sizeof(T) == 1)
ONNXC_INLINE Unsaturated<T> quantize(ScaledSums x, Constant scale, Constant zero) {
  const bool finite = (bits(x.factor).raw >> 23 & 0xff) != 0xff;  // or the product may be no number
  if (scale.value != 1.0f || !finite) return quantize<T>(static_cast<Vec>(x), scale, zero);
  const IntVec steps{nearest_product(x.sums.raw, x.factor.lanes)};
  return {onnxc::min(onnxc::max(steps, IntVec::all(-0x20000)), IntVec::all(0x1ffff)) + IntVec::all(static_cast<int32_t>(zero.value))};
}
}  // namespace fn
#endif

}  // namespace onnxc::inline ONNXC_ISA
