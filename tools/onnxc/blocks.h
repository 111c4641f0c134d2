// Calls are timed in blocks of 20 ms and more, so that the clock's own cost and resolution vanish.
#pragma once
#include <cstdint>
#include <vector>

#include "tools/driver/model_call.h"

namespace onnxc {

inline constexpr double kBlockSeconds = 0.02;
inline constexpr std::size_t kFewestBlocks = 5;

/// Seconds of `calls` calls. Throws Error{Invalid} where one fails.
double time_block(ModelCall& call, int64_t calls);

/// So many calls that they take a block's time; the first calls touch weights and arena.
int64_t calls_in_a_block(ModelCall& call);

/// The value below which the share `q` of the sorted `values` lies; there is at least one.
double quantile(const std::vector<double>& values, double q);

}  // namespace onnxc
