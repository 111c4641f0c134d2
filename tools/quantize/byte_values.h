// Which values of a network become bytes, and which numbers these stand for.
//
// Layers read bytes. So do nodes between them that only move values, take the greatest, add, average or concatenate, if what they give is read as bytes, too. All
// other nodes go on in floats: what a layer gives to them is never rounded, and stays in registers where they are fused with it.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/model/layers.h"
#include "tools/quantize/histogram.h"

namespace onnxc {

/// The inputs that a node reads as bytes: their places.
using ByteReaders = std::map<int, std::vector<int>>;  ///< by the node's position

struct ByteValues {
  ByteReaders readers;
  std::map<std::string, int> group;  ///< of each value that is bytes: values of one group have the same codes
  std::vector<std::set<std::string>> groups;
};

/// `layers`: those that are quantised; others count as nodes of floats. `barred`: values that must not be bytes.
ByteValues find_byte_values(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::vector<Layer>& layers,
                            const std::set<std::string>& barred);

}  // namespace onnxc
