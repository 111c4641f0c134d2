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

/// Closed bounds of a dimension.
std::string bounds_check(Dim symbol, const SymbolNames& symbols);

}  // namespace onnxc
