// `onnxc serve`: models behind a port.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace onnxc {

/// Adds the subcommand, also where this build has no server: it says so then.
void add_serve(CLI::App& app, std::function<int()>& command);

}  // namespace onnxc
