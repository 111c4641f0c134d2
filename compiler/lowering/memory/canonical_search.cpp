// Depth-first search over canonical placements: each buffer rests on the highest of those below it, and buffers are
// placed in the order of their offsets. Every problem that has a solution has a canonical one (move down what can
// move down, until nothing can), and there are far fewer canonical placements than placements.
//
//   offset                     Placed in the order a, c, b: `b` rests on `a` and `c`. While only `a` is placed, the resting offset of `c` is
//     2 |   bbbbbb             0 and that of `b` is 1. Placing `b` next would skip `c` and leave a gap below `b` that `c` fits into: a dead
//     1 |aaaa  cccc            end that is detected at once.
//       +----------- step
//
// Time is divided into sections: the sets of buffers that are live at once, without sets that are part of another. A
// node of the search is given up when
//
// - a section cannot hold what remains in it: floor + the bytes to come > capacity. The floor is the lowest offset that any of its remaining
//   buffers can take. It is at least the offset placed last, since offsets do not decrease.
// - a buffer was skipped (its resting offset is below the offset placed last) and no buffer is left that it could rest on. Otherwise it is
//   raised to the lowest top of these.
// - the next offset is not below the top that some buffer would have at its resting offset: that buffer would fit into the gap.
// - buffers of equal size and lifetime would be placed in another order than that of their numbers.
//
// Placed buffers are removed from the problem. Where no remaining buffer crosses from one section to the next, the
// two sides are solved one after the other; if one side fails, the whole fails.
//
// Whether the search needs hundreds of nodes or billions depends on which buffer is tried first, and no order is good
// for all inputs. So several orders take turns, each with a limit of nodes that doubles, and each is also tried with
// randomly perturbed keys. When a problem splits, each side is ordered anew by the bytes that are still to come in
// it; without that, the search fails in practice on three of MiniMalloc's eleven problems. One completed run is a
// proof.
//
// Source of most of it: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning", ASPLOS 2023. Raising skipped buffers and perturbed restarts are ours.
#include "compiler/lowering/memory/canonical_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "compiler/lowering/memory/bit_rows.h"
#include "compiler/support/random.h"

namespace onnxc {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

struct Box {
  int64_t size, alignment;
  std::size_t from, to;  // sections [from, to)
  int64_t steps;         // of its lifetime
  bool operator==(const Box&) const = default;
};

/// Fills the boxes of `intervals` and returns the number of sections. A section ends where a buffer ends after others
/// have begun.
std::size_t cut_into_sections(std::span<const Interval> intervals, std::vector<Box>& boxes) {
  std::vector<std::tuple<int, bool, std::size_t>> events;  // at the same step, ends come first
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval& interval = intervals[i];
    boxes.push_back({interval.size, interval.alignment, 0, 0, int64_t{interval.last} - interval.first});
    events.emplace_back(interval.first, true, i);
    events.emplace_back(interval.last, false, i);
  }
  std::ranges::sort(events);
  std::size_t sections = 0;
  bool grew = false;
  for (const auto& [step, begins, i] : events) {
    if (!begins && std::exchange(grew, false)) ++sections;
    if (begins) grew = true;
    (begins ? boxes[i].from : boxes[i].to) = sections;
  }
  return sections;
}

enum Measure { kPressure, kSections, kSteps, kArea, kSize };

/// Which of several boxes that could lie at the same offset comes first: these measures are compared in turn, and the
/// largest wins.
struct BoxOrder {
  std::array<Measure, 3> measures;
  std::vector<std::array<double, 3>> factors;  // for each box's measures; empty: 1
};

