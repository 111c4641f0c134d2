// The terms in which contracts between planners and kernels are written.
//
// A contract is what both must agree on: pitches, sizes of scratch memory, the order of packed weights. If they did
// not, emitted code would write beyond its memory. Each is stated once, for any number of lanes of a vector: kernels
// pass their own, the compiler the target's. So these headers know no instruction set and include nothing but each
// other. Sizes are in floats unless something else is said.
#pragma once
#include <cstdint>

#include "../isa.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

constexpr int64_t min(int64_t a, int64_t b) { return b < a ? b : a; }
constexpr int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }

/// The least multiple of `unit` that is not below n, n >= 0.
constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/// Inputs along a direction under `outputs` neighbouring outputs of a sliding window, from the first tap of the first
/// output to the last tap of the last.
constexpr int64_t inputs_under(int64_t outputs, int64_t stride, int64_t taps, int64_t dilation) {
  return (outputs - 1) * stride + (taps - 1) * dilation + 1;
}

}  // namespace onnxc::contract
