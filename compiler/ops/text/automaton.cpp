// A state is the set of instructions that threads can be at (Rabin and Scott). Code points that the same sets of the
// program hold are one class.
//
//   [ab]+    0 set {a b}   1 split 0 2   2 match       states {}, {0}, {0 2}; classes {a b} and all others
#include "compiler/ops/text/automaton.h"

#include <algorithm>
#include <map>

#include "compiler/support/sort_unique.h"
#include "runtime_stub/onnxc/scalar/text/regex.hpp"

namespace onnxc {
namespace {

using scalar::RegexOp;

constexpr std::size_t kMostSets = 256, kMostBounds = 4096, kMostClasses = 256, kMostNext = 4096;
constexpr std::size_t kMostWork = 1 << 22;  // instructions that are looked at

class Builder {
 public:
  explicit Builder(const RegexProgram& program) : program_(program), size_(program.code.size() / 3) {}

  std::optional<Automaton> run() {
    if (!find_sets() || !find_classes()) return std::nullopt;
    const std::size_t start = state_of({0});
    for (std::size_t s = 0; s < states_.size(); ++s) {
      if (states_.size() * examples_.size() > kMostNext || work_ > kMostWork) return std::nullopt;
      for (int32_t example : examples_) {
        std::vector<std::size_t> after;
        for (std::size_t i : *states_[s]) {
          if (op(i) == RegexOp::set && holds(i, example)) after.push_back(i + 1);
        }
        next_.push_back(state_of(std::move(after)));
      }
    }
    return written(start);
  }

 private:
  RegexOp op(std::size_t i) const { return static_cast<RegexOp>(program_.code[3 * i]); }
  std::size_t target(std::size_t i, std::size_t which) const { return static_cast<std::size_t>(program_.code[3 * i + which]); }
  const int32_t* ranges(std::size_t i) const { return program_.ranges.data() + program_.code[3 * i + 1]; }
  std::size_t count(std::size_t i) const { return static_cast<std::size_t>(program_.code[3 * i + 2]); }

  bool holds(std::size_t i, int32_t code) {
    work_ += count(i);
    for (std::size_t k = 0; k < count(i); ++k) {
      if (ranges(i)[2 * k] <= code && code <= ranges(i)[2 * k + 1]) return true;
    }
    return false;
  }

  bool find_sets() {
    for (std::size_t i = 0; i < size_; ++i) {
      if (op(i) == RegexOp::hold) return false;
      if (op(i) == RegexOp::set) sets_.push_back(i);
      if (sets_.size() > kMostSets) return false;
    }
    return true;
  }

  /// Between two bounds, no set begins or ends. Each of these intervals has its class, and each class has an example.
  bool find_classes() {
    bounds_ = {0, 128};
    for (std::size_t i : sets_) {
      for (std::size_t k = 0; k < count(i); ++k) {
        if (ranges(i)[2 * k] > ranges(i)[2 * k + 1]) continue;
        bounds_.insert(bounds_.end(), {ranges(i)[2 * k], ranges(i)[2 * k + 1] + 1});
      }
      if (bounds_.size() > 16 * kMostBounds) return false;
    }
    sort_unique(bounds_);
    if (bounds_.size() > kMostBounds) return false;
    std::map<std::vector<bool>, std::size_t> known;
    for (int32_t bound : bounds_) {
      std::vector<bool> held;
      for (std::size_t i : sets_) held.push_back(holds(i, bound));
      if (work_ > kMostWork) return false;
      const auto [it, fresh] = known.try_emplace(std::move(held), examples_.size());
      if (fresh) examples_.push_back(bound);
      classes_.push_back(static_cast<uint8_t>(it->second));
      if (examples_.size() > kMostClasses) return false;
    }
    return true;
  }