/// One depth-first search with one order of the boxes.
class Run {
 public:
  Run(const std::vector<Box>& boxes, std::size_t sections, int64_t capacity, BoxOrder order)
      : boxes_(boxes),
        order_(std::move(order)),
        capacity_(capacity),
        conflicts_(boxes_.size(), boxes_.size()),
        members_(sections, boxes_.size()),
        remaining_(1, boxes_.size()),
        dirty_(1, sections),
        rank_(boxes_.size()),
        offset_(boxes_.size()),
        rest_(boxes_.size()),
        earliest_(boxes_.size()),
        support_(boxes_.size()),
        twin_(boxes_.size(), -1),
        floor_(sections),
        to_come_(sections),
        lowest_(sections),
        crossing_(sections) {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const Box& box = boxes_[i];
      remaining_.set(0, i);
      for (std::size_t s = box.from; s < box.to; ++s) {
        members_.set(s, i);
        to_come_[s] += box.size;
        if (s + 1 < box.to) ++crossing_[s];
      }
      for (std::size_t j = 0; j < i; ++j) {
        const Box& other = boxes_[j];
        if (other.from >= box.to || box.from >= other.to) continue;
        conflicts_.set(i, j);
        conflicts_.set(j, i);
        if (box == other) twin_[i] = static_cast<int>(j);
      }
      pool_.push_back(static_cast<int>(i));
    }
  }

  SearchOutcome search(int64_t nodes, int64_t& effort) {
    if (std::ranges::any_of(to_come_, [&](int64_t bytes) { return bytes > capacity_; })) return SearchOutcome::Impossible;
    nodes_ = nodes;
    effort_ = effort;
    rank(0, pool_.size());
    const SearchOutcome outcome = solve({0, pool_.size(), 0, -1, 0, floor_.size()});
    effort = effort_;
    return outcome;
  }

  const std::vector<int64_t>& offsets() const { return offset_; }

 private:
  /// The remaining boxes pool_[begin, end), all within sections [from, to). The next one is placed after (offset,
  /// rank).
  struct Subproblem {
    std::size_t begin, end;
    int64_t offset, rank;
    std::size_t from, to;
  };

  /// Boxes are placed in the order of these keys.
  std::pair<int64_t, int64_t> key_of(int i) const { return {rest_[i], rank_[i]}; }

  /// Ranks the boxes pool_[begin, end) by the order's measures, which depend on the bytes still to come.
  void rank(std::size_t begin, std::size_t end) {
    effort_ -= static_cast<int64_t>(end - begin);
    std::vector<std::pair<std::array<double, 3>, int>> keys;
    for (std::size_t k = begin; k < end; ++k) {
      const int i = pool_[k];
      auto& key = keys.emplace_back(std::array<double, 3>{}, i).first;
      for (std::size_t m = 0; m < key.size(); ++m)
        key[m] = -measure(boxes_[i], order_.measures[m]) * (order_.factors.empty() ? 1 : order_.factors[i][m]);
    }
    std::ranges::sort(keys);
    for (std::size_t k = 0; k < keys.size(); ++k) assign(rank_[keys[k].second], static_cast<int64_t>(k));
  }

  double measure(const Box& box, Measure measure) const {
    const auto steps = static_cast<double>(box.steps), size = static_cast<double>(box.size);
    switch (measure) {
      case kPressure:
        return static_cast<double>(*std::max_element(to_come_.begin() + static_cast<std::ptrdiff_t>(box.from),
                                                     to_come_.begin() + static_cast<std::ptrdiff_t>(box.to)));
      case kSections: return static_cast<double>(box.to - box.from);
      case kSteps: return steps;
      case kArea: return size * steps;
      case kSize: return size;
    }
    return 0;
  }

  SearchOutcome solve(const Subproblem& problem) {
    if (problem.begin == problem.end) return SearchOutcome::Found;
    effort_ -= static_cast<int64_t>(problem.end - problem.begin);
    if (--nodes_ < 0 || effort_ < 0) return SearchOutcome::GaveUp;
    int64_t gap_top = kNone;
    for (std::size_t k = problem.begin; k < problem.end; ++k) gap_top = std::min(gap_top, rest_[pool_[k]] + boxes_[pool_[k]].size);
    std::vector<int> candidates;
    for (std::size_t k = problem.begin; k < problem.end; ++k) {
      const int i = pool_[k];
      const bool raised = earliest_[i] > rest_[i], second_twin = twin_[i] >= 0 && remaining_.test(0, twin_[i]);
      const bool skipped = key_of(i) <= std::pair(problem.offset, problem.rank);
      if (!raised && !second_twin && !skipped && rest_[i] < gap_top) candidates.push_back(i);
    }
    std::ranges::sort(candidates, {}, [this](int i) { return key_of(i); });
    for (const int i : candidates) {
      const int64_t offset = rest_[i];
      const std::size_t mark = trail_.size();
      SearchOutcome outcome = SearchOutcome::Impossible;
      if (place(i, offset, problem)) outcome = solve_rest(i, offset, problem);
      if (outcome == SearchOutcome::Found) return outcome;
      for (; trail_.size() > mark; trail_.pop_back()) *trail_.back().first = trail_.back().second;
      for (std::size_t k = problem.begin; k < problem.end; ++k) remaining_.set(0, pool_[k]);
      if (outcome == SearchOutcome::GaveUp) return outcome;
      // If no remaining box overlaps this one in time, skipping it could not raise it: there is no alternative to
      // placing it.
      if (all_common_bits(conflicts_.row(i), remaining_.row(0), remaining_.words(), [](std::size_t) { return false; })) break;
    }
    return SearchOutcome::Impossible;
  }

  /// Solves what remains after box i was placed. Sides that no box crosses any more are solved separately.
  SearchOutcome solve_rest(int i, int64_t offset, const Subproblem& problem) {
    const Box& box = boxes_[i];
    for (std::size_t s = box.from; s + 1 < box.to; ++s) --crossing_[s];
    SearchOutcome outcome = SearchOutcome::Found;
    std::size_t from = problem.from;
    for (std::size_t s = box.from; s < box.to && outcome == SearchOutcome::Found; ++s) {
      const bool last = s + 1 == box.to;
      if (!last && crossing_[s] > 0) continue;
      const std::size_t to = last ? problem.to : s + 1, begin = pool_.size();
      for (std::size_t k = problem.begin; k < problem.end; ++k) {
        const int j = pool_[k];
        if (remaining_.test(0, j) && boxes_[j].from >= from && boxes_[j].to <= to) pool_.push_back(j);
      }
      if (last && from == problem.from) {
        outcome = solve({begin, pool_.size(), offset, rank_[i], from, to});
        // The bytes to come have changed, so another box may be the most urgent one.
      } else {
        rank(begin, pool_.size());
        outcome = solve({begin, pool_.size(), offset, -1, from, to});
      }
      pool_.resize(begin);
      from = to;
    }
    for (std::size_t s = box.from; s + 1 < box.to; ++s) ++crossing_[s];
    return outcome;
  }

  /// Places box i and draws the conclusions. Returns false if they show a dead end.
  bool place(int i, int64_t offset, const Subproblem& problem) {
    const Box& box = boxes_[i];
    const int64_t top = offset + box.size;
    offset_[i] = offset;
    remaining_.clear(0, i);
    for (std::size_t s = box.from; s < box.to; ++s) {
      assign(floor_[s], top);
      assign(to_come_[s], to_come_[s] - box.size);
    }
    std::fill_n(dirty_.row(0), dirty_.words(), 0);
    make_dirty(box);
    return raise_conflicts(i, top) && raise_skipped(i, offset, problem) && raise_floors() && sections_hold(offset, problem);
  }

  /// All remaining boxes that overlap box i in time now lie above it.
  bool raise_conflicts(int i, int64_t top) {
    return all_common_bits(conflicts_.row(i), remaining_.row(0), remaining_.words(), [&](std::size_t j) {
      if (rest_[j] >= top) return true;
      const int64_t rest = (top + boxes_[j].alignment - 1) / boxes_[j].alignment * boxes_[j].alignment;
      assign(rest_[j], rest);
      return raise(j, rest);
    });
  }

  /// Boxes that should have come before (offset, box i) can now only lie higher, on top of a box that is not placed
  /// yet.
  bool raise_skipped(int i, int64_t offset, const Subproblem& problem) {
    for (std::size_t k = problem.begin; k < problem.end; ++k) {
      const int j = pool_[k];
      if (!remaining_.test(0, j) || key_of(j) > std::pair(offset, rank_[i])) continue;
      const auto top_of = [&](std::size_t d) { return std::max(earliest_[d], offset) + boxes_[d].size; };
      if (remaining_.test(0, support_[j]) && earliest_[j] > rest_[j] && top_of(support_[j]) <= earliest_[j]) continue;
      int64_t lowest = kNone;
      all_common_bits(conflicts_.row(j), remaining_.row(0), remaining_.words(), [&](std::size_t d) {
        if (const int64_t top_d = top_of(d); top_d < lowest) {
          lowest = top_d;
          support_[j] = d;
        }
        return lowest > earliest_[j];
      });
      if (lowest == kNone || (lowest > earliest_[j] && !raise(static_cast<std::size_t>(j), lowest))) return false;
    }
    return true;
  }

  bool raise_floors() {
    for (std::size_t w = 0; w < dirty_.words(); ++w) {
      for (uint64_t bits = dirty_.row(0)[w]; bits != 0; bits &= bits - 1) {
        const std::size_t s = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        if (to_come_[s] == 0) continue;
        if (!remaining_.test(0, lowest_[s]) || !members_.test(s, lowest_[s]) || earliest_[lowest_[s]] > floor_[s]) {
          int64_t floor = kNone;
          all_common_bits(members_.row(s), remaining_.row(0), remaining_.words(), [&](std::size_t j) {
            if (earliest_[j] < floor) {
              floor = earliest_[j];
              lowest_[s] = j;
            }
            return floor > floor_[s];
          });
          if (floor > floor_[s]) assign(floor_[s], floor);
        }
        if (floor_[s] + to_come_[s] > capacity_) return false;
      }
    }
    return true;
  }

  bool sections_hold(int64_t offset, const Subproblem& problem) const {
    for (std::size_t s = problem.from; s < problem.to; ++s) {
      if (offset + to_come_[s] > capacity_) return false;
    }
    return true;
  }

  /// States that box j lies at `offset` or above.
  bool raise(std::size_t j, int64_t offset) {
    if (earliest_[j] >= offset) return true;
    assign(earliest_[j], offset);
    make_dirty(boxes_[j]);
    return offset + boxes_[j].size <= capacity_;
  }

  void make_dirty(const Box& box) {
    for (std::size_t s = box.from; s < box.to; ++s) dirty_.set(0, s);
  }

  /// Changes a value in a way that can be undone.
  void assign(int64_t& variable, int64_t value) {
    trail_.emplace_back(&variable, variable);
    variable = value;
  }

  const std::vector<Box>& boxes_;
  BoxOrder order_;
  int64_t capacity_;
  BitRows conflicts_, members_, remaining_, dirty_;
  // decides between boxes of one subproblem at equal offsets
  std::vector<int64_t> rank_;
  std::vector<int64_t> offset_;
  std::vector<int64_t> rest_;             // where a box would lie now: above all placed boxes that overlap it in time
  std::vector<int64_t> earliest_;         // a lower bound of its final offset; more than rest_ for skipped boxes
  std::vector<std::size_t> support_;      // what a skipped box may rest on: the one that bounded it last
  std::vector<int> twin_;                 // an earlier box that is equal, or -1
  std::vector<int64_t> floor_, to_come_;  // of sections
  std::vector<std::size_t> lowest_;       // the box that last bounded the section's floor
  std::vector<int> crossing_;             // remaining boxes that live in both section s and section s + 1
  std::vector<int> pool_;
  std::vector<std::pair<int64_t*, int64_t>> trail_;
  int64_t nodes_ = 0, effort_ = 0;
};

