// Gather as others see it: its axis, and Gather as a choice of channels, for what knows images better than tensors.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The axis along which a Gather of a tensor of that rank picks, which is not negative.
int64_t gather_axis(const Node& node, int rank);

/// The channels that a Gather takes of a float image [n, c, spatial...] by constant indices, none of them negative; nothing for what is anything else.
std::optional<std::vector<int64_t>> picked_channels(const Graph& graph, const Node& node);

/// g where the channels are those of `count` in g groups, of each group one in turn (a channel shuffle): channels[i * g + j] = j * (count / g) + i; else 0.
int64_t interleaved_groups(const std::vector<int64_t>& channels, int64_t count);

}  // namespace onnxc
