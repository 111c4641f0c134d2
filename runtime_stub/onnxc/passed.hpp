// How kernels take structs of parameters.
#pragma once
#include <type_traits>

#include "isa.hpp"

namespace onnxc::inline ONNXC_ISA {

/// By value, so that a compiler knows that nothing else changes them; by reference on small cores, since g++ gives each argument of
/// this kind a place of its own on the stack of the caller, who calls many kernels.
template <class P>
using Passed = std::conditional_t<ONNXC_MICRO, const P&, P>;

}  // namespace onnxc::inline ONNXC_ISA
