#include "tools/onnxc/step_times.h"

#include <algorithm>
#include <chrono>

#include "compiler/support/error.h"
#include "tools/onnxc/blocks.h"

namespace onnxc {
namespace {

/// The counters of one step, over all blocks.
struct Sum {
  uint64_t calls = 0, total = 0, least = 0, shares = 0;
  std::vector<double> run_ticks;  ///< of each block
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

void add_counters(const onnxc_profile& profile, int64_t runs, std::vector<Sum>& sums) {
  for (int32_t k = 0; k < profile.step_count; ++k) {
    Sum& sum = sums[static_cast<std::size_t>(k)];
    onnxc_step_ticks ticks{};
    profile.read(k, &ticks);
    sum.calls += ticks.calls;
    sum.total += ticks.total;
    if (ticks.calls > 0) sum.least = sum.least == 0 ? ticks.least : std::min(sum.least, ticks.least);
    sum.run_ticks.push_back(static_cast<double>(ticks.total) / static_cast<double>(runs));
    for (int32_t share = 0; profile.steps[k].shared != 0 && share < profile.part_count; ++share) {
      onnxc_part_ticks of_share{};
      profile.read_part(k, share, &of_share);
      sum.shares += of_share.total;
    }
  }
}

}  // namespace

StepTimes measure_steps(const onnxc_profile& profile, ModelCall& call, double seconds, int threads, std::string_view variant) {
  using Clock = std::chrono::steady_clock;
  const int64_t runs = calls_in_a_block(call);
  std::vector<Sum> sums(static_cast<std::size_t>(profile.step_count));
  std::vector<double> run_ns;
  StepTimes times;
  const auto begin = Clock::now();
  const uint64_t first_tick = profile.clock();
  for (double total = 0; total < seconds || run_ns.size() < kFewestBlocks;) {
    profile.reset();
    const double took = time_block(call, runs);
    total += took;
    times.runs += runs;
    run_ns.push_back(1e9 * took / static_cast<double>(runs));
    add_counters(profile, runs, sums);
  }
  const uint64_t ticks = profile.clock() - first_tick;
  times.tick_ns =
      std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(std::max<uint64_t>(ticks, 1));
  std::vector<double> between_ns;
  for (std::size_t block = 0; block < run_ns.size(); ++block) {
    double in_steps = 0;
    for (const Sum& sum : sums) in_steps += sum.run_ticks[block] * times.tick_ns;
    between_ns.push_back(std::max(0.0, run_ns[block] - in_steps));
  }
  times.between_ns = median(std::move(between_ns));
  times.run_ns = median(std::move(run_ns));
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Sum& sum = sums[k];
    const onnxc_profiled_step& step = profile.steps[k];
    if (step.variant != variant) {
      ONNXC_CHECK(sum.calls == 0, "a run takes the steps of one variant");
      continue;
    }
    StepTime& time = times.steps.emplace_back();
    time.number = step.number;
    time.calls = static_cast<int64_t>(sum.calls);
    time.run_ns = median(sum.run_ticks) * times.tick_ns;
    if (sum.calls == 0) continue;
    time.mean_ns = static_cast<double>(sum.total) / static_cast<double>(sum.calls) * times.tick_ns;
    time.best_ns = static_cast<double>(sum.least) * times.tick_ns;
    if (step.shared != 0 && sum.total > 0) time.busy = static_cast<double>(sum.shares) / static_cast<double>(sum.total) / threads;
  }
  return times;
}

}  // namespace onnxc
