// onnxc profile: shows where a model's time goes.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>

#include "codegen/compile.h"

namespace onnxc {

struct ProfileOptions {
  std::filesystem::path model;
  CompileOptions compile;
  std::optional<std::filesystem::path> data;  ///< as for run; the first data set is used
  double seconds = 3;                         ///< the duration of the measurement
  std::size_t top = 0;                        ///< the number of steps in the table; 0: all
  /// Where to write the figures, one run as trace events, and a line for each step.
  std::optional<std::filesystem::path> json, trace, csv;
};

/// Compiles with --profile, runs in blocks, and prints the steps, the slowest first.
int profile_command(const ProfileOptions& options);

}  // namespace onnxc
