// What a report shows, as JSON: the description of a compilation, the graph before and after, and what each pass changed.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "codegen/compile.h"

namespace onnxc {

/// Compiles, and describes; beside the members of describe():
///
///   onnxc, kind: "report"
///   model:    {file, sha256, graph, ir_version, opsets, producer}
///   options:  {level, memory, math, narrow_weights, weights_growth, dims: {name: "8" or "1..64"}}
///   roofline: {peak_gmacs, gbytes, from}: what the fastest rows of the catalogue reach on one thread
///   graphs:   {model, steps}; see graph_views.h
///   passes:   see pass_changes.h
///
/// The same model and options give the same bytes. Throws Error.
nlohmann::ordered_json report_data(const std::filesystem::path& model, const CompileOptions& options);

/// A description that `onnxc report --json` wrote; nothing where the file does not start with a brace. Throws Error{Io, Usage}.
std::optional<nlohmann::ordered_json> read_description(const std::filesystem::path& path);

/// Measured times: {peak_gmacs, variant: {dimension: size}, steps: [{number, kernel, calls, mean_ns, best_ns}]}; `kernel` is empty where the file does not say.
/// Throws Error{Io, Usage}.
nlohmann::ordered_json read_profile(const std::filesystem::path& path);
/// The options with the dimensions of the variant that was measured: what a report with these times shows. Throws Error{Usage} where --dim says otherwise.
CompileOptions options_of_profile(const CompileOptions& options, const nlohmann::ordered_json& profile);
/// Throws Error{Usage} where the times are not of these steps.
void check_profile(const nlohmann::ordered_json& profile, const nlohmann::ordered_json& steps);

}  // namespace onnxc
