#include "compiler/lowering/memory/plan_memory.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/function.h"
#include "codegen/interface.h"
#include "compiler/lowering/threads/align_shares.h"
#include "tests/lowering/random_intervals.h"
#include "tools/driver/build_library.h"
#include "tools/driver/unit_library.h"

namespace onnxc {
namespace {

/// A program whose steps write and read its buffers so that they live as the intervals say.
Program program_of(const std::vector<Interval>& intervals, const DimList& bytes, const DimList& symbols) {
  Program program;
  program.inputs = {0};
  program.buffers.push_back({.name = "x", .space = Buffer::Space::Input, .element = ElementType::F32, .extents = symbols});
  int steps = 0;
  for (const Interval& i : intervals) steps = std::max(steps, i.last);
  program.steps.resize(static_cast<std::size_t>(steps));
  for (Step& step : program.steps) {
    step.call()->parallel = true;
    step.call()->macs = kForkMacs;
  }
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    program.buffers.push_back({.name = "b" + std::to_string(k), .bytes = bytes[k]});
    for (const int step : {intervals[k].first, intervals[k].last - 1})
      program.steps[static_cast<std::size_t>(step)].call()->args.emplace_back(
          PointerArg{.buffer = static_cast<BufferId>(k + 1), .writes = step == intervals[k].first});
  }
  return program;
}

struct RandomProgram {
  Program program;
  DimList symbols;
};

/// Sizes are constant, linear or quadratic in up to three symbols. Now and then a constant is added.
RandomProgram random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int64_t>(random() % n); };
  RandomProgram result;
  for (int64_t k = 0, count = 1 + below(3); k < count; ++k) result.symbols.push_back(Dim::symbol("plan_n" + std::to_string(k)));
  const int count = 3 + static_cast<int>(below(38));
  const auto intervals = below(3) == 0 ? random_intervals(random, count, 20, 6) : network_intervals(random, count);
  const auto any = [&] { return result.symbols[static_cast<std::size_t>(below(static_cast<unsigned>(result.symbols.size())))]; };
  DimList bytes;
  for (int i = 0; i < count; ++i) {
    switch (below(4)) {
      case 0: bytes.emplace_back(64 * (1 + below(500))); break;
      case 1: bytes.push_back(any() * (4 * (1 + below(256)))); break;
      case 2: bytes.push_back(any() * any() * (4 * (1 + below(64)))); break;
      default: bytes.push_back(any() * (4 * (1 + below(256))) + below(4096));
    }
  }
  result.program = program_of(intervals, bytes, result.symbols);
  return result;
}

/// Every order of magnitude up to 2000 is equally likely.
Sizes random_sizes(const DimList& symbols, std::mt19937& random) {
  Sizes sizes;
  for (Dim symbol : symbols) {
    const int64_t magnitude = int64_t{1} << (random() % 11);
    sizes[symbol.name()] = magnitude + static_cast<int64_t>(random()) % magnitude;
  }
  return sizes;
}

