// The clock of units for GPUs made with --profile: nanoseconds, which times between events of a GPU can be added to. It comes before
// profile.hpp, and takes the place of a clock of the program's own.
#pragma once
#include <chrono>
#include <cstdint>

#undef ONNXC_CLOCK
#define ONNXC_CLOCK()         \
  static_cast<std::uint64_t>( \
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count())
