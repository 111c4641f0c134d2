// Attention without the matrix of scores, in f32 on tensor cores: keys come in stages, and a row keeps its largest score and
// its sum, by which what it has is scaled down when a larger score comes.
//
//   attention<64>(gpu, y, q, k, v, nullptr, {.batch = 1, .heads = 12, .queries = 128, .keys = 128, .size = 64, .value_size = 64,
//                                            .scale = 0.125f, .q = {0, 64, 768}, .k = ..., .v = ..., .y = ...},
//                 Epilogue<Add, OfScores<float>>{{mask, 0, 0, 128}});
//
//   y[i] = sum over j of exp(s[i][j] - max s[i]) v[j] / sum over j of exp(s[i][j] - max s[i]),
//   s[i][j] = scores(scale * (q[i] . k[j]), mask[i][j], ...)
//
// kSize is 32, 64, 96 or 128, and not below `size` and `value_size`, of which `size` is a multiple of 4. Rows of q, k and v begin at
// multiples of 16 bytes, of which all can be read. `cleared` is null or [.., queries]. y overlaps none of them. Rows of which all scores are
// -infinity are NaN, as is what has NaN anywhere; without keys y is 0. Products are three of tf32 (product_kind.hpp); what
// is not finite is computed anew by multiply-adds.
//
// A block does 64 / kParts queries of a head, a warp 16 of them. kParts is 1, 2 or 4: so many warps share the keys of the same queries, where there
// are few blocks. Each has its part of a stage, and what they found is joined in the end.
//
// Scores are a product whose right side is k as it lies. They lie in
// accumulators as the left side of the next product wants its words, if the order of keys is chosen so: lane t has keys 2t and
// 2t + 1 of 8, and takes them for words t and t + 4. v is read by words in that order, from rows that are 4 words apart in banks.
#pragma once
#include "attention_params.hpp"
#include "product_kind.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

template <int kSize, int kParts, class Scores>
struct Attention {
  static constexpr int kThreads = 128, kRowWarps = kThreads / 32 / kParts, kQueries = 16 * kRowWarps;
  /// Keys of a stage, and those that are a warp's. Two stages have to fit into a multiprocessor's memory.
  static constexpr int kStage = kSize <= 64 && kParts > 1 ? 64 : 32, kKeys = kStage / kParts, kScores = kKeys / 8;
  static constexpr int kColumns = kSize / 8, kAtOnce = 4;  // of y, in eights; as many sums of a stage are held at once
  static_assert(kSize % 32 == 0 && (kParts == 1 || kParts == 2 || kParts == 4));
  struct Shared {
    alignas(16) uint32_t q[kQueries][kSize], k[2][kStage][kSize], v[2][kStage][kSize + 4];
  };
  using Sums = float[kColumns / kAtOnce][1][kAtOnce][4];
  using Products = float[1][kScores][4];
  using Head = detail::Head<Scores>;
  float* y;
  const float *q, *k, *v;
  const bool* cleared;
  AttentionParams p;
  Scores scores;
  int tiles;  // of queries

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int number = block().x / tiles, first = (block().x - number * tiles) * kQueries;
    const Head head(y, q, k, v, cleared, p, number);
    const int queries = static_cast<int>(min_of(p.queries - first, kQueries));
    const int64_t seen = keys_seen(p, first + queries - 1);
    const int stages = static_cast<int>((seen + kStage - 1) / kStage);
    fetch_queries(shared, head, first, queries);
    if (stages > 0) fetch(shared, head, 0);
    commit();

