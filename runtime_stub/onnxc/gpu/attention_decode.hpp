// Attention of few queries, in f32: keys and values are read once by each query, and blocks share them.
//
// As `attention` (attention.hpp), for kSize 32, 64 or 128. `parts` has contract::gpu::attention_parts(batch * heads * queries,
// value_size, splits) floats where p.splits > 1, and tickets are as many as queries of all heads then.
//
// kSize / 4 lanes have a key, of which each reads 16 bytes, and four keys are under way in each of such groups. A group keeps
// its largest score, the sum of exponentials and of values. Groups, warps and blocks are joined in an order that does not
// depend on time.
#pragma once
#include "../contract/gpu.hpp"
#include "attention_params.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// What some keys make of a query: exponentials are relative to `top`.
struct Joined {
  float top = -INFINITY, total = 0, sums[4] = {};

  static ONNXC_DEVICE float scale(float from, float to) { return to == -INFINITY ? 1.0f : expf(from - to); }
  ONNXC_DEVICE void join(const Joined& other) {
    const float highest = Largest{}(top, other.top), a = scale(top, highest), b = scale(other.top, highest);
    total = total * a + other.total * b;
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < 4; ++i) sums[i] = sums[i] * a + other.sums[i] * b;
    top = highest;
  }
};

template <int kSize, class Scores>
struct AttentionDecode {
  static constexpr int kThreads = 128, kWarps = kThreads / 32, kLanes = kSize / 4, kGroups = kThreads / kLanes, kUnderWay = 4;
  static_assert(kLanes <= 32 && 32 % kLanes == 0);
  struct Shared {
    Joined warps[kWarps][kLanes];
    unsigned ticket;
  };
  using Head = detail::Head<Scores>;
  float* y;
  const float *q, *k, *v;
  const bool* cleared;
  float* parts;
  unsigned* tickets;
  AttentionParams p;
  Scores scores;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int64_t row = block().x, number = row / p.queries, query = row - number * p.queries;
    const Head head(y, q, k, v, cleared, p, number);
    const int64_t seen = keys_seen(p, query);
    const int at = thread() % kLanes * 4;
    Joined own = attend(head, query, seen * block().y / p.splits, seen * (block().y + 1) / p.splits, at);
    // Every lane takes part in a shuffle, and the same sums come to both sides.
    ONNXC_UNROLL_DEVICE
    for (int step = kLanes; step < 32; step *= 2) {
      Joined other;
      other.top = shuffle_xor(own.top, step);
      other.total = shuffle_xor(own.total, step);
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < 4; ++i) other.sums[i] = shuffle_xor(own.sums[i], step);
      own.join(other);
    }
    if (lane() < kLanes) shared.warps[warp()][lane()] = own;
    sync_block();
    const bool mine = thread() < kLanes && at < p.value_size;
    if (mine) {
      for (int w = 1; w < kWarps; ++w) own.join(shared.warps[w][thread()]);
    }
    if (p.splits > 1 && !join_blocks(own, shared, row, at, mine)) return;
    if (!mine) return;
    const bool nothing = p.keys == 0 || head.is_cleared(p, query) || (p.nan_is_zero && !(own.total > 0));
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < 4; ++i) {
      if (at + i < p.value_size) head.y[query * p.y.row + at + i] = nothing ? head.times_zero(p, query, at + i) : own.sums[i] / own.total;
    }
  }

 private:
  /// Keys [first, last) of a thread's group, and the values at `at`.
  ONNXC_DEVICE Joined attend(const Head& head, int64_t query, int64_t first, int64_t last, int at) const {
    const bool of_k = at < p.size, of_v = at < p.value_size;
    Pack<float> own{};
    if (of_k) own = load(head.q + query * p.q.row + at);
    Joined joined;
    for (int64_t base = first; base < last; base += kGroups * kUnderWay) {
      Pack<float> keys[kUnderWay] = {}, values[kUnderWay] = {};
      float own_scores[kUnderWay], highest = joined.top;
      ONNXC_UNROLL_DEVICE
      for (int u = 0; u < kUnderWay; ++u) {
        const int64_t key = base + u * kGroups + thread() / kLanes;
        if (key < last && of_k) keys[u] = load(head.k + key * p.k.row + at);
        if (key < last && of_v) values[u] = load(head.v + key * p.v.row + at);
      }
      ONNXC_UNROLL_DEVICE
      for (int u = 0; u < kUnderWay; ++u) {
        const int64_t key = base + u * kGroups + thread() / kLanes;
        float dot = 0;
        ONNXC_UNROLL_DEVICE
        for (int i = 0; i < 4; ++i) dot = fmaf(own.at[i], keys[u].at[i], dot);
        ONNXC_UNROLL_DEVICE
        for (int step = kLanes / 2; step > 0; step /= 2) dot += shuffle_xor(dot, step);
        own_scores[u] = key < last ? head.score(scores, dot * p.scale, query, key) : -INFINITY;
        highest = Largest{}(highest, own_scores[u]);
      }
      const float shrink = Joined::scale(joined.top, highest);
      joined.top = highest;
      joined.total *= shrink;
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < 4; ++i) joined.sums[i] *= shrink;
      ONNXC_UNROLL_DEVICE
      for (int u = 0; u < kUnderWay; ++u) {
        const float e = highest == -INFINITY ? 0.0f : expf(own_scores[u] - highest);
        joined.total += e;
        ONNXC_UNROLL_DEVICE
        for (int i = 0; i < 4; ++i) joined.sums[i] = fmaf(e, values[u].at[i], joined.sums[i]);
      }
    }
    return joined;
  }

  /// False in all blocks of a query but the last to come, which then has what all have.
  ONNXC_DEVICE bool join_blocks(Joined& own, Shared& shared, int64_t row, int at, bool mine) const {
    const int64_t width = (p.value_size + 3) / 4 * 4 + 2;
    float* const all = parts + row * p.splits * width;
    if (mine) {
      float* const part = all + block().y * width;
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < 4; ++i) part[2 + at + i] = own.sums[i];
      if (at == 0) {
        part[0] = own.top;
        part[1] = own.total;
      }
    }
    fence();
    sync_block();
    if (thread() == 0) shared.ticket = fetch_add(tickets + row, 1);
    sync_block();
    if (shared.ticket != static_cast<unsigned>(p.splits - 1)) return false;
    fence();
    if (thread() == 0) tickets[row] = 0;
    if (!mine) return true;
    own = Joined{};
    ONNXC_KEEP_LOOP
    for (int64_t s = 0; s < p.splits; ++s) {
      const float* const part = all + s * width;
      Joined other;
      other.top = part[0];
      other.total = part[1];
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < 4; ++i) other.sums[i] = part[2 + at + i];
      own.join(other);
    }
    return true;
  }
};

}  // namespace detail

template <int kSize, class Scores = Epilogue<Keep>>
static void attention_decode(Queue& gpu, float* y, const float* q, const float* k, const float* v, const bool* cleared, float* parts,
                             const AttentionParams& p, const Scores& scores = {}) noexcept {
  const int64_t rows = p.batch * p.heads * p.queries;
  if (rows <= 0) return;
  if (rows >= int64_t{1} << 31) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "attention of too many queries"}; });
  launch(gpu, detail::AttentionDecode<kSize, Scores>{y, q, k, v, cleared, parts, gpu.tickets(), p, scores},
         {static_cast<int>(rows), static_cast<int>(p.splits), 1});
}

}  // namespace onnxc::gpu
