// The data of a report, as JSON: the description of a compilation, the graph before and after, and the changes of
// each pass.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "codegen/compile.h"

namespace onnxc {

/// Compiles and describes. In addition to the members of describe():
///
///   onnxc, kind: "report"
///   model:    {file, sha256, graph, ir_version, opsets, producer}
///   options:  {level ("-O3"), memory, math, narrow_weights, weight_bits, weights_growth, dims: {name: "8" or "1..64"}}
///   roofline: {peak_gmacs, gbytes, from}: what the fastest rows of the catalogue reach on one thread
///   graphs:   {model, steps}; see graph_views.h
///   passes:   see pass_changes.h
///
/// and those of add_measurements() if the options ask to measure. The same model and options give the same bytes. Throws Error.
nlohmann::ordered_json report_data(const std::filesystem::path& model, const CompileOptions& options);

/// A description from `onnxc report --json`. Empty if the file does not begin with a brace. Throws Error{Io, Usage}.
std::optional<nlohmann::ordered_json> read_description(const std::filesystem::path& path);

/// Measured times: {peak_gmacs, variant: {dimension: size}, steps: [{number, kernel, calls, mean_ns, best_ns}]}.
/// `kernel` is empty if the file does not state it. Throws Error{Io, Usage}.
nlohmann::ordered_json read_profile(const std::filesystem::path& path);
/// The options with the dimensions of the measured variant, which a report with these times shows. Throws
/// Error{Usage} if --dim contradicts them.
CompileOptions options_of_profile(const CompileOptions& options, const nlohmann::ordered_json& profile);
/// Throws Error{Usage} if the times do not belong to these steps.
void check_profile(const nlohmann::ordered_json& profile, const nlohmann::ordered_json& steps);

}  // namespace onnxc
