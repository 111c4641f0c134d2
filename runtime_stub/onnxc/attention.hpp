// y = softmax(scores(scale q k^T)) v for a stack of heads, without the matrix of scores.
//
//   attention<8, 2>(share, y, q, k, v, nullptr, scratch, {.batch = 1, .heads = 12, .queries = 128, .keys = 128, .size = 32, .value_size = 32,
//                   .scale = 0.177f, .q = {0, 32, 384}, .k = {0, 32, 384}, .v = {0, 32, 384}, .y = {0, 32, 384}},
//                   Epilogue<Add, OfScores<float>>{{mask, 16384, 0, 0}});
//
// Heads are split and merged by steps alone, and heads of q may share one of k and v (grouped queries). Keys of a head are packed into panels as a
// product wants them, and values, too. A tile of MR queries then has its scores in L1: they are a product, the expression and the powers
// of a softmax follow row by row, the second product reads them, and its result is divided by their sum.
//
// - Values behind the last key whose probability is not 0 in any row of a tile are left out, if all values of the head are finite: masked keys.
// - At most kFewAttentionRows rows that share a head, as in a step of a language model, read k and v where they lie, once for all of them.
//   Rows are the queries of a head, or the heads that share one if each has one query.
//
// transposed: k is [keys, size], else [size, keys]; rows of either are contiguous. scratch: contract::attention_scratch floats of this share, 64-byte
// aligned. Work is shared by heads and tiles of queries. `cleared`, which may be null, tells queries whose probabilities count as 0.
#pragma once
#include "attention_forms.hpp"
#include "contract/attention.hpp"
#include "map.hpp"
#include "matmul.hpp"
#include "softmax.hpp"

namespace onnxc::inline ONNXC_ISA {

struct AttentionParams {
  int64_t batch, heads, queries, keys;
  int64_t size, value_size;  // elements of a row of q and k, and of v and y
  float scale = 1;
  HeadSteps q, k, v, y;           // a row of k is a key, or, where k is not transposed, an element of all keys
  int64_t shared_heads = 1;       // as many heads of q, one after the other, have the same head of k and v
  HeadSteps cleared = {0, 0, 0};  // from query to query
  bool nan_is_zero = false;       // probabilities of a query that are NaN, as those of one that sees no key, count as 0
};

namespace detail {

/// An operand of the scores at `key` and its neighbours; `at`: where the row of the query begins.
template <class T, class... N>
ONNXC_INLINE auto load_score(const OfScores<T>& operand, int64_t at, int64_t key, N... n) {
  if constexpr (std::is_same_v<T, bool>) return load_mask(operand.data + at + key, n...);
  else return Vec::load(operand.data + at + key, n...);
}
template <class T, class... N>
ONNXC_INLINE auto load_score(const OfQueries<T>& operand, int64_t at, int64_t, N...) {
  if constexpr (std::is_same_v<T, bool>) return Lanes{}(operand.data[at]);
  else return Vec::all(operand.data[at]);
}

constexpr float kLog2E = 1.44269504f;

/// Makes powers 2^((s - highest) log2(e) - fewer) of the scores in a row. The difference comes first: a mask of the least float times log2(e) is
/// infinite, and products of large scores are rounded to multiples of more than a power's range.
struct PowersOfRow {
  float* s;
  Vec highest, fewer;
  template <class... N>
  ONNXC_INLINE Vec operator()(int64_t key, N... n) const {
    const Vec power = fn::detail::power_of_2(fma(Vec::load(s + key, n...) - highest, Vec::all(kLog2E), -fewer));
    power.store(s + key, n...);
    return power;
  }
};

/// The factor of each row.
struct TimesFactor {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L, X0 x0, X1 x1) {
    return fn::mul(x0, x1);
  }
};

/// Makes scores of the products in a row.
template <class Scores>
struct ScoresOfRow {
  float* s;
  Vec scale;
  const Scores& scores;
  int64_t batch, head, query;
  template <class... N>
  ONNXC_INLINE Vec operator()(int64_t key, N... n) const {
    const Vec score = scores(Lanes{}, Vec::load(s + key, n...) * scale, [&](const auto& operand) ONNXC_SMALL_LAMBDA {
      return load_score(operand, batch * operand.batch + head * operand.head + query * operand.row, key, n...);
    });
    score.store(s + key, n...);
    return score;
  }
};

template <int MR, int NV, bool transposed, class Scores>
class Attention {
 public:
  static constexpr int NR = NV * Vec::width;

