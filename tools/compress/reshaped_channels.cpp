#include "tools/compress/reshaped_channels.h"

namespace onnxc {
namespace {

Dim product(const Extents& extents, std::size_t first, std::size_t end) {
  Dim all = 1;
  for (std::size_t i = first; i < end; ++i) all *= extents[i];
  return all;
}

}  // namespace

std::optional<ReshapedAxis> reshaped_axis(const Extents& from, int axis, const Extents& to) {
  const auto a = static_cast<std::size_t>(axis);
  if (!from[a].is_constant()) return std::nullopt;
  const int64_t channels = from[a].value();
  const Dim before = product(from, 0, a), behind = product(from, a + 1, from.size());
  std::optional<ReshapedAxis> found;
  for (std::size_t b = 0; b < to.size(); ++b) {
    if (!to[b].is_constant()) continue;
    const int64_t extent = to[b].value();
    const Dim behind_new = product(to, b + 1, to.size());
    // The elements before both axes are as many: as such, or because all others are.
    if (before != product(to, 0, b) && behind * channels != behind_new * extent) continue;
    if (behind == behind_new && extent == channels) return ReshapedAxis{static_cast<int>(b), 1, 1};
    if (!behind.is_constant() || !behind_new.is_constant() || behind.value() == 0 || behind_new.value() == 0) continue;
    const int64_t old_step = behind.value(), new_step = behind_new.value();
    const bool is_split = old_step % new_step == 0 && extent == channels * (old_step / new_step);
    const bool is_joined = new_step % old_step == 0 && extent * (new_step / old_step) == channels;
    if (is_split) found = ReshapedAxis{static_cast<int>(b), old_step / new_step, 1};
    else if (is_joined && !found) found = ReshapedAxis{static_cast<int>(b), 1, new_step / old_step};
  }
  return found;
}

}  // namespace onnxc
