// gemm for one row: y[n] = epilogue(bias + x[k] b[k, n]), with b packed as for gemm. Each weight is read once, and
// reading them is what bounds the kernel.
//
//   gemv<4>(share, x, w, y, {.m = 1, .n = 1000, .k = 512, .bias = w_bias}, Epilogue<Relu>{});
//
// A step takes kChains values of x into separate accumulators, so that there are at least 8 chains in flight where NV
// is 2 or more: one chain of multiply-adds would wait for its own latency. Where b is too large for a cache, lines 4
// KiB ahead are prefetched, past the end of a panel into the next one. Where b comes from L3, the hardware prefetcher
// alone is faster.
#pragma once
#include "gemm.hpp"
#include "passed.hpp"

namespace onnxc::inline ONNXC_ISA {

template <int NV, class T, class Epi = Epilogue<Keep>>
void gemv(Share share, const float* x, const T* b, float* y, Passed<GemmParams> p, Epi epi = {}) {
  constexpr int NR = NV * Vec::width, kChains = NV >= 8 || kReproducible ? 1 : NV >= 4 ? 2 : 4;
  constexpr int64_t kCached = 16 << 20;  // bytes that a cache may hold
  const bool streams = !ONNXC_MICRO && p.k * p.n * static_cast<int64_t>(sizeof(T)) > kCached;
  const auto [first, last] = share.slice((p.n + NR - 1) / NR);
  for (Index panel = first; panel < last; ++panel) {
    auto w = panel_of(b, p.scales, panel, p.k, NR);
    const Index col = panel * NR;
    Vec acc[kChains][NV];
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      acc[0][j] = p.bias != nullptr ? Vec::load(p.bias + col + j * Vec::width) : Vec::all(0.0f);
      ONNXC_UNROLL for (int u = 1; u < kChains; ++u) acc[u][j] = Vec::all(0.0f);
    }
    Index step = 0;
    if constexpr (detail::kFloatTiles && NV == 8 && std::is_same_v<T, float>) {
      if (p.k > 0) detail::multiply_1x8(reinterpret_cast<float(&)[8]>(acc), x, w, static_cast<int>(p.k));
      step = p.k;
    }
    for (; step + kChains <= p.k; step += kChains, w += kChains * NR) {
      if (streams) {
        const std::uintptr_t ahead =
            reinterpret_cast<std::uintptr_t>(address_of(w)) + 4096;  // as an integer: past the end there is no pointer to form
        ONNXC_UNROLL for (std::uintptr_t line = 0; line < kChains * NR * sizeof(T); line += 64)
            __builtin_prefetch(reinterpret_cast<const void*>(ahead + line), 0, 3);
      }
      ONNXC_UNROLL for (int u = 0; u < kChains; ++u) {
        const auto v = factor(x[step + u]);
        ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[u][j] = fma(v, load(w + u * NR, j * Vec::width), acc[u][j]);
      }
    }
    for (Index left = p.k % kChains; left > 0; --left, ++step, w += NR) {  // counted: GCC 12 warns of `step < p.k` when k is known
      const auto v = factor(x[step]);
      ONNXC_UNROLL for (int j = 0; j < NV; ++j) acc[0][j] = fma(v, load(w, j * Vec::width), acc[0][j]);
    }
    Tile<1, NV> tile;
    ONNXC_UNROLL for (int j = 0; j < NV; ++j) {
      ONNXC_UNROLL for (int u = 1; u < kChains; ++u) acc[0][j] = acc[0][j] + acc[u][j];
      tile.acc[0][j] = acc[0][j];
    }
    tile.finish(y, 0, col, 1, p.n - col, [](Index) ONNXC_SMALL_LAMBDA { return Index{0}; }, epi);
  }
}

/// gemm for a number of rows that is known only at run time: one row is a gemv, a few rows take a small tile.
template <int MR, int NV, class T, class Epi = Epilogue<Keep>>
void gemm_any(Share share, const float* a, const T* b, float* c, Passed<GemmParams> p, Epi epi = {}) {
  if (p.m == 1) return gemv<NV>(share, a, b, c, p, epi);
  if (p.m <= 4) return gemm<4, NV>(share, a, b, c, p, epi);
  gemm<MR, NV>(share, a, b, c, p, epi);
}

}  // namespace onnxc
