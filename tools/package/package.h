// `onnxc package`: a model as a library of an ecosystem: its unit, a header for C, an example and what the ecosystem's tools want to know.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "codegen/compile.h"

namespace onnxc {

struct PackageOptions {
  std::filesystem::path model, output;  ///< output: a folder that does not exist, or is empty
  std::string form;                     ///< one of package_forms()
  std::string version = "1.0.0";
  std::string maintainer = "unknown <unknown@example.com>";
  CompileOptions compile;
};

/// arduino, platformio, zephyr, esp-idf, cmsis-pack, files.
std::span<const std::string_view> package_forms();

/// Writes the package and says what it has. Throws Error; nothing is left of a package that could not be made.
int package_command(const PackageOptions& options);

}  // namespace onnxc
