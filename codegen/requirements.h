// Requirements as C++: the statement that ends a run where one does not hold, with the extents that it found.
#pragma once
#include <string>
#include <vector>

#include "codegen/interface.h"

namespace onnxc {

/// `if (…) return {ONNXC_BAD_DIMENSION, "MatMul 'scores': …", {…}};`
std::string requirement_check(const Requirement& requirement, const SymbolNames& symbols);

/// The condition of Requirement::Kind::Equal: `dims.batch == dims.rows`
std::string equality_text(Dim a, Dim b, const SymbolNames& symbols);

/// Those that a caller's dimensions alone decide, each once.
std::vector<Requirement> requirements_of_dims(const std::vector<Requirement>& requirements, const Interface& interface);

/// Closed bounds of a dimension, the upper of them `most`.
std::string bounds_check(Dim symbol, int64_t most, const SymbolNames& symbols);

/// `if (VIOLATED) return {ONNXC_BAD_DIMENSION, "MUST; batch = …", {dims.batch}};` shows what at most two symbols are.
std::string violation(const std::string& violated, const std::string& must, const std::vector<Dim>& shown, const SymbolNames& symbols);

}  // namespace onnxc
