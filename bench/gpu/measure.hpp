// How programs of this folder measure, and end when something is wrong.
#pragma once
#include <onnxc/gpu/device.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace onnxc::bench {

inline void require(bool holds, const char* what, const char* more = "") {
  if (holds) return;
  std::fprintf(stderr, "not so: %s %s\n", what, more);
  std::exit(1);
}
inline void require(const Status& status) {
  if (status) require(false, "the GPU does what it is asked:", status.what != nullptr ? status.what : "");
}

/// Median of the microseconds that a call takes. The first calls, which make graphs, are not counted; of the others there are at least three.
template <class Call>
double median_us(double seconds, Call call) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 2; ++i) call();
  std::vector<double> times;
  double all = 0;
  while (times.size() < 3 || (all < seconds && times.size() < 100000)) {
    const auto begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    all += times.back();
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle * 1e6;
}

}  // namespace onnxc::bench
