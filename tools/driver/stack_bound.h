// The most stack that a unit can use, by the call graph that g++ writes with -fcallgraph-info=su,da: the largest sum of frames on any path.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnxc {

struct StackBound {
  /// Bytes below the caller's frame; empty if there is no bound, for the reason `why`.
  std::optional<int64_t> bytes;
  std::string why;
  std::vector<std::string> path;    ///< demangled functions on the deepest path, outermost first
  std::vector<std::string> others;  ///< functions of libraries that it calls, in order of their names: each counts as kLibraryFrame
  /// A generous frame for memcpy, memset and the arithmetic of libgcc, whose own take less than half of it.
  static constexpr int64_t kLibraryFrame = 128;
};

/// `graph`: the text of a .ci file, in the format of VCG.
StackBound stack_bound(std::string_view graph);

}  // namespace onnxc
