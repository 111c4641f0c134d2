// Memory for what has no bound before a run, from the caller's allocator, and the values that live in it.
#pragma once
#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// The caller's allocator as kernels see it.
struct Heap {
  const onnxc_allocator* allocator = nullptr;

  /// Room for `count` elements, 64-byte aligned. `count` may be 0 or what clamp_extent made of an overflow.
  template <class T>
  Status allocate(T*& memory, int64_t count) const {
    constexpr int64_t bytes = int64_t{1} << 46, most = (bytes < PTRDIFF_MAX ? bytes : PTRDIFF_MAX) / static_cast<int64_t>(sizeof(T));
    if (count < 0) return {ONNXC_BAD_DIMENSION};
    if (count > most) return {ONNXC_OUT_OF_MEMORY};
    void* const block = allocator->allocate(allocator->self, static_cast<std::size_t>(count == 0 ? 1 : count) * sizeof(T));
    if (block == nullptr) return {ONNXC_OUT_OF_MEMORY};
    memory = static_cast<T*>(block);
    return {};
  }
  /// Null is allowed.
  void release(const void* block) const {
    if (block != nullptr) allocator->release(allocator->self, const_cast<void*>(block));
  }
};

/// *y = the tensor at `data`.
ONNXC_INLINE void make_tensor(onnxc_value* y, int32_t elem_type, const void* data, const Shape& shape) {
  *y = {ONNXC_TENSOR, elem_type, shape.rank, shape.count(), data, {}};
  for (int i = 0; i < shape.rank; ++i) y->shape[i] = shape.dims[i];
}

/// Appends x as slice number `index` to a block that holds `index` slices already. The block doubles when it is full.
template <class T>
Status append_slice(Heap heap, T** y, int64_t index, Tensor<const T> x) {
  const int64_t n = x.count();
  if (index == 0 || (index & (index - 1)) == 0) {
    T* larger = nullptr;
    if (const auto status = heap.allocate(larger, product_of(n, index == 0 ? 1 : 2 * index))) return status;
    for (int64_t i = 0; i < index * n; ++i) larger[i] = (*y)[i];
    heap.release(*y);
    *y = larger;
  }
  for (int64_t i = 0; i < n; ++i) (*y)[index * n + i] = x.data[i];
  return {};
}

}  // namespace onnxc
