#include "tools/onnxc/rounds.h"

#include <algorithm>

#include "tools/onnxc/blocks.h"
#include "tools/onnxc/step_times.h"

namespace onnxc {
namespace {

constexpr int kTurns = 8;
constexpr double kNoLimit = 1e6;  // for the growth of weights

/// Nanoseconds of a run, by the value that is computed.
std::map<std::string, double> times_by_value(const StepTimes& times, const std::vector<std::string>& values) {
  std::map<std::string, double> by_value;
  for (const StepTime& step : times.steps) by_value[values.at(static_cast<std::size_t>(step.number - 1))] += step.run_ns;
  return by_value;
}

}  // namespace

Rounds::Build Rounds::load(const Compilation& compilation, const CompileOptions& options) {
  Build build{build_and_load(compilation, options), compilation.choices, {}, {}, {}};
  for_each_step(compilation.program.steps, [&](const Step& step, int) { build.values.push_back(step.value); });
  const Feed feed = find_feed(model_, data_, build.compiled);
  build.call = std::make_unique<ModelCall>(*build.compiled.model, feed.inputs, team_.executor());
  return build;
}

void Rounds::add_profiled(const Tuning& tuning) {
  CompileOptions options = options_;
  options.profile = true;
  options.weights_growth = kNoLimit;  // limits apply only to the final result
  options.max_weights = CompilerOptions().max_weights;
  options.max_arena.reset();
  options.max_code.reset(), options.max_flash.reset(), options.max_ram.reset(), options.max_stack.reset();
  options.tuning = std::make_shared<const Tuning>(tuning);
  builds_.push_back(load(compile_model(model_, options), options));
}

Timings Rounds::measure(double seconds) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Build& build : builds_) {
      for (const auto& [value, time] :
           times_by_value(measure_steps(*build.compiled.profile, *build.call, seconds / kTurns, options_.threads, ""), build.values)) {
        const auto [best, is_first] = build.best.try_emplace(value, time);
        best->second = std::min(best->second, time);
      }
    }
  }
  Timings samples;
  for (const Build& build : builds_) {
    std::map<std::string, int> choices_of;
    for (const Choice& choice : build.choices) ++choices_of[choice.value];
    for (const Choice& choice : build.choices) {
      const auto best = build.best.find(choice.value);
      if (best != build.best.end() && choices_of[choice.value] == 1)
        samples[choice.signature][choice.candidates[choice.winner].label()].push_back(best->second);
    }
  }
  return samples;
}

TunedRun Rounds::compare(const Compilation& by_default, const Compilation& tuned, double seconds) {
  Build before = load(by_default, options_), after = load(tuned, options_);
  const int64_t calls = calls_in_a_block(*before.call);
  time_block(*after.call, calls);
  std::vector<double> default_ns, tuned_ns, ratios;
  for (double total = 0; total < 2 * seconds || ratios.size() < 2 * kFewestBlocks;) {
    const bool is_even = ratios.size() % 2 == 0;
    const double first = time_block(is_even ? *before.call : *after.call, calls),
                 second = time_block(is_even ? *after.call : *before.call, calls);
    total += first + second;
    default_ns.push_back(1e9 * (is_even ? first : second) / static_cast<double>(calls));
    tuned_ns.push_back(1e9 * (is_even ? second : first) / static_cast<double>(calls));
    ratios.push_back(tuned_ns.back() / default_ns.back());
  }
  // Neighbouring blocks suffer the same disturbances, so the median of their ratios is better than the ratio of
  // medians.
  const double time = median_of(std::move(default_ns));
  return {time, time * median_of(std::move(ratios))};
}

}  // namespace onnxc
