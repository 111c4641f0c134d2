// The subcommands of `onnxc`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace onnxc {

/// Adds run, bench, profile, tune, info, explain, bisect and report to the command line. The one that the user gives
/// sets `command`.
void add_commands(CLI::App& app, std::function<int()>& command);

}  // namespace onnxc
