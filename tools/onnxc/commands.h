// The subcommands of `onnxc`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace onnxc {

/// Adds run, bench, profile, tune, info, explain, bisect and report to the command line; the one that is given sets `command`.
void add_commands(CLI::App& app, std::function<int()>& command);

}  // namespace onnxc
