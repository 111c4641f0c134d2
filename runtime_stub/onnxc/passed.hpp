// How kernels take structs of parameters.
#pragma once
#include <cstdint>
#include <type_traits>

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

/// By value, so that a compiler knows that nothing else changes them; by reference on small cores, since g++ gives each argument of
/// this kind a place of its own on the stack of the caller, who calls many kernels.
template <class P>
using Passed = std::conditional_t<ONNXC_MICRO, const P&, P>;

/// An argument that is the constant Of::value of the type that the kernel takes. Units for small cores pass parameters so: as constants they
/// take neither code nor stack.
template <class Of>
struct ConstantOf {
  template <class T>
  constexpr operator const T&() const noexcept {  // NOLINT: it stands for one
    return Of::template value<T>;
  }
  template <class T>
  constexpr operator T() && noexcept {  // NOLINT: where the kernel has a copy of its own
    return Of::template value<T>;
  }
};

/// An extent, a pitch or a count of elements. On small cores, which compute with 32 bits, it is one of 32: no memory there has 2^31 elements.
#if ONNXC_MICRO
class Extent {
 public:
  constexpr Extent() = default;
  constexpr Extent(int64_t value) : value_(static_cast<int32_t>(value)) {}  // NOLINT: it stands for one
  constexpr operator int32_t() const { return value_; }                     // NOLINT

 private:
  int32_t value_ = 0;
};
#else
using Extent = int64_t;
#endif

}  // namespace onnxc::inline ONNXC_ISA
