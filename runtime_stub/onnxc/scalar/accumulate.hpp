// The type in which sums of T are formed: small floats in float, floats in themselves, integers in an unsigned type that wraps.
#pragma once
#include <cstdint>
#include <type_traits>

#include "../types.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

template <class T>
struct Accumulator {
  using Type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <>
struct Accumulator<float> {
  using Type = float;
};
template <>
struct Accumulator<double> {
  using Type = double;
};
template <small_float T>
struct Accumulator<T> {
  using Type = float;
};
template <class T>
using accumulator = typename Accumulator<std::remove_const_t<T>>::Type;
/// The same for products of X that give Y: of bytes that give wider types, in integers of 64 bits.
template <class Y, class X>
using product_accumulator = std::conditional_t<(sizeof(X) == 1 && sizeof(Y) > 1), int64_t, accumulator<Y>>;

}  // namespace onnxc::scalar
