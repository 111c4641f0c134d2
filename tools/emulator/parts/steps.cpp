// Runs the self-test of a unit that was made with --profile, and says between which marks each step was.
#include <onnxc/profile.h>

#include "machine.h"
#include "mark.h"
#include "unit.h"

extern "C" const onnxc_profile* unit_profile(void);

namespace {

alignas(unit::arena_alignment) std::byte memory[unit::self_test_bytes];

void put_number(std::uint64_t value) {
  char digits[22];
  char* at = digits + 21;
  *at = 0;
  *--at = ' ';
  do *--at = static_cast<char>('0' + static_cast<int>(value % 10)), value /= 10;
  while (value != 0);
  put(at);
}

}  // namespace

extern "C" int measure() {
  // What reading takes: from the first of these to the second.
  mark();
  mark();
  const onnxc::Status status = unit::self_test(memory);
  put("status ");
  put_number(static_cast<std::uint32_t>(status.code));
  const onnxc_profile& profile = *unit_profile();
  for (std::int32_t k = 0; k < profile.step_count; ++k) {
    onnxc_step_ticks ticks{};
    profile.read(k, &ticks);
    if (ticks.calls == 0) continue;
    put("\nstep ");
    put_number(static_cast<std::uint32_t>(profile.steps[k].number));
    put_number(ticks.calls);
    put_number(ticks.begin);
    put_number(ticks.end);
  }
  put("\nend\n");
  return 0;
}
