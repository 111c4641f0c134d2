// onnxc compress: from a model in floats to one with fewer parameters, in standard ONNX.
#pragma once
#include <filesystem>
#include <optional>

#include "codegen/compile.h"
#include "tools/calibration/goal.h"

namespace onnxc {

struct CompressOptions {
  std::filesystem::path model, output;
  GoalOptions goal;
  std::optional<std::filesystem::path> report;
  std::optional<double> parameters;  ///< how many are left at most, in percent; with a goal: at least
  bool channels = true, low_rank = true;
  int64_t cluster = 0;     ///< distinct weights of a layer; 0: as they are
  CompileOptions compile;  ///< for the builds that the data runs through
};

/// Writes the model and prints a table of its layers. Throws Error.
int compress_command(const CompressOptions& options);

}  // namespace onnxc
