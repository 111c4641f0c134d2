// The subcommands of onnxc that run what it made.
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
  std::optional<std::filesystem::path> data;    ///< a case folder with test_data_set_*, or one data set; else what lies beside the model
  std::optional<double> rtol, atol, rel_l2;     ///< else case.json or data.json beside the model, else 1e-3 and 1e-5
  std::optional<std::filesystem::path> output;  ///< where to write output_K.pb, and NAME.pb of taps
  std::vector<std::string> taps;                ///< names of values to give as outputs too
};

/// The tolerance of the outputs: what the command line says, else what lies beside the model.
Tolerance tolerance_for(const RunOptions& options);
/// `1e-5 + 1e-3 |expected|`
std::string limits(const Tolerance& tolerance);
/// The file of a tapped value: NAME.pb with '_' for what a file name cannot hold everywhere, and a number where `taken` has it; joins `taken`.
std::string tap_file(const std::string& name, std::set<std::string>& taken);

/// onnxc run: builds the emitted C++ (cached), runs it on every data set, compares. 0 only when all outputs are within the tolerance.
/// Without data: random inputs, and what came out of them.
int run_command(const RunOptions& options);

struct BenchOptions {
  std::filesystem::path model;
  CompileOptions compile;
  std::optional<std::filesystem::path> data;  ///< as for run; the first data set is used
  double seconds = 3;                         ///< of measuring
  std::optional<std::filesystem::path> json;  ///< where to write the figures
};

/// onnxc bench: median, best and 90th percentile of the latency of one call.
int bench_command(const BenchOptions& options);

}  // namespace onnxc
