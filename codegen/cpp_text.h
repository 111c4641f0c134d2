// Small pieces of C++: extents, constants, expressions.
#pragma once
#include <map>
#include <string>

#include "compiler/ir/program.h"

namespace onnxc {

/// The C++ names of a unit's symbols: `batch` becomes dims.batch.
using SymbolNames = std::map<std::string, std::string>;

/// An expression of type int64_t.
std::string cpp_dim(Dim dim, const SymbolNames& symbols);
/// The same as a factor: a sum is in parentheses.
std::string cpp_factor(Dim dim, const SymbolNames& symbols);
/// `{1, 2, dims.batch}`
std::string cpp_list(const DimList& dims, const SymbolNames& symbols);
/// A literal of that type with exactly those bits.
std::string cpp_constant(ElementType type, uint64_t bits);
/// `struct E0 { template <class L, ...> static ONNXC_INLINE auto apply(L lanes, ...) { ... } };`
/// `both`: for a processor and a GPU.
std::string cpp_expr_struct(const std::string& name, const Expr& expr, bool both = false);

}  // namespace onnxc