TEST_CASE("a symbolic arena takes at most 2 % more than a plan for its size alone") {
  std::size_t several = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    auto [program, symbols] = random_program(seed);
    plan_memory(program);
    check_plan(program);
    if (program.arena.placements.empty()) continue;
    several += program.arena.placements.size() > 1;
    CHECK(program.arena.placements.size() <= 4);
    const int64_t most = most_arena_bytes(program);
    std::mt19937 random(1'000'000 + seed);
    for (int trial = 0; trial < 20; ++trial) {
      const Sizes sizes = random_sizes(symbols, random);
      const Coloring alone = plan_at(program, sizes, {.effort = 100'000});
      const int64_t bytes = arena_bytes_at(program, sizes);
      INFO("seed " << seed << " trial " << trial << ": " << bytes << " for " << alone.height);
      CHECK(bytes >= alone.lower_bound);
      CHECK(static_cast<double>(bytes) <= 1.02 * static_cast<double>(alone.height));
      CHECK(bytes <= most);
    }
  }
  CHECK(several > 0);
  CHECK(several < 50);
}

/// Builds the unit's function `plan`, which gives the arena for the dimensions.
UnitLibrary build_plan(const Program& program, const DimList& symbols) {
  const Interface interface(program, false);
  const std::string text = FunctionText(program, interface, false, nullptr).print({});
  std::string source = "#include <onnxc/base.hpp>\nstruct Dims {\n";
  for (Dim symbol : symbols) source += "  std::int64_t " + interface.symbol_members.at(symbol.name()) + ";\n";
  source += "};\n" + text.substr(0, text.find("onnxc::Status steps")) +
            "extern \"C\" std::int64_t bytes_at(const Dims* dims) { return plan(*dims).bytes; }\n";
  BuildRequest request;
  request.files.push_back({"plan.cpp", Text(source)});
  request.to_compile.push_back("plan.cpp");
  request.flags = {"-Wall", "-Wextra", "-Werror"};
  return UnitLibrary(build_library(request));
}

TEST_CASE("shares of a symbolic arena are aligned: it stays valid and hardly grows") {
  std::size_t centred = 0, larger = 0, trials = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto [program, symbols] = random_program(seed);
    plan_memory(program);
    if (program.arena.placements.empty()) continue;
    const Program before = program;
    align_shares(program, 2);
    check_plan(program);
    for (const Placement& placement : program.arena.placements)
      centred += static_cast<std::size_t>(std::ranges::count_if(placement.offsets, [](const auto& offset) { return offset.centre >= 0; }));
    CHECK(most_arena_bytes(program) >= most_arena_bytes(before));
    std::mt19937 random(2'000'000 + seed);
    for (int trial = 0; trial < 20; ++trial) {
      const Sizes sizes = random_sizes(symbols, random);
      const int64_t bytes = arena_bytes_at(program, sizes), least = arena_bytes_at(before, sizes);
      INFO("seed " << seed << " trial " << trial << ": " << bytes << " for " << least);
      CHECK(bytes >= least);
      CHECK(static_cast<double>(bytes) <= 1.02 * static_cast<double>(least));
      ++trials;
      larger += bytes > least;
    }
  }
  CHECK(centred > 20);
  CHECK(larger * 20 < trials);
}

TEST_CASE("the emitted plan takes what was planned") {
  // Both kinds of units: with several placements and with one.
  std::set<bool> seen;
  for (unsigned seed = 0; seen.size() < 2; ++seed) {
    REQUIRE(seed < 1000);
    auto [program, symbols] = random_program(seed);
    plan_memory(program);
    align_shares(program, 2);
    const bool centred = std::ranges::any_of(program.arena.placements, [](const Placement& p) {
      return std::ranges::any_of(p.offsets, [](const auto& offset) { return offset.centre >= 0; });
    });
    if (!centred || !seen.insert(program.arena.placements.size() > 1).second) continue;
    const UnitLibrary library = build_plan(program, symbols);
    const auto bytes_at = reinterpret_cast<int64_t (*)(const int64_t*)>(library.symbol("bytes_at"));
    REQUIRE(bytes_at != nullptr);
    std::mt19937 random(seed);
    for (int trial = 0; trial < 50; ++trial) {
      const Sizes sizes = random_sizes(symbols, random);
      std::vector<int64_t> dims;
      for (Dim symbol : symbols) dims.push_back(sizes.at(symbol.name()));
      CHECK(bytes_at(dims.data()) == arena_bytes_at(program, sizes));
    }
  }
}

TEST_CASE("what a symbolic arena may take at most") {
  const Dim n = Dim::symbol("plan_bounded", 1, 100), m = Dim::symbol("plan_boundless");
  const std::vector<Interval> chain = {{0, 0, 2, 64}, {0, 1, 3, 64}, {0, 2, 4, 64}};
  Program bounded = program_of(chain, {n * 64, n * 128, n * 64}, {n});
  plan_memory(bounded);
  CHECK(most_arena_bytes(bounded) == 19'200);
  CHECK(arena_bytes_at(bounded, {{"plan_bounded", 10}}) == 1'920);
  const LikelyArena likely = likely_arena(bounded);
  CHECK(likely.bytes == 64 * 192);
  CHECK(likely.lower_bound == likely.bytes);
  Program boundless = program_of(chain, {n * 64, m * 128, n * 64}, {n, m});
  plan_memory(boundless);
  CHECK(most_arena_bytes(boundless) >= kEndless);
}

}  // namespace
}  // namespace onnxc
