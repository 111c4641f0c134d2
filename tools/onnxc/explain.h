// onnxc explain: what became of a model.
#pragma once
#include <filesystem>
#include <string>

#include "codegen/compile.h"

namespace onnxc {

/// Prints for each step which nodes of the model it does, its kernel and why that one, and where what it reads and writes lies; then the nodes that no step does.
/// `which`: one node by its name or by that of an output, or one step by its number; empty for all. Throws Error{Usage} for an unknown one, with the closest names.
int explain_command(const std::filesystem::path& model, const std::string& which, const CompileOptions& options);

/// The candidates of each node with their predicted costs, the winner marked.
void print_choices(const std::vector<Choice>& choices);

}  // namespace onnxc
