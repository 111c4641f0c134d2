#include "tools/onnxc/tuner.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/select/weights_budget.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/stage.h"
#include "tools/onnxc/rounds.h"

namespace onnxc {
namespace {

void say(const std::string& line) {
  tells_progress = true;
  fmt::print(stderr, "onnxc: tune: {}\n", line);
}

/// Refuses to measure for another machine.
void check_target(const CompileOptions& options) {
  const auto target = find_target(options.target), host = find_target("native");
  if (!target) throw Error(ErrorCode::CommandLine, fmt::format("there is no target '{}'", options.target), "see onnxc --help for the list");
  if (target->triple != host->triple || !host->features.include(target->features))
    throw Error(ErrorCode::NotOnThisMachine,
                fmt::format("tuning measures on this machine, which does not run code for --target={}", options.target),
                "tune on a machine that does");
}

Compilation compile_with(const std::filesystem::path& model, CompileOptions options, const Tuning* tuning) {
  options.tuning = tuning != nullptr ? std::make_shared<const Tuning>(*tuning) : nullptr;
  return compile_model(model, options);
}

std::vector<Kind> kinds_in(const Compilation& compilation, const CompileOptions& options) {
  return kinds_of(compilation.choices, growth_limit(compilation.program, compilation.choices, options.weights_growth));
}

std::filesystem::path cache_file(const std::filesystem::path& cache) { return cache.empty() ? default_tune_cache() : cache; }

std::string count(std::size_t number, const std::string& what) { return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s"); }

/// Builds and runs all finalists of these kinds, and decides. `known`: the decisions for other kinds meanwhile.
Tuning measure(Rounds& rounds, const std::vector<Kind>& kinds, const Tuning& known, double seconds) {
  std::size_t most = 0, nodes = 0;
  for (const Kind& kind : kinds) {
    most = std::max(most, kind.finalists.size());
    nodes += kind.nodes;
  }
  say(fmt::format("{} of {} to measure in {}", count(kinds.size(), "kind"), count(nodes, "node"), count(most, "build")));
  for (std::size_t round = 0; round < most; ++round) {
    say(fmt::format("build {} of {}", round + 1, most));
    Tuning picks = picks_of_round(kinds, round);
    picks.insert(known.begin(), known.end());
    rounds.add_profiled(picks);
  }
  say(fmt::format("measuring them in turn, {:.3g} s each", seconds));
  const Timings samples = rounds.measure(seconds);
  Tuning measured;
  for (const Kind& kind : kinds) {
    Measured& of_kind = measured[kind.signature] = decide(kind, samples);
    for (const std::string& label : kind.finalists) of_kind.ns.try_emplace(label, 0);  // what could not be measured is not tried again
  }
  return measured;
}

}  // namespace

TunedModel tune(const TuneOptions& options) {
  check_target(options.compile);
  CompileOptions compile = options.compile;
  compile.specialize.clear();  // variants use the known times
  compile.tuning = nullptr;
  const auto file = cache_file(options.cache);
  const std::string setting = tune_setting(compile.target, compile.threads);
  Tuned known = read_tune_cache(file)[setting], found;

  TunedModel result;
  const Compilation by_default = compile_with(options.model, compile, nullptr);
  result.choices = by_default.choices;
  std::vector<Kind> kinds = kinds_in(by_default, compile);
  result.kinds = kinds.size();
  std::erase_if(kinds, [&](const Kind& kind) { return !options.fresh && is_known(known.nodes, kind); });
  result.measured = kinds.size();
  for (const Kind& kind : kinds) known.nodes.erase(kind.signature);
  if (!kinds.empty()) {
    Rounds rounds(options.model, options.data, compile);
    found.nodes = measure(rounds, kinds, known.nodes, options.seconds);
    for (const auto& [signature, measured] : found.nodes) known.nodes.insert_or_assign(signature, measured);
    add_to_tune_cache(file, setting, found);  // what follows may fail
  }

  const Compilation tuned = compile_with(options.model, compile, &known.nodes);
  result.tuned_choices = tuned.choices;
  result.nodes = known.nodes;
  const std::string key = combination_key(tuned.choices);
  if (combination_key(by_default.choices) == key) {
    if (!kinds.empty()) say("all nodes keep their kernels");
  } else if (const auto compared = known.comparisons.find(key); compared != known.comparisons.end() && kinds.empty()) {
    result.comparison = compared->second;
  } else if (!kinds.empty()) {
    say(fmt::format("the tuned model against the default, {:.3g} s each", options.seconds));
    result.comparison = Rounds(options.model, options.data, compile).compare(by_default, tuned, options.seconds);
    found.comparisons[key] = *result.comparison;
    add_to_tune_cache(file, setting, found);
  }
  return result;
}

CompileOptions tuned_options(const std::filesystem::path& model, const CompileOptions& options, TuneMode mode,
                             const std::optional<std::filesystem::path>& data, const std::filesystem::path& cache) {
  if (mode == TuneMode::Off || !options.stop_after.empty()) return options;
  check_target(options);
  CompileOptions tuned = options, general = options;
  general.specialize.clear();
  general.watch = {};
  general.print_after.clear();
  const auto file = cache_file(cache);
  const std::string setting = tune_setting(options.target, options.threads);
  Tuned known = read_tune_cache(file)[setting];
  Compilation compilation = compile_with(model, general, &known.nodes);
  if (mode == TuneMode::Measure &&
      !std::ranges::all_of(kinds_in(compilation, options), [&](const Kind& kind) { return is_known(known.nodes, kind); })) {
    tune({.model = model, .compile = general, .data = data, .cache = file});
    known = read_tune_cache(file)[setting];
    compilation = compile_with(model, general, &known.nodes);
  }
  const auto compared = known.comparisons.find(combination_key(compilation.choices));
  if (compared != known.comparisons.end() && compared->second.keeps_default()) return options;
  tuned.tuning = std::make_shared<const Tuning>(std::move(known.nodes));
  return tuned;
}

}  // namespace onnxc
