// Runs the self-test of a unit that was made with --profile, and says between which marks each step was.
#include <onnxc/profile.h>

#include <initializer_list>

#include "machine.h"
#include "mark.h"
#include "unit.h"

extern "C" const onnxc_profile* unit_profile(void);

namespace {

alignas(unit::arena_alignment) std::byte memory[unit::self_test_bytes];

void put_numbers(std::initializer_list<std::uint64_t> values) {
  for (const std::uint64_t value : values) {
    put(" ");
    put_number(value);
  }
}

}  // namespace

extern "C" int measure() {
  // What reading takes: from the first of these to the second.
  mark();
  mark();
  const onnxc::Status status = unit::self_test(memory);
  put("status");
  put_numbers({static_cast<std::uint32_t>(status.code)});
  const onnxc_profile& profile = *unit_profile();
  for (std::int32_t k = 0; k < profile.step_count; ++k) {
    onnxc_step_ticks ticks{};
    profile.read(k, &ticks);
    if (ticks.calls == 0) continue;
    put("\nstep");
    put_numbers({static_cast<std::uint32_t>(profile.steps[k].number), ticks.calls, ticks.begin, ticks.end});
  }
  put("\nend\n");
  return 0;
}
