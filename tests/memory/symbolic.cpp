// Compares the arenas of models that have symbolic sizes with plans made for each size alone: symbolic [--sizes N]
// MODEL...
//
// Prints one line for each such model: how many placements its unit chooses from, and the largest excess over N
// random sizes (12 by default). The exit status is 1 where an excess is more than 2 %.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/onnxc.h"
#include "tests/memory/tool.h"

namespace onnxc {
namespace {

constexpr double kMost = 0.02;

std::map<std::string, Dim> symbols_of(const Program& program) {
  std::map<std::string, Dim> symbols;
  for (const Buffer& b : program.buffers) {
    if (b.space == Buffer::Space::Arena) b.bytes.collect_symbols(symbols);
  }
  return symbols;
}

std::string text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

/// Log-uniform in 1..1500, within the bounds of the symbol.
Sizes random_sizes(const std::map<std::string, Dim>& symbols, std::mt19937& random) {
  Sizes sizes;
  for (const auto& [name, symbol] : symbols) {
    const double exponent = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    sizes[name] = std::clamp<int64_t>(std::llround(std::pow(1500.0, exponent)), symbol.min_value(), symbol.max_value());
  }
  return sizes;
}

/// The largest excess, or 0 for a model without symbolic sizes.
double measure(const std::string& path, int64_t count) {
  const auto start = std::chrono::steady_clock::now();
  const Program program = compile_model(path, {}).program;
  if (program.arena.placements.empty()) return 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto symbols = symbols_of(program);
  std::mt19937 random(7);
  double worst = -1;
  int proved = 0;
  Sizes worst_sizes;
  for (int64_t i = 0; i < count; ++i) {
    const Sizes sizes = random_sizes(symbols, random);
    const Coloring alone = plan_at(program, sizes);
    const int64_t bytes = arena_bytes_at(program, sizes);
    const double excess = static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(alone.height, 1)) - 1;
    proved += bytes == alone.lower_bound;
    if (excess > worst) {
      worst = excess;
      worst_sizes = sizes;
    }
  }
  fmt::print("{}: {} buffers, {} placement{}, compiled in {:.2f} s; {} of {} at the bound; at worst {:.2f} % more, at {}\n", path,
             program.arena.placements.front().offsets.size(), program.arena.placements.size(),
             program.arena.placements.size() == 1 ? "" : "s", seconds.count(), proved, count, 100 * worst, text(worst_sizes));
  std::fflush(stdout);
  return worst;
}

int run(const Numbers& numbers, const std::vector<std::string>& models) {
  double worst = 0;
  for (const std::string& model : models) worst = std::max(worst, measure(model, numbers.at("--sizes")));
  return worst <= kMost ? 0 : 1;
}

}  // namespace
}  // namespace onnxc

int main(int argc, char** argv) { return onnxc::tool_main("symbolic", argc, argv, {{"--sizes", 12}}, onnxc::run); }