    const int row = row_warp() * 16 + lane() / 4;  // and row + 8
    Sums sums = {};
    float top[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for (int stage = 0; stage < stages; ++stage) {
      wait<0>();
      sync_block();
      if (stage + 1 < stages) fetch(shared, head, stage + 1);
      commit();
      Products products = {};
      multiply(products, shared.q, shared.k[stage % 2] + part() * kKeys);
      float shrink[2];
      softmax(products, shrink, top, total, head, first + row, stage * kStage + part() * kKeys, first + queries);
      add(sums, products, shrink, shared.v[stage % 2] + part() * kKeys);
    }
    wait<0>();
    if (kParts > 1 && !join(shared, sums, top, total)) return;
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < 2; ++r) {
      total[r] += shuffle_xor(total[r], 1);
      total[r] += shuffle_xor(total[r], 2);
      if (row + r * 8 >= queries) continue;
      const int64_t query = first + row + r * 8;
      const bool nothing = head.is_cleared(p, query);
      ONNXC_UNROLL_DEVICE
      for (int n = 0; n < kColumns; ++n) {
        ONNXC_UNROLL_DEVICE
        for (int c = 0; c < 2; ++c) {
          const int col = n * 8 + lane() % 4 * 2 + c;
          if (col >= p.value_size) continue;
          float result = p.keys > 0 ? sums[n / kAtOnce][0][n % kAtOnce][2 * r + c] / total[r] : 0.0f;
          if (nothing) {
            result = head.times_zero(p, query, col);
          } else if (!(result - result == 0)) {
            if (top[r] != -INFINITY) result = anew(head, query, col);
            else if (p.nan_is_zero) result = head.times_zero(p, query, col);
          }
          head.y[query * p.y.row + col] = result;
        }
      }
    }
  }

 private:
  static ONNXC_DEVICE int row_warp() { return warp() % kRowWarps; }
  static ONNXC_DEVICE int part() { return warp() / kRowWarps; }
  /// Chunks of odd rows have their halves swapped, as in products.
  static ONNXC_DEVICE int place_of(int row, int chunk) { return (chunk ^ (row & 1) * 4) * 4; }

  ONNXC_DEVICE void fetch_queries(Shared& shared, const Head& head, int first, int queries) const {
    constexpr int kChunks = kSize / 4;
    for (int i = thread(); i < kQueries * kChunks; i += kThreads) {
      const int row = i / kChunks, chunk = i % kChunks;
      const bool valid = row < queries && chunk * 4 < p.size;
      copy_async(&shared.q[row][place_of(row, chunk)], head.q + (valid ? (first + row) * p.q.row + chunk * 4 : 0), valid);
    }
  }
  ONNXC_DEVICE void fetch(Shared& shared, const Head& head, int stage) const {
    constexpr int kChunks = kSize / 4;
    for (int i = thread(); i < kStage * kChunks; i += kThreads) {
      const int row = i / kChunks, chunk = i % kChunks;
      const int64_t key = static_cast<int64_t>(stage) * kStage + row;
      const bool of_k = key < p.keys && chunk * 4 < p.size, of_v = key < p.keys && chunk * 4 < p.value_size;
      copy_async(&shared.k[stage % 2][row][place_of(row, chunk)], head.k + (of_k ? key * p.k.row + chunk * 4 : 0), of_k);
      copy_async(&shared.v[stage % 2][row][chunk * 4], head.v + (of_v ? key * p.v.row + chunk * 4 : 0), of_v);
    }
  }

  /// q k^T of the warp's rows; sums of 32 words are rounded into those before.
  static ONNXC_DEVICE void multiply(Products& products, const uint32_t (*q)[kSize], const uint32_t (*k)[kSize]) {
    const int g = lane() / 4, t = lane() % 4, row = row_warp() * 16 + g;
    ONNXC_KEEP_LOOP
    for (int stage = 0; stage < kSize / 32; ++stage) {
      Products part = {};
      ONNXC_UNROLL_DEVICE
      for (int half = 0; half < 2; ++half) {
        const int at = place_of(g, stage * 8 + half * 4 + t);  // rows of the warp's queries and of keys are odd where g is
        const Pack<uint32_t> upper = load(q[row] + at), lower = load(q[row + 8] + at);
        uint32_t right[2][kScores][2];
        ONNXC_UNROLL_DEVICE
        for (int j = 0; j < kScores; ++j) {
          const Pack<uint32_t> words = load(k[j * 8 + g] + at);
          ONNXC_UNROLL_DEVICE
          for (int s = 0; s < 2; ++s) {
            right[s][j][0] = words.at[2 * s];
            right[s][j][1] = words.at[2 * s + 1];
          }
        }
        ONNXC_UNROLL_DEVICE
        for (int s = 0; s < 2; ++s) {
          uint32_t left[1][4] = {{upper.at[2 * s], lower.at[2 * s], upper.at[2 * s + 1], lower.at[2 * s + 1]}};
          multiply_three(part, left, right[s]);
        }
      }
      add_to(products, part);
    }
  }

  /// Makes exp(s - top) of products; `shrink` is what former sums of the two rows are multiplied by.
  ONNXC_DEVICE void softmax(Products& products, float (&shrink)[2], float (&top)[2], float (&total)[2], const Head& head, int64_t query,
                            int64_t key, int64_t end) const {
    float highest[2] = {top[0], top[1]};
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < 4; ++r) {
      const int64_t i = query + r / 2 * 8, seen = i < end ? keys_seen(p, i) : 0;
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kScores; ++j) {
        const int64_t at = key + j * 8 + lane() % 4 * 2 + r % 2;
        float& s = products[0][j][r];
        s = at < seen ? head.score(scores, s * p.scale, i, at) : -INFINITY;
        highest[r / 2] = Largest{}(highest[r / 2], s);
      }
    }
    ONNXC_UNROLL_DEVICE
    for (int r = 0; r < 2; ++r) {
      highest[r] = Largest{}(highest[r], shuffle_xor(highest[r], 1));
      highest[r] = Largest{}(highest[r], shuffle_xor(highest[r], 2));
      shrink[r] = highest[r] == -INFINITY ? 1.0f : expf(top[r] - highest[r]);
      top[r] = highest[r];
      total[r] *= shrink[r];
    }
    ONNXC_UNROLL_DEVICE
    for (int j = 0; j < kScores; ++j) {
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 4; ++r) {
        float& s = products[0][j][r];
        s = top[r / 2] == -INFINITY ? 0.0f : expf(s - top[r / 2]);
        total[r / 2] += s;
      }
    }
  }

  /// sums = shrink * sums + probabilities v. Of a stage, what products add up is cut, what is added to the sums is rounded.
  static ONNXC_DEVICE void add(Sums& sums, const Products& probabilities, const float (&shrink)[2], const uint32_t (*v)[kSize + 4]) {
    const int g = lane() / 4, t = lane() % 4;
    uint32_t left[kScores][1][4], low[kScores][1][4];
    ONNXC_UNROLL_DEVICE
    for (int j = 0; j < kScores; ++j) {
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 4; ++r) left[j][0][r] = as_word(probabilities[0][j][r % 2 * 2 + r / 2]);
      split_words(left[j], low[j]);
    }
    ONNXC_UNROLL_DEVICE
    for (int block = 0; block < kColumns / kAtOnce; ++block) {
      float part[1][kAtOnce][4] = {};
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kScores; ++j) {
        uint32_t right[kAtOnce][2], right_low[kAtOnce][2];
        ONNXC_UNROLL_DEVICE
        for (int n = 0; n < kAtOnce; ++n) {
          ONNXC_UNROLL_DEVICE
          for (int r = 0; r < 2; ++r) right[n][r] = v[j * 8 + t * 2 + r][(block * kAtOnce + n) * 8 + g];
        }
        split_words(right, right_low);
        mma<Tf32>(part, low[j], right);
        mma<Tf32>(part, left[j], right_low);
        mma<Tf32>(part, left[j], right);
      }
      ONNXC_UNROLL_DEVICE
      for (int n = 0; n < kAtOnce; ++n) {
        ONNXC_UNROLL_DEVICE
        for (int r = 0; r < 4; ++r) sums[block][0][n][r] = fmaf(sums[block][0][n][r], shrink[r / 2], part[0][n][r]);
      }
    }
  }

  /// Gives the first part what all have, in order; false in the others. A lane has the same rows and columns in each.
  static ONNXC_DEVICE bool join(Shared& shared, Sums& sums, float (&top)[2], float (&total)[2]) {
    constexpr int kWords = kSize / 2 + 4;
    static_assert(sizeof(shared.k) >= sizeof(uint32_t) * (kParts - 1) * kRowWarps * 32 * kWords);
    uint32_t* const words = &shared.k[0][0][0];
    const auto place = [&](int of, int word) { return words + (((of - 1) * kRowWarps + row_warp()) * kWords + word) * 32 + lane(); };
    sync_block();  // the last keys were read
    if (part() > 0) {
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kSize / 2; ++i) *place(part(), i) = as_word(sums[i / (4 * kAtOnce)][0][i / 4 % kAtOnce][i % 4]);
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 2; ++r) {
        *place(part(), kSize / 2 + r) = as_word(top[r]);
        *place(part(), kSize / 2 + 2 + r) = as_word(total[r]);
      }
    }
    sync_block();
    if (part() > 0) return false;
    ONNXC_KEEP_LOOP
    for (int of = 1; of < kParts; ++of) {
      float own[2], other[2];
      ONNXC_UNROLL_DEVICE
      for (int r = 0; r < 2; ++r) {
        const float theirs = as_float(*place(of, kSize / 2 + r)), highest = Largest{}(top[r], theirs);
        own[r] = highest == -INFINITY ? 1.0f : expf(top[r] - highest);
        other[r] = highest == -INFINITY ? 1.0f : expf(theirs - highest);
        top[r] = highest;
        total[r] = total[r] * own[r] + as_float(*place(of, kSize / 2 + 2 + r)) * other[r];
      }
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kSize / 2; ++i) {
        float& sum = sums[i / (4 * kAtOnce)][0][i / 4 % kAtOnce][i % 4];
        sum = sum * own[i % 4 / 2] + as_float(*place(of, i)) * other[i % 4 / 2];
      }
    }
    return true;
  }

  ONNXC_DEVICE float score_anew(const Head& head, int64_t query, int64_t key) const {
    const float *const a = head.q + query * p.q.row, *const b = head.k + key * p.k.row;
    float sum = 0;
    ONNXC_KEEP_LOOP
    for (int i = 0; i < p.size; ++i) sum = fmaf(a[i], b[i], sum);
    return head.score(scores, sum * p.scale, query, key);
  }
  ONNXC_DEVICE float anew(const Head& head, int64_t query, int col) const {
    const int64_t seen = keys_seen(p, query);
    float top = -INFINITY, total = 0, sum = 0;
    ONNXC_KEEP_LOOP
    for (int64_t key = 0; key < seen; ++key) top = Largest{}(top, score_anew(head, query, key));
    ONNXC_KEEP_LOOP
    for (int64_t key = 0; key < seen; ++key) {
      const float e = expf(score_anew(head, query, key) - top);
      total += e;
      sum = fmaf(e, head.v[key * p.v.row + col], sum);
    }
    return p.nan_is_zero && total != total ? head.times_zero(p, query, col) : sum / total;
  }
};

}  // namespace detail

template <int kSize, int kParts = 1, class Scores = Epilogue<Keep>>
static void attention(Queue& gpu, float* y, const float* q, const float* k, const float* v, const bool* cleared, const AttentionParams& p,
                      const Scores& scores = {}) noexcept {
  using Kernel = detail::Attention<kSize, kParts, Scores>;
  const int64_t tiles = ceil_div(p.queries, Kernel::kQueries), blocks = tiles * p.heads * p.batch;
  if (blocks <= 0) return;
  if (blocks >= int64_t{1} << 31) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "attention of too many queries"}; });
  launch(gpu, Kernel{y, q, k, v, cleared, p, scores, static_cast<int>(tiles)}, {static_cast<int>(blocks), 1, 1});
}

}  // namespace onnxc::gpu
