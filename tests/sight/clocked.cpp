// A unit made with --profile, with a clock that ticks once for each reading. So the counters have known values.
//
// Compiled with -DUNIT=NAME and -DITERATIONS=N, where N is the number of iterations of the model's loop.
#include <cstdint>
static std::uint32_t now = 0xffff'fff0u;  // wraps around soon
#define ONNXC_CLOCK()      (++now)
#define INCLUDE_TEXT(name) #name
#define INCLUDE(name)      INCLUDE_TEXT(name)
#include INCLUDE(UNIT_FILE)

#include <cstdio>
#include <vector>

static int failures = 0;
static void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

int main() {
  const onnxc_profile& profile = *unit_profile();
  const onnxc_model& model = *unit_model();
  expect(profile.struct_bytes == sizeof(onnxc_profile) && profile.step_count > 1 && profile.part_count == 1,
         "the profile describes itself");
  alignas(64) static float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  alignas(64) static std::byte arena[1 << 16];
  if (model.arena_bytes(nullptr) > sizeof(arena)) return 2;
  const void* inputs[] = {x};
  void* outputs[] = {y};
  onnxc_call call{};
  call.inputs = inputs;
  call.outputs = outputs;
  call.arena = arena;
  call.arena_bytes = sizeof(arena);
  constexpr int kRuns = 20;
  for (int i = 0; i < kRuns; ++i) expect(model.run(&call) == 0, "the model runs");
  bool in_loop = false;
  for (int32_t k = 0; k < profile.step_count; ++k) {
    onnxc_step_ticks ticks{};
    profile.read(k, &ticks);
    expect(ticks.calls == kRuns || ticks.calls == std::uint64_t{kRuns} * ITERATIONS, "a step runs once a run, or once an iteration");
    in_loop = in_loop || ticks.calls == std::uint64_t{kRuns} * ITERATIONS;
    expect(ticks.total == ticks.calls && ticks.least == 1, "each call takes one tick, also where the clock wraps around");
    expect(static_cast<std::uint32_t>(ticks.end - ticks.begin) == 1, "the latest call has begin and end");
    expect(
        profile.steps[k].number > 0 && profile.steps[k].kernel[0] != 0 && profile.steps[k].what[0] != 0 && profile.steps[k].variant[0] == 0,
        "steps have labels");
    onnxc_part_ticks part{1, 1, 1};
    profile.read_part(k, 0, &part);
    expect(part.total == 0 && part.end == 0, "a step that is not shared has no parts");
  }
  expect(in_loop, "steps of a loop count as often as they run");
  profile.reset();
  onnxc_step_ticks ticks{};
  profile.read(0, &ticks);
  expect(ticks.calls == 0 && ticks.total == 0 && ticks.least == 0, "a reset forgets");
  const std::uint64_t a = profile.clock(), b = profile.clock();
  expect(static_cast<std::uint32_t>(b - a) == 1, "the clock can be read");
  return failures == 0 ? 0 : 1;
}
