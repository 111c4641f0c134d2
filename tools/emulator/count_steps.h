// Counts what each step of a unit takes, in an emulator of another machine.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compile.h"
#include "compiler/ir/dim.h"

namespace onnxc {

struct StepCount {
  int number = 0;  ///< as in the comments of the unit
  int64_t calls = 0;
  /// Of all calls of a run, each taken as long as the latest. Cycles are those of the core from memory without wait states; empty if no table of the
  /// core is known.
  int64_t instructions = 0;
  std::optional<int64_t> cycles{};
};

struct EmulatedRun {
  std::vector<StepCount> steps;  ///< those that ran, in their order
  Sizes dims;                    ///< the extents of the data
  std::string data;              ///< what it ran on
  std::string emulator;          ///< its version
  std::string compiler;
  bool passed = false;  ///< the outputs are those that were expected
};

/// Builds the model, of which this is the compilation, for options.target, runs it once on the first data set that fits (see make_self_test) and counts. Throws Error{Unsupported} for a
/// target without an emulator and for a model that can have no self-test, Error{Io} where the emulator or a compiler is missing, or
/// memory of the machine is.
EmulatedRun count_steps(const std::filesystem::path& model, const Compilation& compilation, const CompileOptions& options,
                        const std::optional<std::filesystem::path>& data);

}  // namespace onnxc
