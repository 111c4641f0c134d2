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

/// An extent, a pitch or a count of elements. On small cores, which compute with 32 bits, it is one of 32: no memory there has 2^31 elements.
#if ONNXC_MICRO
class Extent {
 public:
  constexpr Extent() = default;
  constexpr Extent(int64_t value) : value_(static_cast<int32_t>(value)) {}  // NOLINT: it stands for one
  constexpr operator int32_t() const { return value_; }                      // NOLINT

 private:
  int32_t value_ = 0;
};
#else
using Extent = int64_t;
#endif

}  // namespace onnxc::inline ONNXC_ISA
