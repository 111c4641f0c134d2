// Layout of a buffer: how the elements of a tensor lie in memory.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// RowMajor is ONNX's. ChannelsLast stores [n, c, spatial...] as [n, spatial..., c] with `pixel_stride` elements (>= c) from one pixel to the
/// next; the elements between c and pixel_stride are unspecified, and no kernel reads them across lanes.
struct Layout {
  bool channels_last = false;
  Dim pixel_stride = 0;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Stride in elements of each of ONNX's axes.
DimList strides_of(const Extents& extents, const Layout& layout);
/// Elements of storage.
Dim storage_elements(const Extents& extents, const Layout& layout);
/// Axes from the outermost to the innermost in memory.
std::vector<int> memory_order(int rank, const Layout& layout);
/// Channels-last with pixels padded to a multiple of `vector_floats` where that costs at most a fifth, and off multiples of 2 KiB.
Layout channels_last(const Extents& extents, int vector_floats);
/// True when both strides lead to the same places; those of axes of extent 1 do not matter.
bool same_strides(const Extents& extents, const DimList& a, const DimList& b);
/// True when both layouts put every element at the same place.
bool same_storage(const Extents& extents, const Layout& a, const Layout& b);

/// Whether such a value may lie channels-last: floats [n, c, spatial...] of one to three spatial axes.
bool is_image(const Type& type);

}  // namespace onnxc
