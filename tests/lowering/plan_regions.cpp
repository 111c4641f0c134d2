#include "compiler/lowering/memory/plan_regions.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "compiler/budgets.h"
#include "compiler/lowering/memory/accesses.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/support/error.h"
#include "tests/lowering/random_intervals.h"

namespace onnxc {
namespace {

struct Built {
  Program program;

  Built() { program.arena.alignment = 8; }

  BufferId buffer(const std::string& name, int64_t floats, Buffer::Space space = Buffer::Space::Arena) {
    program.buffers.push_back(
        {.name = name, .space = space, .element = ElementType::F32, .extents = {floats}, .bytes = 4 * floats, .alignment = 8});
    return static_cast<BufferId>(program.buffers.size()) - 1;
  }
  BufferId weights(const std::string& name, int64_t floats) {
    const BufferId id = buffer(name, floats, Buffer::Space::Weights);
    program[id].index = static_cast<int>(program.weights.size());
    program.weights.push_back(
        {.name = name, .from = name, .element = ElementType::F32, .bytes = Bytes(static_cast<std::size_t>(4 * floats))});
    return id;
  }
  void step(int64_t macs, std::vector<Arg> args) { program.steps.push_back({call(macs, std::move(args))}); }

  static Call call(int64_t macs, std::vector<Arg> args) {
    Call call;
    call.kernel = "k";
    call.args = std::move(args);
    call.macs = macs;
    return call;
  }
};

PointerArg reads(BufferId id) { return {id}; }
PointerArg writes(BufferId id) { return {id, true}; }
FormArg form(PointerArg pointer) { return {"Stream", pointer, {}, {}}; }

/// x -> a -> b -> y with weights for each product.
Built chain() {
  Built built;
  const BufferId x = built.buffer("x", 8, Buffer::Space::Input), y = built.buffer("y", 4, Buffer::Space::Output);
  const BufferId a = built.buffer("a", 64), b = built.buffer("b", 32), s = built.buffer("s", 16);
  const BufferId v = built.weights("v", 128), w = built.weights("w", 16);
  built.step(0, {form(writes(a)), form(reads(x))});
  built.step(4096, {reads(a), reads(v), writes(b), writes(s)});
  built.step(64, {reads(b), reads(w), writes(y)});
  return built;
}

TEST_CASE("accesses by hand") {
  Built built = chain();
  const auto bytes = accesses_of(built.program);
  CHECK(bytes[0] == 64 * 4);            // x: once for each result
  CHECK(bytes[1] == 4 * 4);             // y: once
  CHECK(bytes[2] == 64 * 4 + 256 * 4);  // a: written once; copied to s for 16 multiply-adds each
  CHECK(bytes[3] == 32 * 4 + 32 * 4);   // b: each element once, which is more than 16 loads
  CHECK(bytes[4] == 1024 * 4);          // s: a load for four multiply-adds
  CHECK(bytes[5] == 1024 * 4);          // v
  CHECK(bytes[6] == 16 * 4);            // w
}

TEST_CASE("accesses of a depthwise convolution, whose channels share nothing") {
  Built built;
  const BufferId x = built.buffer("x", 64), y = built.buffer("y", 64), w = built.weights("w", 48), s = built.buffer("s", 4);
  built.program[x].extents = {1, 16, 2, 2};
  built.step(64 * 3, {reads(x), reads(w), writes(y), writes(s)});
  built.step(0, {form(reads(y))});
  const auto bytes = accesses_of(built.program);
  CHECK(bytes[x] == 192 * 4);
  CHECK(bytes[w] == 192 * 4);
  CHECK(bytes[s] == 192 * 4);
  CHECK(bytes[y] == 64 * 4 + 64 * 4);
}

TEST_CASE("accesses in loops, through views, of what epilogues and parameters point to") {
  Built built;
  const BufferId a = built.buffer("a", 64), view = built.buffer("half", 32), b = built.buffer("b", 32);
  built.program[view].parent = a;
  const BufferId scale = built.weights("scale", 4), bias = built.weights("bias", 4), w = built.weights("w", 8);
  const auto params = std::make_shared<ParamsArg>();
  params->members = {{"bias", reads(bias)}};
  Loop loop{.iteration = Dim::symbol("regions_i"), .most = 10, .body = {}};
  loop.body.push_back({Built::call(320, {reads(view), reads(w), writes(b), params, EpilogueArg{0, {form(reads(scale))}}})});
  built.program.steps.push_back({loop});
  built.step(0, {reads(b), writes(a)});
  const auto bytes = accesses_of(built.program);
  CHECK(bytes[a] == 10 * 80 * 4 + 64 * 4);
  CHECK(bytes[view] == 0);
  CHECK(bytes[b] == 10 * 32 * 4 + 32 * 4);
  CHECK(bytes[w] == 10 * 80 * 4);
  CHECK(bytes[scale] == 10 * 32 * 4);
  CHECK(bytes[bias] == 10 * 32 * 4);
}

TEST_CASE("a plan by hand") {
  Built built = chain();
  plan_memory(built.program);
  CHECK(built.program.arena.bytes == 4 * (64 + 32 + 16));
  // 640 bytes hold v (512) and s (64); then b (128) no longer fits, nor does a, but w does.
  plan_regions(built.program, {{.name = "fast", .capacity = 640, .section = ".f"}, {.name = "slow", .capacity = 4096}});
  check_plan(built.program);
  const Program& p = built.program;
  CHECK(p[2].region == 1);
  CHECK(p[3].region == 1);
  CHECK(p[4].region == 0);
  CHECK(p.weights[0].region == 0);
  CHECK(p.weights[1].region == 0);
  CHECK(p.regions[0].constant_bytes == 512 + 64);
  CHECK(p.regions[0].arena_bytes == 64);
  CHECK(p.regions[1].arena_bytes == 256 + 128);
  CHECK(p.arena.bytes == 64 + 256 + 128);
  const double all = 1280 + 256 + 4096 + 4096 + 64;
  CHECK(p.regions[0].share == Approx((4096 + 4096 + 64) / all));
  CHECK(p.regions[1].share == Approx((1280 + 256) / all));
  const std::string text = print_program(p);
  for (const char* part : {"region fast: 64 of 640 bytes for the arena, 576 for constants in .f\n",
                           "region slow: 384 of 4096 bytes for the arena, 0 for constants\n", "'s' at 0 live [1, 2) in fast\n",
                           "'v' in fast\n", "'a' at 0 live [0, 2) in slow\n"})
    CHECK(text.find(part) != std::string::npos);
}

TEST_CASE("regions for constants alone leave the arena as it is") {
  Built built = chain();
  plan_memory(built.program);
  const Program before = built.program;
  plan_regions(built.program, {{.name = "flash", .capacity = 600, .section = ".q", .constants_only = true}});
  check_plan(built.program);
  CHECK_FALSE(divides_arena(built.program));
  CHECK(built.program.arena.bytes == before.arena.bytes);
  for (BufferId id = 2; id < 5; ++id) CHECK((built.program[id].region == -1 && built.program[id].offset == before[id].offset));
  CHECK(built.program.weights[0].region == 0);
  CHECK(built.program.regions[0].constant_bytes == 576);
}

TEST_CASE("a buffer without a region is refused with what lives beside it") {
  Built built = chain();
  plan_memory(built.program);
  plan_regions(built.program, {{.name = "fast", .capacity = 64}, {.name = "slow", .capacity = 200}});
  try {
    check_room_in_regions(built.program);
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Budget);
    CHECK(
        error.diagnostics().front().text() ==
        "no region has room for 'a' (256 bytes): the arena takes 448 bytes at once, the regions hold 264; live together: 'a' (256 bytes), "
        "'b' (128 bytes), 's' (64 bytes); see --region; one region that is larger, or --memory=min, would do");
  }
}

TEST_CASE("what is wrong with a plan is found") {
  const auto planned = [] {
    Built built = chain();
    plan_memory(built.program);
    plan_regions(built.program, {{.name = "fast", .capacity = 640, .section = ".f"},
                                 {.name = "slow", .capacity = 4096},
                                 {.name = "flash", .capacity = 4096, .section = ".q", .constants_only = true}});
    return built.program;
  };
  CHECK_NOTHROW(check_plan(planned()));
  const std::pair<const char*, std::function<void(Program&)>> faults[] = {
      {"two buffers of one step overlap", [](Program& p) { p[3].offset = 128; }},
      {"a buffer is not aligned", [](Program& p) { p[4].offset = 4; }},
      {"it lies beyond the end", [](Program& p) { p[3].offset = 264; }},
      {"it has no region", [](Program& p) { p[4].region = -1; }},
      {"its region does not exist", [](Program& p) { p[4].region = 3; }},
      {"it lies among constants", [](Program& p) { p[4].region = 2; }},
      {"it lies in another region than was counted", [](Program& p) { p[3].region = 0; }},
      {"the parts are not the arena", [](Program& p) { p.arena.bytes = 440; }},
      {"a part is no multiple of the alignment", [](Program& p) { p.regions[1].arena_bytes += 4, p.arena.bytes += 4; }},
      {"a constant lies where none may be", [](Program& p) { p.weights[1].region = 1; }},
      {"its region does not exist", [](Program& p) { p.weights[1].region = 7; }},
      {"it is not counted", [](Program& p) { p.weights[1].region = -1; }},
      {"a region holds too much", [](Program& p) { p.regions[0].capacity = 632; }},
  };
  for (const auto& [what, spoil] : faults) {
    INFO(what);
    Program program = planned();
    spoil(program);
    CHECK_THROWS_AS(check_plan(program), Error);
  }
}

TEST_CASE("random programs over regions") {
  int divided = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    Built built;
    const auto intervals = network_intervals(random, 20);
    for (int i = 0; i < 22; ++i) built.step(static_cast<int64_t>(random() % 10'000), {});
    for (const Interval& i : intervals) {
      const BufferId id = built.buffer("b", i.size / 4);
      for (const int step : {i.first, std::min(i.last, 22) - 1})
        built.program.steps[static_cast<std::size_t>(step)].call()->args.emplace_back(PointerArg{id, step == i.first});
    }
    for (Step& step : built.program.steps)
      step.call()->args.emplace_back(reads(built.weights("w", static_cast<int64_t>(random() % 500) + 1)));
    plan_memory(built.program);
    const int64_t arena = built.program.arena.bytes.value();
    const std::vector<Region> regions{{.name = "a", .capacity = static_cast<int64_t>(random() % 20'000), .section = ".a"},
                                      {.name = "b", .capacity = arena, .section = random() % 2 == 0 ? ".b" : ""}};
    plan_regions(built.program, regions);
    INFO("seed " << seed);
    CHECK_NOTHROW(check_plan(built.program));
    CHECK(built.program.arena.bytes.value() >= built.program.arena.lower_bound.value());
    CHECK(built.program.regions[0].share + built.program.regions[1].share <= 1 + 1e-9);
    divided += built.program.regions[0].arena_bytes > 0 && built.program.regions[1].arena_bytes > 0;
  }
  CHECK(divided > 30);
}

}  // namespace
}  // namespace onnxc
