// What a unit takes of its machine, as a compiler for that machine made it: flash, RAM and stack.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/program.h"
#include "tools/driver/stack_bound.h"

namespace onnxc {

/// In bytes.
struct Footprint {
  int64_t code = 0, constants = 0;  ///< machine code; constants beside the weights
  int64_t weights = 0;              ///< as they are packed
  int64_t data = 0, zeroed = 0;     ///< variables that begin with values, and with zeros
  int64_t arena = 0;                ///< the most that a run needs, of all regions; kEndless if it has no bound
  std::vector<Region> regions{};    ///< the program's
  StackBound stack{};               ///< without a bound where the compiler is not g++
  std::string compiler{};           ///< its version and flags
  int64_t flash() const { return code + constants + weights + data; }
  /// Constants of regions that are no flash: firmware copies them there when it starts.
  int64_t copied_constants() const;
  /// Without inputs and outputs, which are the caller's.
  int64_t ram() const { return data + zeroed + arena + copied_constants() + stack.bytes.value_or(0); }
};

/// Code, constants (weights among them), data and stack of a unit that was compiled to an ELF file. `call_graph` as in stack_bound, or empty.
/// Throws Error{Unsupported} for a file that is none.
Footprint footprint_of(std::string_view object, std::string_view call_graph);

/// The deepest path by short names: `run > steps > gemm`.
std::string stack_path(const StackBound& stack);

/// "code 11,204, constants 212, …": one line.
std::string text(const Footprint& footprint);

/// In bytes; what has no limit is empty.
struct FootprintLimits {
  std::optional<int64_t> flash{}, ram{}, stack{};
};
/// Throws Error{Budget} for the first limit that is exceeded, with what takes most, or Error{Unsupported} if there is no bound to compare.
void check_footprint(const Footprint& footprint, const FootprintLimits& limits);

}  // namespace onnxc
