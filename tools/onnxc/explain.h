// onnxc explain: what a compilation made of a model.
#pragma once
#include <filesystem>
#include <string>

#include "codegen/compile.h"

namespace onnxc {

/// Prints for each step the nodes of the model that it computes, its kernel and the reason for it, and where its
/// operands and results lie; then the nodes that no step computes, and those of a quantised network that stay in floats, or of a unit for a GPU on the host, with the reason. `which`: one node, by its name or that of an
/// output, or one step by its number; empty for all. Throws Error{Usage} for an unknown one, with the closest names.
int explain_command(const std::filesystem::path& model, const std::string& which, const CompileOptions& options);

/// The candidates of each node with their predicted costs, the winner marked.
void print_choices(const std::vector<Choice>& choices);
/// Of a program for a GPU: the device of each step, and the reason for each that stays on the host.
void print_devices(const Program& program);

}  // namespace onnxc
