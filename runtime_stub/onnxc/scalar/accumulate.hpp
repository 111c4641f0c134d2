// The type in which sums of T are formed: small floats in float, floats in themselves, integers in an unsigned type that wraps.
#pragma once
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

}  // namespace onnxc::scalar
