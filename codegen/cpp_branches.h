// Nested conditions as C++.
#pragma once
#include <string>

#include "compiler/ir/branches.h"

namespace onnxc {

/// The type of a program's nested conditions.
std::string branches_name(int number);

/// `struct Branches0 { template <class Row, class Ends> static ONNXC_INLINE void leaves(const Row& x, const Ends& ends) { ... } };`, as
/// runtime_stub/onnxc/forest_branches.hpp calls it. Leaves count on from tree to tree.
std::string cpp_branches_struct(const std::string& name, const Branches& branches);

}  // namespace onnxc
