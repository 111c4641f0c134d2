// Random problems for the tests of the memory planner.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// Sizes, lifetimes and alignments up to 128 at random.
inline std::vector<Interval> random_intervals(std::mt19937& random, int count, int steps, int longest) {
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % static_cast<unsigned>(steps));
    const int last = first + 1 + static_cast<int>(random() % static_cast<unsigned>(longest));
    const int64_t alignment = int64_t{1} << (random() % 8);
    intervals.push_back({static_cast<int64_t>(random() % 5000), first, last, alignment});
  }
  return intervals;
}

/// A chain of layers with a skip connection now and then, as networks have it.
inline std::vector<Interval> network_intervals(std::mt19937& random, int count) {
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const int life = random() % 5 == 0 ? 2 + static_cast<int>(random() % 6) : 2;
    intervals.push_back({64 * (1 + static_cast<int64_t>(random() % 2000)), i, i + life, 64});
  }
  return intervals;
}

}  // namespace onnxc
