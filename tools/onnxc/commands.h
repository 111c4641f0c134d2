// The subcommands of `onnxc`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "codegen/compile.h"

namespace onnxc {

/// Adds run, bench and info to the command line; the one that is given sets `command`.
void add_commands(CLI::App& app, std::function<int()>& command);

/// --emit=shared and --emit=object: C++ and the system compiler in one go.
int build_command(const std::string& model, const std::string& output, bool shared, const CompileOptions& options);

}  // namespace onnxc
