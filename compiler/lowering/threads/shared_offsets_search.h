// Offsets in the arena so that threads write where they wrote before.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// How threads use an interval: each writes one of `parts` shares of equal size, share t thread t. `gathered`: thread 0 reads all of it afterwards, so that what others
/// wrote belongs to none.
struct Sharing {
  int parts = 1;
  bool gathered = false;
};

/// Bytes of a run that threads write where another wrote last, runs following one another: of each interval those of the thread that has most.
int64_t foreign_bytes(std::span<const Interval> intervals, std::span<const Sharing> sharing, std::span<const int64_t> offsets);

/// Moves intervals of a coloring within its height so that foreign_bytes falls, by centring them on each other where lifetimes allow it. Gives the offsets, those that came
/// where none are better. The same input gives the same answer.
std::vector<int64_t> align_shares(std::span<const Interval> intervals, std::span<const Sharing> sharing, std::span<const int64_t> offsets,
                                  int64_t height);

}  // namespace onnxc
