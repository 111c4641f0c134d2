// Where buffers of symbolic sizes lie, as numbers for some of these sizes.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/lowering/memory/interval_coloring.h"

namespace onnxc {

inline constexpr int64_t kAlignment = 64;  // bytes: of every buffer in the arena

/// What a buffer takes in the arena. Extents may come out negative at sizes that a run refuses.
inline int64_t aligned(int64_t bytes) { return std::max<int64_t>(0, bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// What the sizes of these buffers depend on.
std::map<std::string, Dim> symbols_of(const Program& program, const std::vector<BufferId>& list);

/// True where all buffers together would fit into some machine.
bool are_plausible(const Program& program, const Sizes& sizes);

/// At most `count` sizes at which symbolic plans are compared and checked, all within bounds: what is likely; every symbol small, middling, large; some small where others
/// are large; then at random, where each order of magnitude is as likely as another. None but plausible ones.
std::vector<Sizes> samples(const Program& program, const std::vector<BufferId>& list, std::size_t count);

using SizeOf = std::function<int64_t(Dim)>;  // of extents, at some sizes

/// Lifetimes of buffers and the bytes that they take.
std::vector<Interval> intervals_of(const Program& program, const std::vector<BufferId>& list, const SizeOf& size);

/// What each of these buffers takes in the arena, by BufferId.
std::vector<int64_t> sizes_of(const Program& program, const std::vector<BufferId>& list, const SizeOf& size);

struct Placed {
  std::vector<int64_t> offsets;  // by BufferId
  int64_t bytes = 0;             // of the arena
};
Placed place(const Placement& placement, const std::vector<int64_t>& sizes);

}  // namespace onnxc
