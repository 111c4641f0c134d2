// Channels that can only be removed together, and what has to be cut when they are.
//
// Each output channel of a layer begins as a set of its own. Where channels meet, their sets are joined: those that a residual adds, all that a channel becomes behind a
// Flatten, those at the same place of every group of a convolution. So a set is what one decision removes, and it knows nothing of how its channels came together:
//
//   Conv a (2 outputs)   sets 0 1                                          Conv a   0 1
//   Conv b (2 outputs)   sets 2 3        Add a + b: 0 joins 2, 1 joins 3   Conv b   0 1       removing set 1 removes a row of a and one of b, and a column of whatever
//                                                                                             reads the sum
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tools/model/layers.h"

namespace onnxc {

/// By position along an axis: the set that its channel belongs to.
using SetList = std::vector<int>;

/// An initialiser that has an element, a row or a column for each channel along an axis.
struct CutTensor {
  std::string tensor;
  int axis = 0;
  SetList sets;
};

/// A number in the graph that is a count of channels.
struct CountedChannels {
  int node = -1;
  int input = -1;                 ///< the node's input with a tensor of integers; -1: its attribute `group`
  std::vector<int64_t> values;    ///< that tensor
  std::map<int, SetList> counts;  ///< by element: the channels that are counted
};

/// A layer sums over these channels, in one of its groups.
struct ChannelSum {
  std::size_t layer = 0;
  int64_t group = 0;
  SetList sets;  ///< by input channel of the group
};

struct ChannelSets {
  int count = 0;
  std::vector<std::string> kept;  ///< by set: why it stays; empty: it need not
  std::vector<CutTensor> cuts;
  std::vector<CountedChannels> counted;
  std::vector<ChannelSum> sums;
  std::vector<SetList> rows;       ///< by layer: its output channels; empty where they are no sets
  std::vector<SetList> not_empty;  ///< of each of these lists something has to stay
};

/// Follows the channels through the graph. What it does not understand keeps the channels that it reads, and is named as the reason. `layers`: of find_layers.
ChannelSets find_channel_sets(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::vector<Layer>& layers);

}  // namespace onnxc
