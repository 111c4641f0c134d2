#include "compiler/lowering/align_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/lowering/placements.h"
#include "compiler/lowering/plan_memory.h"
#include "compiler/lowering/share_alignment.h"

namespace onnxc {
namespace {

constexpr std::size_t kSamples = 64;   // at which a symbolic arena does not grow
constexpr std::size_t kLikely = 2;     // of them, the first: at which shares are compared
constexpr std::size_t kCentres = 8;    // that are tried for a buffer
constexpr std::size_t kMostPlaces = 200;
constexpr double kWorth = 0.995;       // of what is fetched: less gain is not worth a line in the unit

/// How threads write and read each buffer of the list.
std::vector<Sharing> sharing_of(const Program& program, const std::vector<BufferId>& list, int threads) {
  std::map<BufferId, Sharing> all;
  for_each_step(program.steps, [&](const Step& step, int) {
    const bool shared = step.concurrent || always_worth_sharing(step);
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

void align_fixed(Program& program, const std::vector<BufferId>& list, const std::vector<Sharing>& sharing) {
  std::vector<int64_t> offsets;
  for (BufferId id : list) offsets.push_back(program[id].offset.value());
  const auto intervals = intervals_of(program, list, [](Dim d) { return d.value(); });
  offsets = align_shares(intervals, sharing, offsets, program.arena_bytes.value());
  for (std::size_t i = 0; i < list.size(); ++i) program[list[i]].offset = offsets[i];
}

/// Symbolic sizes: a buffer may rise to the middle of an earlier one, which moves whatever lies above it.
class Centring {
 public:
  Centring(const Program& program, const std::vector<BufferId>& list, const std::vector<Sharing>& sharing, Placement& placement) : list_(list), sharing_(sharing), placement_(placement) {
    for (const Sizes& sizes : samples(program, list, kSamples)) {
      const auto value = [&](Dim d) { return d.evaluate(sizes); };
      samples_.push_back({intervals_of(program, list, value), sizes_of(program, list, value), 0});
      samples_.back().most = place(placement, samples_.back().sizes).bytes;
    }
  }

  void run() {
    if (samples_.empty() || placement_.places.size() > kMostPlaces) return;
    for (double least = foreign_share(); centre_each(least);) {
    }
  }

 private:
  struct Sample {
    std::vector<Interval> intervals;  // by list_
    std::vector<int64_t> sizes;       // by BufferId
    int64_t most;                     // bytes of the arena
  };

  int64_t size(BufferId id) const { return samples_[0].sizes[static_cast<std::size_t>(id)]; }

  bool fits() const {
    return std::ranges::all_of(samples_, [&](const Sample& s) { return place(placement_, s.sizes).bytes <= s.most; });
  }

  /// Bytes that threads fetch before they write, against all: the sum of likely samples'.
  double foreign_share() const {
    double sum = 0;
    for (const Sample& s : std::span(samples_).first(std::min(kLikely, samples_.size()))) {
      const Placed placed = place(placement_, s.sizes);
      std::vector<int64_t> offsets;
      int64_t written = 1;
      for (std::size_t i = 0; i < list_.size(); ++i) {
        offsets.push_back(placed.offsets[static_cast<std::size_t>(list_[i])]);
        written += s.intervals[i].size;
      }
      sum += static_cast<double>(foreign_bytes(s.intervals, sharing_, offsets)) / static_cast<double>(written);
    }
    return sum;
  }

  /// Places of buffers before place `end` that are at least as large as `id`, the largest first.
  std::vector<BufferId> larger_before(std::size_t end, BufferId id) const {
    std::vector<BufferId> found;
    for (std::size_t i = 0; i < end; ++i) {
      const BufferId c = placement_.places[i].buffer;
      if (std::ranges::all_of(samples_, [&](const Sample& s) { return s.sizes[static_cast<std::size_t>(c)] >= s.sizes[static_cast<std::size_t>(id)]; })) found.push_back(c);
    }
    std::ranges::stable_sort(found, std::greater{}, [&](BufferId c) { return size(c); });
    found.resize(std::min(found.size(), kCentres));
    return found;
  }

  /// Centres buffers, each where that costs least; false where nothing is better. Those that lie on others come first: they push the fewest up.
  bool centre_each(double& least) {
    bool better = false;
    for (std::size_t i = placement_.places.size(); i-- > 0;) {
      Placement::Place& place = placement_.places[i];
      std::vector<BufferId> centres = larger_before(i, place.buffer);
      centres.push_back(-1);
      BufferId best = place.centre;
      for (BufferId c : centres) {
        place.centre = c;
        if (!fits()) continue;
        if (const double share = foreign_share(); share < least * kWorth) {
          least = share;
          best = c;
          better = true;
        }
      }
      place.centre = best;
    }
    return better;
  }

  const std::vector<BufferId>& list_;
  const std::vector<Sharing>& sharing_;
  Placement& placement_;
  std::vector<Sample> samples_;
};

}  // namespace

void align_shares(Program& program, int threads) {
  const std::vector<BufferId> list = planned_buffers(program);
  const std::vector<Sharing> sharing = sharing_of(program, list, threads);
  if (program.placements.empty()) return align_fixed(program, list, sharing);
  std::vector<Placement> placements = program.placements;
  for (Placement& placement : placements) Centring(program, list, sharing, placement).run();
  program.placements = std::move(placements);
}

}  // namespace onnxc
