// Sizes and offsets as a unit computes them, for given dimensions.
#pragma once
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace onnxc::check_emitted {

/// Members of `dims` and of a Plan `p`, by their names: `dims.batch`, `p.b3`.
using SizeValues = std::map<std::string, int64_t>;

/// The value of an expression of constants, `dims.name`, members of plans, constant variables, comparisons (1 or 0), and the functions that units use
/// for sizes. Nothing if it has anything else, or a name without a value.
std::optional<int64_t> size_value(const clang::Expr& expression, const SizeValues& values, const clang::ASTContext& context);

/// With `dims` the members of the Plan `p` that a function of assignments to them returns. Nothing if it has other statements.
std::optional<SizeValues> run_plan(const clang::FunctionDecl& plan, const SizeValues& dims, const clang::ASTContext& context);

}  // namespace onnxc::check_emitted
