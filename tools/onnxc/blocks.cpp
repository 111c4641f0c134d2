#include "tools/onnxc/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/support/error_codes.h"

namespace onnxc {

double time_block(ModelCall& call, int64_t calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) {
    if (call.run() != 0) throw Error(ErrorCode::RunRefused, fmt::format("run: {}", call.message()));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int64_t calls_in_a_block(ModelCall& call) {
  time_block(call, 1);
  int64_t calls = 1;
  for (double took = time_block(call, calls); took < kBlockSeconds; took = time_block(call, calls)) {
    calls = std::max(2 * calls, static_cast<int64_t>(1.1 * kBlockSeconds / std::max(took, 1e-7) * static_cast<double>(calls)));
  }
  return calls;
}

double quantile(const std::vector<double>& values, double q) {
  return values[static_cast<std::size_t>(std::llround(q * static_cast<double>(values.size() - 1)))];
}

}  // namespace onnxc
