// A cache line that another processor wrote last must be fetched from that processor's cache before it is written
// again, which costs most where the two have no cache in common. Tensors of the same size at the same offset are
// divided alike among threads. With two threads this also holds for tensors of any size that have the same middle:
//
//   offset     Thread 0 writes x below its middle and thread 1 above it. They do the same with y, which reuses memory of x.
//     3 | 1        At the lowest offset, all of y would be where thread 0 wrote;
//     2 | 1  1     in the middle nothing changes hands.
//     1 | 0  0
//     0 | 0
//       +-x--y---- step
//
// Intervals are moved one by one to where they cost least, large ones first: once starting without any placement,
// once from the given one.
#include "compiler/lowering/threads/align_shares_search.h"
#include "compiler/support/sort_unique.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace onnxc {
namespace {

constexpr int64_t kUnplaced = -1;
constexpr int kSearchPasses = 4;
constexpr std::size_t kMostIntervals = 300;  // intervals: the time of a search grows with the square of their number
// Offsets are tried next to this number of intervals before and after one in time, and next to as many of the largest.
constexpr std::size_t kNearest = 20;

struct Piece {
  int64_t begin, end;
  int interval;
};

class Aligner {
 public:
  Aligner(std::span<const Interval> intervals, std::span<const Sharing> sharing, int64_t height)
      : intervals_(intervals), sharing_(sharing), height_(height), rank_(intervals.size()), offsets_(intervals.size()) {
    for (int i = 0; i < static_cast<int>(intervals.size()); ++i) {
      if (is_live(at(i))) by_time_.push_back(i);
    }
    std::ranges::stable_sort(by_time_, {}, [&](int i) { return at(i).first; });
    by_size_ = by_time_;
    std::ranges::stable_sort(by_size_, std::greater{}, [&](int i) { return at(i).size; });
    for (std::size_t k = 0; k < by_time_.size(); ++k) rank_[static_cast<std::size_t>(by_time_[k])] = k;
  }

  /// Places all intervals from scratch. Returns false if one finds no room.
  bool place_all(std::vector<int64_t>& offsets) {
    for (int i : by_time_) offset(i) = kUnplaced;
    for (int i : by_size_) {
      offset(i) = best_offset(i);
      if (offset(i) == kUnplaced) return false;
    }
    improve();
    offsets = offsets_;
    return true;
  }
  /// Moves intervals that are placed already.
  void improve(std::vector<int64_t>& offsets) {
    offsets_ = offsets;
    improve();
    offsets = offsets_;
  }
  int64_t total(std::span<const int64_t> offsets) {
    offsets_.assign(offsets.begin(), offsets.end());
    int64_t sum = 0;
    for (int i : by_time_) sum += fetched(i);
    return sum;
  }

 private:
  const Interval& at(int i) const { return intervals_[static_cast<std::size_t>(i)]; }
  int64_t& offset(int i) { return offsets_[static_cast<std::size_t>(i)]; }
  int64_t offset(int i) const { return offsets_[static_cast<std::size_t>(i)]; }
  int64_t shares(int i) const { return std::clamp<int64_t>(sharing_[static_cast<std::size_t>(i)].shares, 1, at(i).size); }
  /// The away-th interval before (`step` = -1) or after (1) interval i in time. One run follows the other, so the
  /// order is cyclic.
  int neighbour(int i, int step, std::size_t away) const {
    const std::size_t n = by_time_.size(), k = rank_[static_cast<std::size_t>(i)];
    return by_time_[step < 0 ? (k + n - away) % n : (k + away) % n];
  }

  /// Which intervals have the bytes of interval i before or after it. Bytes that no other interval ever has are left
  /// out.
  std::vector<Piece> neighbours(int i, int step) const {
    std::vector<Piece> found, left{{offset(i), offset(i) + at(i).size, -1}}, rest;
    for (std::size_t away = 1; away < by_time_.size() && !left.empty(); ++away) {
      const int other = neighbour(i, step, away);
      const int64_t begin = offset(other), end = begin + at(other).size;
      if (begin == kUnplaced || end <= left.front().begin || begin >= left.back().end) continue;
      rest.clear();
      for (const Piece& p : left) {
        const int64_t from = std::max(p.begin, begin), to = std::min(p.end, end);
        if (from >= to) {
          rest.push_back(p);
          continue;
        }
        found.push_back({from, to, other});
        if (p.begin < from) rest.push_back({p.begin, from, -1});
        if (to < p.end) rest.push_back({to, p.end, -1});
      }
      left.swap(rest);
    }
    return found;
  }

  /// The thread share of interval i that a byte belongs to, and where that share ends.
  std::pair<int64_t, int64_t> share_at(int i, int64_t byte) const {
    const int64_t count = shares(i), size = at(i).size;
    const auto end = [&](int64_t share) { return offset(i) + size / count * (share + 1) + size % count * (share + 1) / count; };
    int64_t share = (byte - offset(i)) / (size / count + 1);
    while (end(share) <= byte) ++share;
    return {share, end(share)};
  }

