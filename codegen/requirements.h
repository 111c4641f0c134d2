// Requirements as C++: statements that end a run if a requirement does not hold, and state the extents that were
// found.
#pragma once
#include <string>
#include <vector>

#include "codegen/interface.h"

namespace onnxc {

/// `if (…) return {ONNXC_BAD_DIMENSION, "MatMul 'scores': …", {…}};`
std::string requirement_check(const Requirement& requirement, const SymbolNames& symbols);

/// The condition of Requirement::Kind::Equal: `dims.batch == dims.rows`
std::string equality_text(Dim a, Dim b, const SymbolNames& symbols);

/// The requirements that the caller's dimensions alone decide, each once.
std::vector<Requirement> requirements_of_dims(const std::vector<Requirement>& requirements, const Interface& interface);

/// Checks the closed bounds of a dimension, whose upper bound is `most`.
std::string bounds_check(Dim symbol, int64_t most, const SymbolNames& symbols);

/// `if (VIOLATED) return {ONNXC_BAD_DIMENSION, "MUST; batch = …", {dims.batch}};` shows the values of at most two
/// symbols.
std::string violation(const std::string& violated, const std::string& must, const std::vector<Dim>& shown, const SymbolNames& symbols);

}  // namespace onnxc
