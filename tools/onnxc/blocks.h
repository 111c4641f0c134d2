// Times calls in blocks that are long enough for the cost and the resolution of the clock to vanish.
#pragma once
#include <cstdint>
#include <vector>

#include "tools/driver/model_call.h"

namespace onnxc {

inline constexpr double kBlockSeconds = 0.02;
inline constexpr std::size_t kFewestBlocks = 5;

/// The seconds that `calls` calls take. Throws Error{Invalid} if one fails.
double time_block(ModelCall& call, int64_t calls);

/// The number of calls that take a block's time. The first calls touch weights and arena.
int64_t calls_in_a_block(ModelCall& call);

/// The quantile `q` of the sorted `values`, of which there is at least one.
double quantile(const std::vector<double>& values, double q);

}  // namespace onnxc
