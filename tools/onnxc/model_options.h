// Options that every command which compiles a model shares.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "codegen/compile.h"

namespace onnxc {

struct ModelOptions {
  CompileOptions compile;
  std::string level = "3";
  std::vector<std::string> dims;

  void add_to(CLI::App& app);
  /// With what the texts say; throws Error{Usage}.
  CompileOptions parsed() const;
};

}  // namespace onnxc
