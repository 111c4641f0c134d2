// onnxc bench: figures over blocks of calls.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/driver/files.h"
#include "tools/driver/session.h"
#include "tools/onnxc/blocks.h"
#include "tools/onnxc/run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

struct Latencies {
  std::vector<double> blocks;  ///< seconds for each call, sorted
  int64_t calls = 0;

  double quantile(double q) const { return onnxc::quantile(blocks, q); }
};

Latencies measure(ModelCall& call, double seconds) {
  const int64_t calls = calls_in_a_block(call);
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
  const CompiledModel compiled = compile_and_load(options.model, options.compile);
  const onnxc_model& unit = *compiled.model;
  const Feed feed = find_feed(options.model, options.data, compiled);
  const ThreadTeam team(options.compile.threads);
  ModelCall call(unit, feed.inputs, team.executor());
  const Latencies latencies = measure(call, options.seconds);

  fmt::print("{}: median {}, best {}, p90 {} a call; {} calls in {} blocks, {} thread{}\n", options.model.string(),
             duration(latencies.quantile(0.5)), duration(latencies.blocks.front()), duration(latencies.quantile(0.9)), latencies.calls,
             latencies.blocks.size(), options.compile.threads, options.compile.threads == 1 ? "" : "s");
  fmt::print("arena {} bytes, weights {} bytes{}, compiled in {:.2f} s, built in {:.2f} s\n", call.arena_bytes(), unit.weights_bytes,
             compiled.huge_pages ? " in memory of huge pages" : "", compiled.compile_seconds, compiled.build_seconds);
  const char* const device = unit.device == ONNXC_CPU ? "cpu" : unit.device == ONNXC_CUDA ? "cuda" : "emulator";
  const std::size_t device_arena_bytes = unit.device == ONNXC_CPU ? 0 : unit.device_arena_bytes(call.symbols().data());
  if (unit.device != ONNXC_CPU)
    fmt::print("in one session on {}, with an arena of {} bytes there\n", unit.device == ONNXC_CUDA ? "a GPU" : "the emulated GPU",
               device_arena_bytes);
  if (options.json) {
    nlohmann::ordered_json figures = {{"model", options.model.string()},
                                      {"data", feed.source()},
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
    if (unit.device != ONNXC_CPU) figures.update({{"device", device}, {"device_arena_bytes", device_arena_bytes}});
    write_file(*options.json, figures.dump(1) + '\n');
  }
  return 0;
}

}  // namespace onnxc
