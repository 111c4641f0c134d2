#include "compiler/lowering/threads/shared_offsets.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/threads/shared_offsets_search.h"

namespace onnxc {
namespace {

constexpr std::size_t kLikely = 2;  // samples, the first, at which shares are compared
constexpr std::size_t kTried = 5;   // buffers, the largest, by which another is placed
constexpr std::size_t kMostPlaces = 100;
constexpr int kPasses = 4;
constexpr int64_t kSmall = 64;                 // what is smaller than the largest buffer by this factor stays
constexpr int64_t kQuarter = 4, kLittle = 16;  // the arena grows by at most this part of it
constexpr int64_t kCaches =
    2
    << 20;  // bytes of two processors' L2: what does not fit may only grow a little, as lines that were used before are the more likely to be in one
constexpr int64_t kFetched = 4;   // bytes that an added byte of arena has to spare threads from fetching in a run
constexpr double kWorth = 0.995;  // of what is fetched: less gain is not worth a line in the unit

/// How threads write and read each buffer of the list.
std::vector<Sharing> sharing_of(const Program& program, const std::vector<BufferId>& list, int threads) {
  std::map<BufferId, Sharing> all;
  for_each_step(program.steps, [&](const Step& step, int) {
    const bool shared = step.call() != nullptr && (step.call()->concurrent || always_worth_sharing(*step.call()));
    for_each_pointer(step, [&](const PointerArg& p) {
      Sharing& sharing = all[root_of(program, p.buffer)];
      if (shared && p.writes) sharing.parts = threads;
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
  const int64_t height = program.arena_bytes.value();
  std::vector<int64_t> heights{height};
  if (may_grow) heights.push_back(aligned(height + height / kLittle));
  if (may_grow && height + height / kQuarter <= kCaches) heights.push_back(aligned(height + height / kQuarter));
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t most : heights) {
    const std::vector<int64_t> offsets = align_shares(intervals, sharing, planned, most);
    int64_t end = height;
    for (std::size_t i = 0; i < list.size(); ++i) end = std::max(end, offsets[i] + intervals[i].size);
    if (const int64_t cost = foreign_bytes(intervals, sharing, offsets) + (end - height) / kFetched; cost < least) {
      least = cost;
      for (std::size_t i = 0; i < list.size(); ++i) program[list[i]].offset = offsets[i];
      program.arena_bytes = end;
    }
    if (least == 0) return;
  }
}

/// Symbolic sizes: a buffer may rise to the middle of an earlier one or above it, which moves whatever lies above. The arena may grow by a quarter at any size: small ones gain by it, and
/// large ones, which no cache holds, lose nothing.
class Raising {
 public:
  Raising(const Program& program, const std::vector<BufferId>& list, const std::vector<Sharing>& sharing, bool may_grow,
          Placement& placement)
      : list_(list), sharing_(sharing), placement_(placement) {
    for (const Sizes& sizes : samples(program, list, std::clamp<std::size_t>(10'000 / list.size(), 16, 400))) {
      const auto value = [&](Dim d) { return d.evaluate(sizes); };
      samples_.push_back({intervals_of(program, list, value), sizes_of(program, list, value), 0, 0});
      samples_.back().planned = place(placement, samples_.back().sizes).bytes;
      samples_.back().most = samples_.back().planned + (may_grow ? samples_.back().planned / kQuarter : 0);
    }
  }

  void run() {
    if (samples_.empty() || placement_.places.size() > kMostPlaces) return;
    double least = cost();
    for (int pass = 0; pass < kPasses && move_each(least);) ++pass;
  }

 private:
  struct Sample {
    std::vector<Interval> intervals;  // by list_
    std::vector<int64_t> sizes;       // by BufferId
    int64_t planned, most;            // bytes of the arena: before anything is moved, and at most
  };

  int64_t size(BufferId id) const { return samples_[0].sizes[static_cast<std::size_t>(id)]; }

  bool fits() const {
    return std::ranges::all_of(samples_, [&](const Sample& s) { return place(placement_, s.sizes).bytes <= s.most; });
  }

  /// What threads fetch before they write and what the arena has grown by, against all that is written: the sum of likely samples'.
  double cost() const {
    double sum = 0;
    for (const Sample& s : std::span(samples_).first(std::min(kLikely, samples_.size()))) {
      const Placed placed = place(placement_, s.sizes);
      std::vector<int64_t> offsets;
      int64_t written = 1;
      for (std::size_t i = 0; i < list_.size(); ++i) {
        offsets.push_back(placed.offsets[static_cast<std::size_t>(list_[i])]);
        written += s.intervals[i].size;
      }
      sum += static_cast<double>(foreign_bytes(s.intervals, sharing_, offsets) + (placed.bytes - s.planned) / kFetched) /
             static_cast<double>(written);
    }
    return sum;
  }

  /// Other ways to place the i-th buffer: in the middle of a larger one, or above one that is not live with it.
  std::vector<Placement::Place> ways(std::size_t i) const {
    const Placement::Place& now = placement_.places[i];
    std::vector<BufferId> before;
    for (std::size_t k = 0; k < i; ++k) before.push_back(placement_.places[k].buffer);
    std::ranges::stable_sort(before, std::greater{}, [&](BufferId c) { return size(c); });
    before.resize(std::min(before.size(), kTried));
    std::vector<Placement::Place> ways;
    for (BufferId c : before) {
      const auto index = [](BufferId id) { return static_cast<std::size_t>(id); };
      if (std::ranges::all_of(samples_, [&](const Sample& s) { return s.sizes[index(c)] >= s.sizes[index(now.buffer)]; }))
        ways.push_back({now.buffer, now.below, c});
      if (std::ranges::find(now.below, c) != now.below.end()) continue;
      ways.push_back(now);
      ways.back().below.push_back(c);
    }
    if (now.centre >= 0) ways.push_back({now.buffer, now.below});
    return ways;
  }

  /// Moves buffers, each to where that costs least; false where nothing is better. Those that lie on others come first: they push the fewest up.
  bool move_each(double& least) {
    bool better = false;
    const int64_t largest = std::ranges::max(samples_[0].sizes);
    for (std::size_t i = placement_.places.size(); i-- > 0;) {
      if (size(placement_.places[i].buffer) < largest / kSmall) continue;
      Placement::Place best = placement_.places[i];
      for (const Placement::Place& way : ways(i)) {
        placement_.places[i] = way;
        if (!fits()) continue;
        if (const double c = cost(); c < least * kWorth) {
          least = c;
          best = way;
          better = true;
        }
      }
      placement_.places[i] = std::move(best);
    }
    return better;
  }

  const std::vector<BufferId>& list_;
  const std::vector<Sharing>& sharing_;
  Placement& placement_;
  std::vector<Sample> samples_;
};

}  // namespace

void align_shares(Program& program, int threads, bool may_grow) {
  const std::vector<BufferId> list = planned_buffers(program);
  const std::vector<Sharing> sharing = sharing_of(program, list, threads);
  if (program.placements.empty()) return align_fixed(program, list, sharing, may_grow);
  for (Placement& placement : program.placements) Raising(program, list, sharing, may_grow, placement).run();
}

}  // namespace onnxc