  ONNXC_INLINE Attention(const AttentionParams& params, const bool* clear, float* scratch, const Scores& expression)
      : p_(params), cleared_(clear), scores_(expression) {
    pitch_ = contract::round_up(p_.keys, NR);
    keys_ = scratch;
    values_ = keys_ + pitch_ * p_.size;
    probabilities_ = values_ + pitch_ * contract::round_up(p_.value_size, NR);
    for (int64_t n = 1; n < p_.keys; n *= 2) ++fewer_;
  }

  void compute(Share share, float* y, const float* q, const float* k, const float* v) {
    // Rows that share a head and are evenly spaced: the queries of a head of q, or its head in each of those that share.
    across_ = p_.queries == 1;
    rows_ = across_ ? p_.shared_heads : p_.queries;
    if (rows_ == 0) return;
    few_ = rows_ <= contract::kFewAttentionRows;
    const int64_t grain = few_ ? rows_ : MR, tiles = (rows_ + grain - 1) / grain, runs = across_ ? 1 : p_.shared_heads,
                  groups = p_.heads / p_.shared_heads;
    const auto [first, last] = share.slice(p_.batch * groups * runs * tiles);
    int64_t packed = -1;
    for (int64_t unit = first; unit < last;) {
      const int64_t run = unit / tiles, tile = unit % tiles, left = last - unit, count = tiles - tile < left ? tiles - tile : left;
      const int64_t all = run / runs, batch = all / groups, group = all % groups;
      head_ = group * p_.shared_heads + run % runs;
      batch_ = batch;
      row_ = tile * grain;
      k_ = k + batch * p_.k.batch + group * p_.k.head;
      v_ = v + batch * p_.v.batch + group * p_.v.head;
      const float* const queries = q + batch * p_.q.batch + head_ * p_.q.head;
      float* const result = y + batch * p_.y.batch + head_ * p_.y.head;
      const int64_t rows = count * grain < rows_ - row_ ? count * grain : rows_ - row_;
      if (packed != all) pack();
      packed = all;
      const int64_t from = across_ ? p_.q.head : p_.q.row, to = across_ ? p_.y.head : p_.y.row;
      if (few_) few_rows(queries + row_ * from, from, result + row_ * to, to, rows);
      else many_rows(queries + row_ * from, from, result + row_ * to, to, rows);
      unit += count;
    }
  }

 private:
  /// k and v of a head, unless they are read where they lie.
  void pack() {
    finite_ = Known::No;
    if (few_) return;
    for (int64_t key = 0; key < p_.keys; key += NR)
      pack_panel<NR, transposed>(k_ + key * (transposed ? p_.k.row : 1), p_.k.row, p_.size, columns(p_.keys, key), keys_ + key * p_.size);
    for (int64_t col = 0; col < p_.value_size; col += NR)
      pack_panel<NR, false>(v_ + col, p_.v.row, p_.keys, columns(p_.value_size, col), values_ + col * p_.keys);
  }
  static ONNXC_INLINE int64_t columns(int64_t all, int64_t first) { return all - first < NR ? all - first : NR; }

  ONNXC_INLINE void many_rows(const float* q, int64_t q_row, float* y, int64_t y_row, int64_t rows) {
    for_each_tile<MR>(q, q_row, rows, TileOrder{}, [&]<int R>(const auto& rows_of_q, int64_t i) ONNXC_INLINE_LAMBDA {
      const int64_t valid = rows - i < R ? rows - i : R;
      scores_of_tile<R>(rows_of_q);
      for (int64_t r = 0; r < valid; ++r) probabilities_of_row(r, row_ + i + r);
      if (valid == R) {
        finish_tile<R>(EvenRows{probabilities_, pitch_}, y + i * y_row, y_row, R);
      } else {
        const float* anywhere[R];
        for (int r = 0; r < R; ++r) anywhere[r] = probabilities_ + (r < valid ? r : valid - 1) * pitch_;
        finish_tile<R>(static_cast<const float* const*>(anywhere), y + i * y_row, y_row, valid);
      }
    });
  }

