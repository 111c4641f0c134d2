#include "compiler/lowering/threads/concurrent_steps.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "compiler/lowering/memory/plan_memory.h"

namespace onnxc {
namespace {

constexpr int64_t kFork = 1 << 16;  // multiply-adds that take as long as one fork

/// Steps over buffers of 1 KiB each in the arena. Buffer 0 is an input of the program.
struct Steps {
  Program program;

  explicit Steps(int buffers) {
    program.inputs = {0};
    program.buffers.push_back({.name = "x", .space = Buffer::Space::Input, .element = ElementType::F32, .extents = {256}});
    for (int k = 1; k < buffers; ++k)
      program.buffers.push_back({.name = "b" + std::to_string(k), .element = ElementType::F32, .extents = {256}, .bytes = 1024});
  }
  Call& add(std::vector<PointerArg> reads, std::vector<PointerArg> writes, int64_t macs = kFork) {
    Call& step = *program.steps.emplace_back().call();
    for (PointerArg p : reads) step.args.emplace_back(p);
    for (PointerArg p : writes) {
      p.writes = true;
      step.args.emplace_back(p);
    }
    step.parallel = true;
    step.macs = macs;
    return step;
  }
  /// One letter for each step: `.` begins a group, `&` continues it.
  std::string groups() {
    find_concurrent_steps(program);
    std::string text;
    for (const Step& step : program.steps) text += is_concurrent(step) ? '&' : '.';
    return text;
  }
};

PointerArg at(BufferId buffer, int64_t offset = 0, int64_t extent_used = 0) {
  return {.buffer = buffer, .offset = offset, .extent_used = extent_used};
}

TEST_CASE("concurrent steps: branches share a fork, what depends on them begins another") {
  Steps steps(5);
  steps.add({at(0)}, {at(1)});
  steps.add({at(0)}, {at(2)});
  steps.add({at(1), at(2)}, {at(3)});
  steps.add({at(3)}, {at(4)});
  CHECK(steps.groups() == ".&..");
}

TEST_CASE("concurrent steps: neither writes what another of the group reads or writes") {
  Steps reads_first(4);
  reads_first.add({at(1)}, {at(2)});
  reads_first.add({at(0)}, {at(1)});  // writes what the first step reads
  CHECK(reads_first.groups() == "..");
  Steps third(5);
  third.add({at(0)}, {at(1)});
  third.add({at(0)}, {at(2)});
  third.add({at(1)}, {at(3)});  // independent of the second step only
  third.add({at(1)}, {at(4)});
  CHECK(third.groups() == ".&.&");
  Steps views(4);
  views.program.buffers.push_back({.name = "view", .element = ElementType::F32, .extents = {128}, .bytes = 512, .parent = 1, .offset = 0});
  views.add({at(0)}, {at(1)});
  views.add({at(4)}, {at(2)});
  CHECK(views.groups() == "..");
}

TEST_CASE("concurrent steps: parts of one buffer are apart where their ranges are") {
  const auto groups = [](int64_t pixel_stride, PointerArg a, PointerArg b) {
    Steps steps(3);
    steps.program[1].pixel_stride = pixel_stride;
    steps.add({at(0)}, {a});
    steps.add({at(0)}, {b});
    return steps.groups();
  };
  for (const int64_t pixel_stride : {0, 64}) {  // elements, or channels of each pixel
    CHECK(groups(pixel_stride, at(1, 0, 16), at(1, 16, 48)) == ".&");
    CHECK(groups(pixel_stride, at(1, 0, 17), at(1, 16, 48)) == "..");
    CHECK(groups(pixel_stride, at(1, 0, 16), at(1, 16)) == "..");
    CHECK(groups(pixel_stride, at(1), at(1)) == "..");
  }
  CHECK(groups(64, at(1, 0, 16), at(1, 64 + 16, 16)) == "..");  // channels of different pixels
}

TEST_CASE("concurrent steps: a fork must pay, and two large steps gain nothing") {
  const auto groups = [](std::vector<int64_t> macs, bool parallel = true) {
    Steps steps(2 + static_cast<int>(macs.size()));
    for (std::size_t k = 0; k < macs.size(); ++k) steps.add({at(0)}, {at(static_cast<BufferId>(k) + 1)}, macs[k]).parallel = parallel;
    return steps.groups();
  };
  CHECK(groups({kFork / 4, kFork / 4}) == "..");
  CHECK(groups({kFork / 4, kFork}) == ".&");
  CHECK(groups({kFork / 2, kFork / 2, kFork / 2}) == ".&&");  // together they do
  CHECK(groups({kFork, kFork}, false) == ".&");               // a whole step for each thread
  CHECK(groups({kFork / 2, kFork}, false) == "..");           // the other thread would save half a fork
  CHECK(groups({100 * kFork, kFork, 100 * kFork, kFork}) == ".&.&");
}

TEST_CASE("concurrent steps: what may fail or binds a symbol waits") {
  Steps fallible(3);
  fallible.add({at(0)}, {at(1)}).fallible = true;
  fallible.add({at(0)}, {at(2)});
  CHECK(fallible.groups() == "..");
  Steps binds(3);
  binds.add({at(0)}, {at(1)});
  binds.add({at(0)}, {at(2)}).binds = {Dim::symbol("concurrent_n")};
  CHECK(binds.groups() == "..");
  Steps control(3);
  control.add({at(0)}, {at(1)});
  control.program.steps.push_back({Require{}});
  CHECK(control.groups() == "..");
}

TEST_CASE("concurrent steps: what they touch lives at once") {
  Steps steps(6);
  steps.add({at(0)}, {at(1)});
  steps.add({at(1)}, {at(2)});
  steps.add({at(1)}, {at(3)});
  steps.add({at(2), at(3)}, {at(4)});
  steps.add({at(4)}, {at(5)});
  Program& program = steps.program;
  REQUIRE(steps.groups() == "..&..");
  plan_memory(program);
  check_plan(program);
  const auto lives = [&](BufferId id) { return std::pair(program[id].first, program[id].last); };
  CHECK(lives(1) == std::pair(0, 3));
  CHECK(lives(2) == std::pair(1, 4));
  CHECK(lives(3) == std::pair(1, 4));
  CHECK(lives(4) == std::pair(3, 5));
  CHECK(program.arena.bytes == Dim(3072));
}

}  // namespace
}  // namespace onnxc