  /// The state of threads that are at these instructions, behind jumps and splits.
  std::size_t state_of(std::vector<std::size_t> at) {
    std::vector<std::size_t> closed;
    std::vector<bool> seen(size_);
    work_ += size_;
    while (!at.empty()) {
      const std::size_t i = at.back();
      at.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      if (op(i) == RegexOp::jump || op(i) == RegexOp::split) at.push_back(target(i, 1));
      else closed.push_back(i);
      if (op(i) == RegexOp::split) at.push_back(target(i, 2));
    }
    std::ranges::sort(closed);
    const auto [it, fresh] = numbers_.try_emplace(std::move(closed), states_.size());
    if (fresh) states_.push_back(&it->first);
    return it->second;
  }

  bool accepts(std::size_t s) const {
    return std::ranges::any_of(*states_[s], [&](std::size_t i) { return op(i) == RegexOp::match; });
  }

  /// The empty state comes first, those that accept last.
  Automaton written(std::size_t start) const {
    const std::size_t classes = examples_.size();
    std::vector<std::size_t> order(states_.size());
    std::size_t placed = 0;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t s = 0; s < states_.size(); ++s) {
        if ((accepts(s) ? 2 : states_[s]->empty() ? 0 : 1) == round) order[s] = placed++ + (has_empty() ? 0 : 1);
      }
    }
    Automaton a;
    a.class_count = static_cast<int32_t>(classes);
    a.next.resize((placed + (has_empty() ? 0 : 1)) * classes);
    a.accepting = static_cast<int32_t>(a.next.size());
    for (std::size_t s = 0; s < states_.size(); ++s) {
      if (accepts(s)) a.accepting = std::min(a.accepting, static_cast<int32_t>(order[s] * classes));
      for (std::size_t c = 0; c < classes; ++c)
        a.next[order[s] * classes + c] = static_cast<uint16_t>(order[next_[s * classes + c]] * classes);
    }
    a.start = static_cast<int32_t>(order[start] * classes);
    std::size_t interval = 0;
    for (int32_t code = 0; code < 128; ++code) {
      while (interval + 1 < bounds_.size() && bounds_[interval + 1] <= code) ++interval;
      a.classes.push_back(classes_[interval]);
    }
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (bounds_[i] < 128) continue;
      a.bounds.push_back(bounds_[i]);
      a.classes.push_back(classes_[i]);
    }
    return a;
  }

  bool has_empty() const { return numbers_.contains({}); }

  const RegexProgram& program_;
  std::size_t size_, work_ = 0;
  std::vector<std::size_t> sets_;  // instructions
  std::vector<int32_t> bounds_, examples_;
  std::vector<uint8_t> classes_;  // of the intervals
  std::map<std::vector<std::size_t>, std::size_t> numbers_;
  std::vector<const std::vector<std::size_t>*> states_;
  std::vector<std::size_t> next_;
};

}  // namespace

std::optional<Automaton> make_automaton(const RegexProgram& program) { return Builder(program).run(); }

bool looks_ahead_a_little(const Automaton& a) {
  // States that neither accept nor are dead are numbered from class_count up to `accepting`. They must have no cycle, so
  // those without successors among them can be taken away until none is left.
  std::vector<bool> ends(static_cast<std::size_t>(a.accepting / a.class_count));
  for (bool found = true; found;) {
    found = false;
    for (std::size_t s = 1; s < ends.size(); ++s) {
      const auto* next = a.next.data() + s * static_cast<std::size_t>(a.class_count);
      const bool goes_on = std::any_of(next, next + a.class_count, [&](uint16_t to) {
        return to != 0 && to < a.accepting && !ends[static_cast<std::size_t>(to / a.class_count)];
      });
      if (ends[s] || goes_on) continue;
      ends[s] = found = true;
    }
  }
  return std::all_of(ends.begin() + 1, ends.end(), [](bool end) { return end; });
}

NamedArgs automaton_params(KernelQuery& l, const Automaton& a) {
  return {{"next", l.weights("automaton", ElementType::U16, a.next)},
          {"classes", l.weights("classes of characters", ElementType::U8, a.classes)},
          {"bounds", l.weights("classes of characters", ElementType::I32, a.bounds)},
          {"count", dim_arg(static_cast<int64_t>(a.bounds.size()))},
          {"start", dim_arg(int64_t{a.start})},
          {"accepting", dim_arg(int64_t{a.accepting})}};
}

}  // namespace onnxc
