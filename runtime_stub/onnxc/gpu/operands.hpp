// A list of things of several types, that a kernel can have among its parameters: std::tuple cannot be copied by its bytes.
#pragma once
#include "device.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

template <class... Each>
struct Operands {
  /// visit(taken...), once for all.
  template <class Take, class Visit, class... Taken>
  ONNXC_DEVICE auto visit(Take, Visit visit, const Taken&... taken) const {
    return visit(taken...);
  }
};
/// Calls `visit` with what `take` makes of each, in their order.
template <class First, class... Rest>
struct Operands<First, Rest...> {
  First first;
  Operands<Rest...> rest;
  template <class Take, class Visit, class... Taken>
  ONNXC_DEVICE auto visit(Take take, Visit visit_all, const Taken&... taken) const {
    return rest.visit(take, visit_all, taken..., take(first));
  }
};

inline Operands<> operands() noexcept { return {}; }
template <class First, class... Rest>
Operands<First, Rest...> operands(const First& first, const Rest&... rest) noexcept {
  return {first, operands(rest...)};
}

}  // namespace onnxc::gpu
