// Extents that meet in broadcasting are mostly equal in a run, although the model gives them different names. A program in which they are one and the
// same needs none of the steps by which an axis of extent 1 repeats, and fuses what those would part; so a unit has one beside the general one.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

struct EqualExtents {
  std::map<std::string, Dim> same;         ///< symbols of the inputs, and what takes their place
  std::vector<std::pair<Dim, Dim>> equal;  ///< what must hold for that, each in terms of what is left by those before it
};

/// What makes as many of the graph's `meetings` equal as there are symbols to replace.
EqualExtents equal_extents(const Graph& graph);

}  // namespace onnxc
