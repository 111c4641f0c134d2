// The subcommands that give models from models.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace onnxc {

/// As add_commands, for quantize, compress and reduce.
void add_quantize(CLI::App& app, std::function<int()>& command);
void add_compress(CLI::App& app, std::function<int()>& command);
void add_reduce(CLI::App& app, std::function<int()>& command);

}  // namespace onnxc
