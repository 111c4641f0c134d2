// Calls are timed in blocks of 20 ms and more, so that the clock's own cost and resolution vanish; the figures are over blocks.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/driver/files.h"
#include "tools/driver/session.h"
#include "tools/onnxc/run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr double kBlockSeconds = 0.02;
constexpr std::size_t kFewestBlocks = 5;

struct Latencies {
  std::vector<double> blocks;  ///< seconds a call, sorted
  int64_t calls = 0;

  double quantile(double q) const { return blocks[static_cast<std::size_t>(std::llround(q * static_cast<double>(blocks.size() - 1)))]; }
};

/// Seconds of `calls` calls.
double time_block(ModelCall& call, int64_t calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) {
    if (const int32_t status = call.run(); status != 0) throw Error(ErrorKind::Invalid, fmt::format("run: {}", status_text(status)));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Latencies measure(ModelCall& call, double seconds) {
  time_block(call, 1);  // first touch of weights and arena
  int64_t calls = 1;
  for (double took = time_block(call, calls); took < kBlockSeconds; took = time_block(call, calls)) {
    calls = std::max(2 * calls, static_cast<int64_t>(1.1 * kBlockSeconds / std::max(took, 1e-7) * static_cast<double>(calls)));
  }
  Latencies result;
  double total = 0;
  while (total < seconds || result.blocks.size() < kFewestBlocks) {
    const double took = time_block(call, calls);
    total += took;
    result.calls += calls;
    result.blocks.push_back(took / static_cast<double>(calls));
  }
  std::ranges::sort(result.blocks);
  return result;
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

}  // namespace

int bench_command(const BenchOptions& options) {
  const ModelSummary model = summarize_model(options.model);
  const std::vector<fs::path> sets = data_sets_for(options.model, options.data);
  const CompiledModel compiled = compile_and_load(options.model, options.compile);
  const onnxc_model& unit = *compiled.model;

  std::vector<HostValue> made_up;
  std::optional<DataSet> data;
  std::vector<const HostValue*> inputs;
  if (sets.empty()) {
    made_up = random_inputs(unit);
    for (const HostValue& value : made_up) inputs.push_back(&value);
  } else {
    data = read_data_set(sets[0], model);
    inputs = feeds(unit, model, *data);
  }
  const ThreadTeam team(options.compile.threads);
  ModelCall call(unit, inputs, team.executor());
  const Latencies latencies = measure(call, options.seconds);

  fmt::print("{}: median {}, best {}, p90 {} a call; {} calls in {} blocks, {} thread{}\n", options.model.string(),
             duration(latencies.quantile(0.5)), duration(latencies.blocks.front()), duration(latencies.quantile(0.9)), latencies.calls,
             latencies.blocks.size(), options.compile.threads, options.compile.threads == 1 ? "" : "s");
  fmt::print("arena {} bytes, weights {} bytes, compiled in {:.2f} s, built in {:.2f} s\n", call.arena_bytes(), unit.weights_bytes,
             compiled.compile_seconds, compiled.build_seconds);
  if (options.json) {
    const nlohmann::ordered_json figures = {{"model", options.model.string()},
                                            {"data", sets.empty() ? "made up" : sets[0].string()},
                                            {"target", unit.target},
                                            {"threads", options.compile.threads},
                                            {"median_seconds", latencies.quantile(0.5)},
                                            {"best_seconds", latencies.blocks.front()},
                                            {"p90_seconds", latencies.quantile(0.9)},
                                            {"blocks", latencies.blocks.size()},
                                            {"calls", latencies.calls},
                                            {"arena_bytes", call.arena_bytes()},
                                            {"weights_bytes", unit.weights_bytes},
                                            {"compile_seconds", compiled.compile_seconds},
                                            {"build_seconds", compiled.build_seconds}};
    write_file(*options.json, figures.dump(1) + '\n');
  }
  return 0;
}

}  // namespace onnxc
