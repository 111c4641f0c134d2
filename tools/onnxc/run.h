// The subcommands of onnxc that run compiled models.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/driver/compare.h"
#include "tools/driver/compile_unit.h"

namespace onnxc {

struct RunOptions {
  std::filesystem::path model;
  CompileOptions compile;
  /// A case folder with test_data_set_*, or one data set; by default those beside the model.
  std::optional<std::filesystem::path> data;
  /// By default those of case.json or data.json beside the model, else 1e-3 and 1e-5.
  std::optional<double> rtol, atol, rel_l2;
  std::optional<std::filesystem::path> output;  ///< where to write output_K.pb, and NAME.pb of taps
  std::vector<std::string> taps;                ///< names of values that become outputs as well
};

/// The tolerance of the outputs: from the command line, or else from the files beside the model.
Tolerance tolerance_for(const RunOptions& options);
/// `1e-5 + 1e-3 |expected|`
std::string limits(const Tolerance& tolerance);
/// The file of a tapped value: NAME.pb, with '_' for characters that are not portable in file names, and a number if
/// `taken` has it. It is added to `taken`.
std::string tap_file(const std::string& name, std::set<std::string>& taken);

/// onnxc run: builds the emitted C++ (or takes it from the cache), runs it on every data set, and compares. Returns 0
/// only if all outputs are within the tolerance. Without data it uses random inputs, and prints the outputs.
int run_command(const RunOptions& options);

struct BenchOptions {
  std::filesystem::path model;
  CompileOptions compile;
  std::optional<std::filesystem::path> data;  ///< as for run; the first data set is used
  double seconds = 3;                         ///< the duration of the measurement
  std::optional<std::filesystem::path> json;  ///< where to write the figures
};

/// onnxc bench: median, best and 90th percentile of the latency of one call.
int bench_command(const BenchOptions& options);

}  // namespace onnxc
