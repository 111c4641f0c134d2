// onnxc report: a page that shows what a compilation made of a model, or how two compilations differ.
#pragma once
#include <filesystem>
#include <optional>

#include "codegen/compile.h"

namespace onnxc {

struct ReportOptions {
  std::filesystem::path model;  ///< with `other`: a model, or a description that --json wrote
  CompileOptions compile;
  std::optional<std::filesystem::path> other;    ///< compare with this model or description
  std::optional<std::filesystem::path> output;   ///< where to write the page
  std::optional<std::filesystem::path> json;     ///< where to write what the page is made from
  std::optional<std::filesystem::path> profile;  ///< measured times, as `onnxc profile --json` writes them
};

/// Writes the page, the description or both. Throws Error.
int report_command(const ReportOptions& options);

}  // namespace onnxc
