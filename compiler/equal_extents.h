// Extents that meet in broadcasting are usually equal in a run, although the model gives them different names. If
// they are known to be equal, a program needs no steps that repeat an axis of extent 1, and can fuse what such steps
// would separate. So a unit has such a program beside the general one.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

struct EqualExtents {
  std::map<std::string, Dim> same;  ///< symbols of the inputs, and their replacements
  /// The conditions, each in terms of the symbols that are left by those before it.
  std::vector<std::pair<Dim, Dim>> equal;
};

/// Replacements that make as many of the graph's `meetings` equal as there are symbols to replace.
EqualExtents equal_extents(const Graph& graph);

}  // namespace onnxc