/// The orders that take turns. Each is the best one for some of MiniMalloc's inputs.
constexpr std::array<std::array<Measure, 3>, 7> kOrders{{
    {kPressure, kSections, kArea},
    {kPressure, kSteps, kArea},
    {kSections, kPressure, kArea},
    {kArea, kPressure, kSections},
    {kSize, kPressure, kSections},
    {kSteps, kArea, kPressure},
    {kPressure, kArea, kSteps},
}};

BoxOrder make_order(const std::array<Measure, 3>& measures, std::size_t perturbed_boxes, Random& random) {
  BoxOrder order{measures, {}};
  for (std::size_t i = 0; i < perturbed_boxes; ++i) {
    auto& factors = order.factors.emplace_back();
    for (double& factor : factors) factor = 1 + 0.3 * static_cast<double>(random.below(1024)) / 1024;
  }
  return order;
}

}  // namespace

SearchResult search_canonical(std::span<const Interval> intervals, int64_t capacity, int64_t& effort) {
  const auto n = static_cast<int64_t>(intervals.size());
  if (n * (n + 1) / 2 > effort) return {SearchOutcome::GaveUp, {}};  // not enough to place them once
  std::vector<Box> boxes;
  const std::size_t sections = cut_into_sections(intervals, boxes);
  Random random(intervals.size());
  for (int64_t limit = 256 + 2 * n; effort > 0; limit *= 2) {
    for (const auto& measures : kOrders) {
      for (const bool perturbed : {false, true}) {
        Run run(boxes, sections, capacity, make_order(measures, perturbed ? boxes.size() : 0, random));
        const SearchOutcome outcome = run.search(perturbed ? limit / 4 : limit, effort);
        if (outcome == SearchOutcome::GaveUp) continue;
        return {outcome, outcome == SearchOutcome::Found ? run.offsets() : std::vector<int64_t>{}};
      }
    }
  }
  return {SearchOutcome::GaveUp, {}};
}

}  // namespace onnxc
