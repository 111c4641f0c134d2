// onnxc report: a page that shows the result of a compilation, or how two compilations differ.
#pragma once
#include <filesystem>
#include <optional>

#include "codegen/compile.h"

namespace onnxc {

struct ReportOptions {
  std::filesystem::path model;  ///< with `other`: a model, or a description from --json
  CompileOptions compile;
  std::optional<std::filesystem::path> other;    ///< compare with this model or description
  std::optional<std::filesystem::path> output;   ///< where to write the page
  std::optional<std::filesystem::path> json;     ///< where to write the data of the page
  std::optional<std::filesystem::path> profile;  ///< measured times, from `onnxc profile --json`
};

/// Writes the page, the description or both. Throws Error.
int report_command(const ReportOptions& options);

}  // namespace onnxc
