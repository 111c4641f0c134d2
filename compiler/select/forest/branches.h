// A forest of few nodes as nested conditions.
#pragma once
#include <optional>

#include "compiler/ir/branches.h"
#include "compiler/select/forest/flat_forest.h"

namespace onnxc {

/// The tests of a flat forest on the features themselves. Leaves count on from tree to tree, as in FlatTables::values. Empty if there are more than
/// `most_tests`, where each number of a set counts, if a set has many numbers, which a walk finds faster, or if a tree is very deep.
std::optional<Branches> write_branches(const FlatTables& tables, int64_t most_tests);

}  // namespace onnxc
