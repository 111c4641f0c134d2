// The peak of this machine: f32 multiply-adds a second in the widest vectors that are compiled for, without touching
// memory.
#pragma once
#include <algorithm>
#include <chrono>

#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA::bench {

/// Independent multiply-adds in flight: a latency of 4 cycles on two ports needs 8, and 12 leave room for operands on
/// machines with 16 registers.
inline constexpr int kChains = 12;

/// Runs `rounds` rounds of kChains vectors. The result depends on all of them, so that none is optimised away.
inline float multiply_add(int64_t rounds) {
  const Vec a = Vec::all(0.999f), b = Vec::all(0.001f);
  Vec chains[kChains];
  ONNXC_UNROLL for (int c = 0; c < kChains; ++c) chains[c] = Vec::all(float(c));
  for (int64_t i = 0; i < rounds; ++i) {
    ONNXC_UNROLL for (int c = 0; c < kChains; ++c) chains[c] = fma(chains[c], a, b);
  }
  Vec total = chains[0];
  ONNXC_UNROLL for (int c = 1; c < kChains; ++c) total = total + chains[c];
  return sum(total);
}

/// Multiply-adds a second of the calling thread: the best of blocks of about a millisecond, over `seconds`.
inline double fma_peak(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kRounds = 400'000;
  constexpr double kMacs = double(kRounds) * kChains * Vec::width;
  double best = 0;
  volatile float sink = 0;
  for (const auto end = Clock::now() + std::chrono::duration<double>(seconds); Clock::now() < end;) {
    const auto begin = Clock::now();
    sink = sink + multiply_add(kRounds);
    best = std::max(best, kMacs / std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

}  // namespace onnxc::inline ONNXC_ISA::bench
