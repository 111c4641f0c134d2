// Offsets of buffers with symbolic sizes, as numbers at given sizes.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

/// The bytes that a buffer takes in an arena of that alignment. Extents may be negative at sizes that a run refuses.
inline int64_t aligned_bytes(int64_t bytes, int64_t alignment) {
  return std::max<int64_t>(0, bytes + alignment - 1) / alignment * alignment;
}

/// The symbols that the sizes of these buffers depend on.
std::map<std::string, Dim> symbols_of(const Program& program, const std::vector<BufferId>& list);

/// Whether all buffers of a device's arena together would fit into some machine.
bool are_plausible(const Program& program, const Sizes& sizes, Device device);

/// At most `count` sizes at which symbolic plans are compared and checked, all plausible and within bounds: first
/// likely ones; then all symbols small, middling or large; some small and others large; then random ones, with equal
/// chances for each order of magnitude.
std::vector<Sizes> samples(const Program& program, const std::vector<BufferId>& list, std::size_t count);

using SizeOf = std::function<int64_t(Dim)>;  // the value of an extent, at some sizes

/// The lifetimes of buffers and the bytes that they take.
std::vector<Interval> intervals_of(const Program& program, const std::vector<BufferId>& list, const SizeOf& size);

/// The bytes that each of these buffers takes in the arena.
PerBuffer<int64_t> sizes_of(const Program& program, const std::vector<BufferId>& list, const SizeOf& size);

struct ArenaOffsets {
  PerBuffer<int64_t> offsets;
  int64_t bytes = 0;  // of the arena
};
ArenaOffsets offsets_at(const Placement& placement, const PerBuffer<int64_t>& sizes, int64_t alignment);

}  // namespace onnxc
