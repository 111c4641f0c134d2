// What shells and `man` know of the command line, made from what --help is made from.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace onnxc {

/// Adds `completion` and `manual`, which print and end.
void add_command_pages(CLI::App& app);

/// A script that completes subcommands, options, their values and files; `shell` is bash, zsh or fish.
std::string completion_script(const CLI::App& app, const std::string& shell);

/// The manual page, in the macros of man(7).
std::string manual_page(const CLI::App& app);

}  // namespace onnxc
