// What becomes of an axis of channels when a tensor is reshaped.
#pragma once
#include <optional>

#include "compiler/ir/type.h"

namespace onnxc {

/// Element i of the new axis belongs to channel i * channels_of_element / elements_of_channel of the old one: one of both is 1.
struct ReshapedAxis {
  int axis = 0;
  int64_t elements_of_channel = 1, channels_of_element = 1;
};

/// Where the axis `axis` of `from` is found in `to`, which has the same elements in the same order:
///
///   [n, 16, 5, 5] -> [n, 400]      axis 1 becomes axis 1, with 25 elements for each channel
///   [n, 400] -> [n, 16, 5, 5]      the reverse: an element stands for 25
///   [n, 16, 1, 1] -> [n, 16]       one for one
///
/// Empty where it is mixed with others, or where extents are not known well enough.
std::optional<ReshapedAxis> reshaped_axis(const Extents& from, int axis, const Extents& to);

}  // namespace onnxc
