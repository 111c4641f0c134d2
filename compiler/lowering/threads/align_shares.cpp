#include "compiler/lowering/threads/align_shares.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/threads/align_shares_search.h"

namespace onnxc {
namespace {

constexpr std::size_t kLikely = 2;  // the number of samples, from the first on, at which thread shares are compared
constexpr std::size_t kTried = 5;   // the number of buffers, the largest ones, beside which another is tried
constexpr std::size_t kMostOffsets = 100;
constexpr int kMovePasses = 4;
// Buffers that are smaller than the largest by this factor are not moved.
constexpr int64_t kSmall = 64;
// The arena grows by at most this fraction.
constexpr int64_t kQuarter = 4, kLittle = 16;
// The L2 caches of two processors, in bytes. An arena that exceeds them may only grow a little, since lines that were used
// before are more likely to be in a cache than additional ones.
constexpr int64_t kCaches = 2 << 20;
// Bytes that threads must fetch less in a run for each byte by which the arena grows.
constexpr int64_t kFetched = 4;
// A move must reduce the fetched bytes by this factor: smaller gains are not worth a line in the unit.
constexpr double kWorth = 0.995;

/// How threads write and read each buffer of the list.
std::vector<Sharing> sharing_of(const Program& program, const std::vector<BufferId>& list, int threads) {
  std::map<BufferId, Sharing> all;
  for_each_step(program.steps, [&](const Step& step, int) {
    const bool shared = step.call() != nullptr && (step.call()->concurrent || always_worth_sharing(*step.call()));
    for_each_pointer(step, [&](const PointerArg& p) {
      Sharing& sharing = all[root_of(program, p.buffer)];
      if (shared && p.writes) sharing.shares = threads;
      if (!shared && !p.writes) sharing.gathered = true;
    });
  });
  std::vector<Sharing> sharing;
  for (BufferId id : list) sharing.push_back(all[id]);
  return sharing;
}

void align_fixed(Program& program, const std::vector<BufferId>& list, const std::vector<Sharing>& sharing, bool may_grow) {
  const auto intervals = intervals_of(program, list, [](Dim d) { return d.value(); });
  std::vector<int64_t> planned;
  for (BufferId id : list) planned.push_back(program[id].offset.value());
  const int64_t height = program.arena.bytes.value();
  std::vector<int64_t> heights{height};
  if (may_grow) heights.push_back(aligned_bytes(height + height / kLittle, program.arena.alignment));
  if (may_grow && height + height / kQuarter <= kCaches)
    heights.push_back(aligned_bytes(height + height / kQuarter, program.arena.alignment));
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t most : heights) {
    const std::vector<int64_t> offsets = align_shares(intervals, sharing, planned, most);
    int64_t end = height;
    for (std::size_t i = 0; i < list.size(); ++i) end = std::max(end, offsets[i] + intervals[i].size);
    if (const int64_t cost = foreign_bytes(intervals, sharing, offsets) + (end - height) / kFetched; cost < least) {
      least = cost;
      for (std::size_t i = 0; i < list.size(); ++i) program[list[i]].offset = offsets[i];
      program.arena.bytes = end;
    }
    if (least == 0) return;
  }
}

/// Symbolic sizes. A buffer may rise to the middle of an earlier one, or above it, which moves everything that lies
/// above. The arena may grow by a quarter at any size: small arenas gain by it, and large ones, which no cache holds,
/// lose nothing.
class Raising {
 public:
  Raising(const Program& program, const std::vector<BufferId>& list, const std::vector<Sharing>& sharing, bool may_grow,
          Placement& placement)
      : list_(list), sharing_(sharing), placement_(placement), alignment_(program.arena.alignment) {
    for (const Sizes& sizes : samples(program, list, std::clamp<std::size_t>(10'000 / list.size(), 16, 400))) {
      const auto value = [&](Dim d) { return d.evaluate(sizes); };
      samples_.push_back({intervals_of(program, list, value), sizes_of(program, list, value), 0, 0});
      samples_.back().planned = offsets_at(placement, samples_.back().sizes, alignment_).bytes;
      samples_.back().most = samples_.back().planned + (may_grow ? samples_.back().planned / kQuarter : 0);
    }
  }

  void run() {
    if (samples_.empty() || placement_.offsets.size() > kMostOffsets) return;
    double least = cost();
    for (int pass = 0; pass < kMovePasses && move_each(least);) ++pass;
  }

 private:
  struct Sample {
    std::vector<Interval> intervals;  // by list_
    PerBuffer<int64_t> sizes;
    // Bytes of the arena: before anything is moved, and the limit.
    int64_t planned, most;
  };

  int64_t size(BufferId id) const { return samples_[0].sizes[id]; }

  bool fits() const {
    return std::ranges::all_of(samples_, [&](const Sample& s) { return offsets_at(placement_, s.sizes, alignment_).bytes <= s.most; });
  }

  /// The bytes that threads fetch before they write, plus the growth of the arena, relative to all bytes written; the
  /// sum over likely samples.
  double cost() const {
    double sum = 0;
    for (const Sample& s : std::span(samples_).first(std::min(kLikely, samples_.size()))) {
      const ArenaOffsets arena = offsets_at(placement_, s.sizes, alignment_);
      std::vector<int64_t> offsets;
      int64_t written = 1;
      for (std::size_t i = 0; i < list_.size(); ++i) {
        offsets.push_back(arena.offsets[list_[i]]);
        written += s.intervals[i].size;
      }
      sum += static_cast<double>(foreign_bytes(s.intervals, sharing_, offsets) + (arena.bytes - s.planned) / kFetched) /
             static_cast<double>(written);
    }
    return sum;
  }

  /// Other ways to place the i-th buffer: centred on a larger one, or above one that it is not above yet.
  std::vector<Placement::Offset> ways(std::size_t i) const {
    const Placement::Offset& now = placement_.offsets[i];
    std::vector<BufferId> before;
    for (std::size_t k = 0; k < i; ++k) before.push_back(placement_.offsets[k].buffer);
    std::ranges::stable_sort(before, std::greater{}, [&](BufferId c) { return size(c); });
    before.resize(std::min(before.size(), kTried));
    std::vector<Placement::Offset> ways;
    for (BufferId c : before) {
      if (std::ranges::all_of(samples_, [&](const Sample& s) { return s.sizes[c] >= s.sizes[now.buffer]; }))
        ways.push_back({now.buffer, now.below, c});
      if (std::ranges::find(now.below, c) != now.below.end()) continue;
      ways.push_back(now);
      ways.back().below.push_back(c);
    }
    if (now.centre >= 0) ways.push_back({now.buffer, now.below});
    return ways;
  }

  /// Moves each buffer to where it costs least. Returns false if no move helps. The last ones come first, since the
  /// fewest buffers lie on them.
  bool move_each(double& least) {
    bool better = false;
    const int64_t largest = std::ranges::max(samples_[0].sizes);
    for (std::size_t i = placement_.offsets.size(); i-- > 0;) {
      if (size(placement_.offsets[i].buffer) < largest / kSmall) continue;
      Placement::Offset best = placement_.offsets[i];
      for (const Placement::Offset& way : ways(i)) {
        placement_.offsets[i] = way;
        if (!fits()) continue;
        if (const double c = cost(); c < least * kWorth) {
          least = c;
          best = way;
          better = true;
        }
      }
      placement_.offsets[i] = std::move(best);
    }
    return better;
  }

  const std::vector<BufferId>& list_;
  const std::vector<Sharing>& sharing_;
  Placement& placement_;
  int64_t alignment_;
  std::vector<Sample> samples_;
};

}  // namespace

void align_shares(Program& program, int threads, bool may_grow) {
  const std::vector<BufferId> list = planned_buffers(program);
  const std::vector<Sharing> sharing = sharing_of(program, list, threads);
  if (program.arena.placements.empty()) return align_fixed(program, list, sharing, may_grow);
  for (Placement& placement : program.arena.placements) Raising(program, list, sharing, may_grow, placement).run();
}

}  // namespace onnxc
