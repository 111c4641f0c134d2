// Gather as other files see it: its axis, and Gather as a selection of channels of an image.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

class KernelQuery;

/// The axis, not negative, along which a Gather picks from a tensor of that rank.
int64_t gather_axis(const Node& node, int rank);

/// The single index along the first axis, as an extent that is certainly valid: the slice is then a view. Loops over
/// slices need this.
std::optional<Dim> known_index(const KernelQuery& l);

/// The channels that a Gather picks from a float image [n, c, spatial...] by constant indices, none of them negative.
/// Empty for any other Gather.
std::optional<std::vector<int64_t>> picked_channels(const Graph& graph, const Node& node);

/// g if the channels are those of `count` channels in g groups, one from each group in turn (a channel shuffle):
/// channels[i * g + j] = j * (count / g) + i. Otherwise 0.
int64_t interleaved_groups(const std::vector<int64_t>& channels, int64_t count);

}  // namespace onnxc
