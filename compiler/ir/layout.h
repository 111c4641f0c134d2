// Layout: how the elements of a tensor are arranged in memory.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Row-major is ONNX's layout. Channels-last stores [n, c, spatial...] as [n, spatial..., c] with `pixel_stride`
/// elements (>= c) from one pixel to the next. The elements between c and pixel_stride are unspecified, and no kernel
/// reads them across lanes.
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
/// Channels-last. Pixels of floats are padded to a multiple of `vector_floats` if that costs at most a fifth, pixels of bytes to a multiple of `byte_unit`,
/// and none lie a multiple of 2 KiB apart.
Layout channels_last(const Type& type, int vector_floats, int64_t byte_unit = 4);
/// True if both strides lead to the same places. Strides of axes of extent 1 do not matter.
bool same_strides(const Extents& extents, const DimList& a, const DimList& b);
/// True when both layouts put every element at the same place.
bool same_storage(const Extents& extents, const Layout& a, const Layout& b);

/// Whether such a value may be channels-last: floats or bytes [n, c, spatial...] with one to three spatial axes.
bool is_image(const Type& type);

}  // namespace onnxc
