// onnxc tune: finds the fastest kernels on this machine.
#pragma once
#include <filesystem>
#include <optional>

#include "tools/onnxc/tuner.h"

namespace onnxc {

struct TuneCommandOptions {
  TuneOptions tune;
  /// Print a table of all nodes with several candidates, not only of those that change.
  bool regret = false;
  std::optional<std::filesystem::path> json;  ///< where to write the figures
};

/// Measures, and prints what changes, how far the cost model was from the best, and what a whole run gains.
int tune_command(const TuneCommandOptions& options);

}  // namespace onnxc