  /// The bytes that a thread must fetch before it writes its share of interval i: the maximum over all threads.
  int64_t fetched(int i) const {
    std::vector<int64_t> bytes(static_cast<std::size_t>(shares(i)), 0);
    for (const Piece& piece : neighbours(i, -1)) {
      for (int64_t from = piece.begin; from < piece.end;) {
        const auto [self, self_end] = share_at(i, from);
        const auto [other, other_end] = share_at(piece.interval, from);
        const int64_t to = std::min({piece.end, self_end, other_end});
        if (self != other || (other > 0 && sharing_[static_cast<std::size_t>(piece.interval)].gathered))
          bytes[static_cast<std::size_t>(self)] += to - from;
        from = to;
      }
    }
    return std::ranges::max(bytes);
  }

  /// The cost of interval i at a candidate offset, relative to the cost without interval i.
  int64_t cost(int i, int64_t candidate) {
    offset(i) = candidate;
    std::vector<int> later;
    for (const Piece& p : neighbours(i, 1)) {
      if (std::ranges::find(later, p.interval) == later.end()) later.push_back(p.interval);
    }
    int64_t sum = fetched(i);
    for (int c : later) sum += fetched(c);
    offset(i) = kUnplaced;
    for (int c : later) sum -= fetched(c);
    return sum;
  }

  /// The placed intervals that are live at the same time as interval i.
  std::vector<int> live_with(int i) const {
    std::vector<int> found;
    std::ranges::copy_if(by_time_, std::back_inserter(found),
                         [&](int c) { return c != i && offset(c) != kUnplaced && lifetimes_overlap(at(c), at(i)); });
    return found;
  }

  /// Free offsets for interval i: centred on another interval, at one of its ends, or next to it.
  std::vector<int64_t> candidates(int i) const {
    const int64_t size = at(i).size, alignment = std::max<int64_t>(at(i).alignment, 1);
    const std::vector<int> others = live_with(i);
    std::vector<int64_t> list;
    const auto add = [&](int64_t candidate) {
      candidate = candidate / alignment * alignment;
      const bool is_inside = candidate >= 0 && candidate + size <= height_;
      if (is_inside &&
          std::ranges::none_of(others, [&](int c) { return candidate < offset(c) + at(c).size && offset(c) < candidate + size; }))
        list.push_back(candidate);
    };
    const auto add_around = [&](int c) {
      if (c == i || offset(c) == kUnplaced) return;
      const int64_t begin = offset(c), end = begin + at(c).size;
      for (int64_t candidate : {(begin + end - size) / 2, begin, end - size, begin - size, end + alignment - 1}) add(candidate);
    };
    add(0);
    add(height_ - size);
    for (std::size_t k = 0; k < std::min(kNearest, by_size_.size()); ++k) add_around(by_size_[k]);
    for (std::size_t away = 1; away < std::min(kNearest, by_time_.size()); ++away) {
      add_around(neighbour(i, -1, away));
      add_around(neighbour(i, 1, away));
    }
    sort_unique(list);
    return list;
  }

  /// The lowest of the cheapest offsets, or the current one if that is as cheap.
  int64_t best_offset(int i) {
    const int64_t here = offset(i);
    int64_t best = here, least = here == kUnplaced ? std::numeric_limits<int64_t>::max() : cost(i, here);
    for (int64_t candidate : candidates(i)) {
      if (const int64_t c = cost(i, candidate); c < least) {
        least = c;
        best = candidate;
      }
    }
    offset(i) = here;
    return best;
  }

  void improve() {
    for (int pass = 0; pass < kSearchPasses; ++pass) {
      bool moved = false;
      for (int i : by_size_) {
        const int64_t candidate = best_offset(i);
        moved = moved || candidate != offset(i);
        offset(i) = candidate;
      }
      if (!moved) return;
    }
  }

  std::span<const Interval> intervals_;
  std::span<const Sharing> sharing_;
  int64_t height_;
  std::vector<int> by_time_, by_size_;  // those that are live at all
  std::vector<std::size_t> rank_;       // the position in by_time_, by interval
  std::vector<int64_t> offsets_;
};

}  // namespace

int64_t foreign_bytes(std::span<const Interval> intervals, std::span<const Sharing> sharing, std::span<const int64_t> offsets) {
  return Aligner(intervals, sharing, 0).total(offsets);
}

std::vector<int64_t> align_shares(std::span<const Interval> intervals, std::span<const Sharing> sharing, std::span<const int64_t> offsets,
                                  int64_t height) {
  std::vector<int64_t> best(offsets.begin(), offsets.end());
  if (intervals.size() > kMostIntervals) return best;
  Aligner aligner(intervals, sharing, height);
  int64_t least = aligner.total(best);
  const auto take = [&](const std::vector<int64_t>& found) {
    if (const int64_t bytes = aligner.total(found); bytes < least) {
      least = bytes;
      best = found;
    }
  };
  std::vector<int64_t> moved = best, placed;
  aligner.improve(moved);
  take(moved);
  if (aligner.place_all(placed)) take(placed);
  return best;
}

}  // namespace onnxc
