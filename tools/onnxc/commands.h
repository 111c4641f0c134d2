// The subcommands of `onnxc`.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace onnxc {

/// Adds all of them to the command line. The one that the user gives
/// sets `command`.
void add_commands(CLI::App& app, std::function<int()>& command);

/// The path that an option was given; empty where it was not.
std::optional<std::filesystem::path> path_or_nothing(const std::string& text);

}  // namespace onnxc
