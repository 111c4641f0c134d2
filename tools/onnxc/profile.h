// onnxc profile: where a model's time goes.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>

#include "codegen/compile.h"

namespace onnxc {

struct ProfileOptions {
  std::filesystem::path model;
  CompileOptions compile;
  std::optional<std::filesystem::path> data;              ///< as for run; the first data set is used
  double seconds = 3;                                     ///< of measuring
  std::size_t top = 0;                                    ///< so many steps in the table; 0: all
  std::optional<std::filesystem::path> json, trace, csv;  ///< where to write the figures, one run as trace events, a line for each step
};

/// Compiles with --profile, runs in blocks, and prints the steps, those that take longest first.
int profile_command(const ProfileOptions& options);

}  // namespace onnxc
