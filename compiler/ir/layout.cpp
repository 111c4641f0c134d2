#include "compiler/ir/layout.h"

namespace onnxc {

std::vector<int> memory_order(int rank, const Layout& layout) {
  std::vector<int> order;
  for (int axis = 0; axis < rank; ++axis) {
    if (!layout.channels_last || axis != 1) order.push_back(axis);
  }
  if (layout.channels_last) order.push_back(1);
  return order;
}

DimList strides_of(const Extents& extents, const Layout& layout) {
  DimList strides(extents.size(), 1);
  const std::vector<int> order = memory_order(static_cast<int>(extents.size()), layout);
  Dim stride = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[k]);
    strides[axis] = stride;
    stride = layout.channels_last && axis == 1 ? layout.pixel_stride : stride * extents[axis];
  }
  return strides;
}

Dim storage_elements(const Extents& extents, const Layout& layout) {
  if (!layout.channels_last) return element_count(extents);
  Dim n = layout.pixel_stride * extents[0];
  for (std::size_t axis = 2; axis < extents.size(); ++axis) n *= extents[axis];
  return n;
}

Layout channels_last(const Type& type, int vector_floats, int64_t byte_unit) {
  const Extents& extents = type.extents;
  Dim stride = extents[1];
  if (is_byte(type.element)) {
    stride = round_up(stride, byte_unit);
    if (stride.is_constant() && stride.value() > 0 && stride.value() % 2048 == 0) stride += 64;
    return {true, stride};
  }
  if (stride.is_constant() && stride.value() > 0) {
    const Dim padded = round_up(stride, vector_floats);
    bool pixels = false;
    for (std::size_t axis = 2; axis < extents.size(); ++axis) pixels = pixels || !(extents[axis] == Dim(1));
    if (pixels && (padded.value() - stride.value()) * 5 <= stride.value()) stride = padded;
    // Pixels that are a multiple of 2 KiB apart share few sets of the L1 cache, which the rows of a register tile
    // would then compete for.
    if (pixels && stride.value() % 512 == 0) stride += vector_floats;
  }
  return {true, stride};
}

bool same_strides(const Extents& extents, const DimList& a, const DimList& b) {
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (!(extents[axis] == Dim(1)) && !(a[axis] == b[axis])) return false;
  }
  return true;
}

bool same_storage(const Extents& extents, const Layout& a, const Layout& b) {
  return a == b || same_strides(extents, strides_of(extents, a), strides_of(extents, b));
}

bool is_image(const Type& type) {
  return type.is_tensor() && type.ranked && type.rank() >= 3 && type.rank() <= 5 &&
         (type.element == ElementType::F32 || is_byte(type.element));
}

}  // namespace onnxc