  /// Products of the rows of a tile and all keys.
  template <int R, class RowsOfQ>
  ONNXC_INLINE void scores_of_tile(const RowsOfQ& q) {
    for (int64_t key = 0; key < p_.keys; key += NR) {
      const float* const panel = keys_ + key * p_.size;
      Tile<R, NV> tile;
      tile.start(kZeros);
      tile.add(q, p_.size, panel, Prefetcher(panel));
      tile.store([&](int r) ONNXC_SMALL_LAMBDA { return probabilities_ + r * pitch_ + key; }, R);
    }
  }

  /// Probabilities times values.
  template <int R, class RowsOfP>
  ONNXC_INLINE void finish_tile(const RowsOfP& rows, float* y, int64_t y_row, int64_t valid) {
    const int64_t used = keys_used(valid);
    for (int64_t col = 0; col < p_.value_size; col += NR) {
      const float* const panel = values_ + col * p_.keys;
      Tile<R, NV> tile;
      tile.start(kZeros);
      tile.add(rows, used, panel, Prefetcher(panel));
      tile.finish(y, y_row, col, valid, p_.value_size - col, Consecutive{0}, Epilogue<TimesFactor, PerRow<float>>{{factors_}});
    }
  }

  ONNXC_INLINE void few_rows(const float* q, int64_t q_row, float* y, int64_t y_row, int64_t rows) {
    if constexpr (!transposed) {
      few_products(q, q_row, rows, p_.size, k_, p_.k.row, p_.keys, probabilities_, pitch_);
    } else {
      constexpr int64_t kBlock = 32;  // keys that stay in L1 while all rows meet them
      for (int64_t key = 0; key < p_.keys; key += kBlock) {
        const int64_t count = p_.keys - key < kBlock ? p_.keys - key : kBlock;
        for (int64_t r = 0; r < rows; ++r)
          dot_rows(q + r * q_row, k_ + key * p_.k.row, p_.k.row, p_.size, count, probabilities_ + r * pitch_ + key);
      }
    }
    for (int64_t r = 0; r < rows; ++r) probabilities_of_row(r, row_ + r);
    few_products(probabilities_, pitch_, rows, p_.keys, v_, p_.v.row, p_.value_size, y, y_row);
    for (int64_t r = 0; r < rows; ++r) {
      const Vec factor = Vec::all(factors_[r]);
      update_row(y + r * y_row, p_.value_size, [&](Vec v) ONNXC_SMALL_LAMBDA { return v * factor; });
    }
  }

  /// c[r][j] = the sum of a[r][i] b[i][j] over i < k, for j < n.
  static ONNXC_INLINE void few_products(const float* a, int64_t a_row, int64_t rows, int64_t k, const float* b, int64_t b_row, int64_t n,
                                        float* c, int64_t c_row) {
    if (rows == 1) few_products<1>(a, a_row, 1, k, b, b_row, n, c, c_row);
    else few_products<contract::kFewAttentionRows>(a, a_row, rows, k, b, b_row, n, c, c_row);
  }
  template <int R>
  static ONNXC_INLINE void few_products(const float* a, int64_t a_row, int64_t rows, int64_t k, const float* b, int64_t b_row, int64_t n,
                                        float* c, int64_t c_row) {
    constexpr int kVectors = 4;
    const float* anywhere[R];
    for (int r = 0; r < R; ++r) anywhere[r] = a + (r < rows ? r : rows - 1) * a_row;
    const auto columns = [&]<int kWide>(int64_t col) ONNXC_INLINE_LAMBDA {
      Tile<R, kWide> tile;
      tile.start(kZeros);
      tile.add(static_cast<const float* const*>(anywhere), k, b + col, Prefetcher(b), b_row);
      tile.store([&](int r) ONNXC_SMALL_LAMBDA { return c + r * c_row + col; }, rows);
    };
    int64_t col = 0;
    for (; col + kVectors * Vec::width <= n; col += kVectors * Vec::width) columns.template operator()<kVectors>(col);
    for (; col + Vec::width <= n; col += Vec::width) columns.template operator()<1>(col);
    if (col == n) return;
    Vec sums[R];
    for (Vec& sum : sums) sum = Vec::all(0.0f);
    for (int64_t i = 0; i < k; ++i) {
      const Vec row = Vec::load(b + i * b_row + col, n - col);
      ONNXC_UNROLL for (int r = 0; r < R; ++r) sums[r] = fma(Vec::all(anywhere[r][i]), row, sums[r]);
    }
    for (int r = 0; r < R && r < rows; ++r) sums[r].store(c + r * c_row + col, n - col);
  }

