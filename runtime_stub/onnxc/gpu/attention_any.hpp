// Attention of as many queries as a run has: few by `attention_decode`, with blocks that share keys, else by `attention`.
//
// As these two; `parts` has contract::gpu::attention_parts(kFewRows, value_size, kMostSplits) floats, and tickets are kFewRows.
#pragma once
#include "attention.hpp"
#include "attention_decode.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

template <int kSize, int kParts, class Scores = Epilogue<Keep>>
static void attention_any(Queue& gpu, float* y, const float* q, const float* k, const float* v, const bool* cleared, float* parts,
                          AttentionParams p, const Scores& scores = {}) noexcept {
  namespace few = contract::gpu;
  if (p.queries > few::kFewQueries || p.batch * p.heads * p.queries > few::kFewRows)
    return attention<kSize, kParts>(gpu, y, q, k, v, cleared, p, scores);
  using Kernel = detail::AttentionDecode<(kSize > 64 ? 128 : kSize), Scores>;
  p.splits = max_of(1, min_of(few::kMostSplits, ceil_div(p.keys, Kernel::kGroups * Kernel::kUnderWay)));
  attention_decode<(kSize > 64 ? 128 : kSize)>(gpu, y, q, k, v, cleared, parts, p, scores);
}

}  // namespace onnxc::gpu
