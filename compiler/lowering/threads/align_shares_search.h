// Offsets in the arena such that threads write where they wrote before.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// How threads use an interval: each writes one of `shares` shares of equal size, thread t share t. `gathered`: thread 0
/// reads all of it afterwards, so that the other threads no longer own the cache lines that they wrote.
struct Sharing {
  int shares = 1;
  bool gathered = false;
};

/// The bytes that threads write in a run where another thread wrote last, with one run following another: for each
/// interval those of the thread with the most.
int64_t foreign_bytes(std::span<const Interval> intervals, std::span<const Sharing> sharing, std::span<const int64_t> offsets);

/// Moves the intervals of a coloring, within its height, so that foreign_bytes decreases: they are centred on each
/// other where lifetimes allow it. Returns the offsets; the given ones if none are better. The same input gives the
/// same answer.
std::vector<int64_t> align_shares(std::span<const Interval> intervals, std::span<const Sharing> sharing, std::span<const int64_t> offsets,
                                  int64_t height);

}  // namespace onnxc
