#include "compiler/lowering/threads/thread_workspaces.h"

#include <catch2/catch.hpp>

#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/lowering/memory/plan_memory.h"

namespace onnxc {
namespace {

constexpr int kThreads = 3;

/// Steps that each write a value, with scratch memory of the given number of floats for each thread.
struct ScratchSteps {
  Program program;
  BufferId last = -1;

  ScratchSteps() {
    program.buffers.push_back({.name = "x", .space = Buffer::Space::Input, .element = ElementType::F32, .extents = {1 << 18}});
  }
  BufferId room(Dim floats, ElementType element = ElementType::F32) {
    program.buffers.push_back(
        {.name = "scratch", .element = element, .extents = {floats * kThreads}, .bytes = floats * kThreads * (held_bits(element) / 8)});
    return static_cast<BufferId>(program.buffers.size() - 1);
  }
  void add(const std::vector<std::pair<BufferId, Dim>>& scratch) {
    const BufferId read = last < 0 ? 0 : last;
    last = room(1 << 16);
    Call& step = *program.steps.emplace_back().call();
    step.parallel = true;
    step.args.emplace_back(PointerArg{.buffer = read});
    step.args.emplace_back(PointerArg{.buffer = last, .writes = true});
    for (const auto& [buffer, stride] : scratch)
      step.args.emplace_back(PointerArg{.buffer = buffer, .writes = true, .thread_stride = stride});
  }
  const PointerArg& scratch(std::size_t step, std::size_t i = 0) const {
    return std::get<PointerArg>(program.steps[step].call()->args[2 + i]);
  }
};

TEST_CASE("thread workspaces: share i of all steps has the same memory, apart from everything else") {
  ScratchSteps steps;
  const BufferId small = steps.room(1000), large = steps.room(5000);
  steps.add({{small, 1000}});
  steps.add({});
  steps.add({{large, 5000}});
  keep_thread_workspaces(steps.program, kThreads);
  const PointerArg &one = steps.scratch(0), &other = steps.scratch(2);
  CHECK(one.buffer == other.buffer);
  CHECK(one.offset == Dim(0));
  CHECK(one.thread_stride == other.thread_stride);
  CHECK(one.thread_stride.value() >= 5000);
  const Buffer& kept = steps.program[one.buffer];
  CHECK(kept.bytes.value() == one.thread_stride.value() * 4 * kThreads);
  plan_memory(steps.program);
  check_plan(steps.program);
  CHECK(kept.first == 0);
  CHECK(kept.last == 3);  // also lives while the second step runs, apart from its value
  CHECK(steps.program[small].first < 0);
  CHECK(steps.program[large].first < 0);
}

TEST_CASE("thread workspaces: two of one step lie side by side, each in elements of its own") {
  ScratchSteps steps;
  const BufferId floats = steps.room(64), flags = steps.room(128, ElementType::Bool);
  steps.add({{floats, 64}, {flags, 128}});
  keep_thread_workspaces(steps.program, kThreads);
  const PointerArg &one = steps.scratch(0), &other = steps.scratch(0, 1);
  CHECK(one.buffer == other.buffer);
  CHECK(one.as == ElementType::F32);
  CHECK(other.as == ElementType::Bool);
  CHECK(one.offset == Dim(0));
  CHECK(other.offset == Dim(64 * 4));
  CHECK(other.thread_stride.value() == 4 * one.thread_stride.value());
}

TEST_CASE("thread workspaces: what several steps read, what all threads share and what has no known size stay") {
  ScratchSteps steps;
  const Dim n = Dim::symbol("n");
  const BufferId between = steps.room(64), shared = steps.room(64), symbolic = steps.room(n);
  steps.add({{between, 64}});
  steps.add({{between, 64}, {shared, 0}, {symbolic, n}});
  const std::size_t buffers = steps.program.buffers.size();
  keep_thread_workspaces(steps.program, kThreads);
  CHECK(steps.program.buffers.size() == buffers);
  CHECK(steps.scratch(0).buffer == between);
  CHECK(steps.scratch(1).buffer == between);
  CHECK(steps.scratch(1, 1).buffer == shared);
  CHECK(steps.scratch(1, 2).buffer == symbolic);
}

}  // namespace
}  // namespace onnxc
