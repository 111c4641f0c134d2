// StringConcat, as ONNX defines it.
#pragma once
#include <cstring>

#include "../../heap.hpp"
#include "../../strided.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y[i] = a[i] followed by b[i], each with strides over y's axes (0: repeated).
inline Status string_concat(Heap heap, Tensor<onnxc_string> y, const onnxc_string* a, Ints a_strides, const onnxc_string* b,
                            Ints b_strides) {
  const auto at = [&](const onnxc_string* from, const Ints& strides, int64_t i) {
    return from[strided_offset(y.shape, y.shape.rank, strides, i)];
  };
  int64_t size = 0;
  for (int64_t i = 0; i < y.count(); ++i) size += static_cast<int64_t>(at(a, a_strides, i).size + at(b, b_strides, i).size);
  char* text = nullptr;
  if (const auto status = heap.allocate(text, size)) return status;
  for (int64_t i = 0; i < y.count(); ++i) {
    char* const begin = text;
    for (const onnxc_string& operand : {at(a, a_strides, i), at(b, b_strides, i)}) {
      if (operand.size > 0) std::memcpy(text, operand.data, operand.size);
      text += operand.size;
    }
    y.data[i] = {begin, static_cast<std::size_t>(text - begin)};
  }
  return {};
}

}  // namespace onnxc::scalar