  /// Makes probabilities of the products in row r of the tile.
  ONNXC_INLINE void probabilities_of_row(int64_t r, int64_t row) {
    const int64_t head = across_ ? head_ + row : head_, query = across_ ? 0 : row;
    float* const s = probabilities_ + r * pitch_;
    const auto zero = [&] {
      std::fill_n(s, p_.keys, 0.0f);
      factors_[r] = 1;
    };
    if (cleared_ != nullptr && cleared_[batch_ * p_.cleared.batch + head * p_.cleared.head + query * p_.cleared.row]) return zero();
    const float highest = reduce_row<Max>(p_.keys, ScoresOfRow<Scores>{s, Vec::all(p_.scale), scores_, batch_, head, query});
    const bool finite = highest - highest == 0.0f;
    const float total =
        finite ? reduce_row<Sum>(p_.keys, PowersOfRow{s, Vec::all(highest), Vec::all(fewer_)}) : softmax_sum(s, s, p_.keys, highest);
    if (p_.nan_is_zero && total != total) return zero();
    factors_[r] = total == 0.0f ? 0.0f : 1.0f / total;  // there is no key
  }

  /// Keys up to the last one whose probability is not 0 in any of these rows; all of them if values are not finite.
  ONNXC_INLINE int64_t keys_used(int64_t rows) {
    int64_t used = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float* const s = probabilities_ + r * pitch_;
      for (int64_t last = p_.keys; last > used;) {
        const int64_t from = (last - 1) / Vec::width * Vec::width, count = last - from;
        const Vec end = count == Vec::width ? Vec::load(s + from) : Vec::load(s + from, count);
        if (any(end != Vec::all(0.0f))) used = last;
        else last = from;
      }
    }
    return used == p_.keys || values_are_finite() ? used : p_.keys;
  }
  ONNXC_INLINE bool values_are_finite() {
    if (finite_ == Known::No) {
      Vec zeros = Vec::all(0.0f);
      const int64_t floats = contract::round_up(p_.value_size, NR) * p_.keys;
      for (int64_t i = 0; i < floats; i += Vec::width) zeros = fma(Vec::load(values_ + i), Vec::all(0.0f), zeros);
      finite_ = any(zeros != Vec::all(0.0f)) ? Known::Infinite : Known::Finite;
    }
    return finite_ == Known::Finite;
  }

  enum class Known { No, Finite, Infinite };

  const AttentionParams& p_;
  const bool* cleared_;
  const Scores& scores_;
  float *keys_, *values_, *probabilities_;                                              // panels of a head, and the rows of a tile
  float factors_[MR > contract::kFewAttentionRows ? MR : contract::kFewAttentionRows];  // of the rows of a tile
  float fewer_ = 0;  // powers are by 2^fewer_ smaller than they need be, so that their sum is at most 1 and no sum of values overflows
  int64_t pitch_, rows_ = 0, batch_ = 0, head_ = 0, row_ = 0;
  const float *k_ = nullptr, *v_ = nullptr;
  bool across_ = false, few_ = false;
  Known finite_ = Known::No;
};

}  // namespace detail

/// See the head of the file. y overlaps none of the operands.
template <int MR, int NV, bool transposed = kTransposed, class Scores = Epilogue<Keep>>
void attention(Share share, float* y, const float* q, const float* k, const float* v, const bool* cleared, float* scratch,
               Passed<AttentionParams> p, Scores scores = {}) {
  detail::Attention<MR, NV, transposed, Scores>(p, cleared, scratch, scores).compute(share, y, q, k, v);
}

}  // namespace onnxc
